"""The process that runs llama.cpp: `python -m swaplaw.collect.llama WEIGHTS SLOTS CONTEXT THREADS`, its key on stdin.

It ends when its standard input does, so that no server outlives the process that started it, however that ended.
"""

import os
import sys


def main() -> None:
    """Serve until standard input ends."""
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
