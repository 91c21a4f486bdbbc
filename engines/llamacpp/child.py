"""The server process: loads one GGUF file and serves it on a random loopback port until it is told to end.

Run by path, so that it imports nothing of ours: `python child.py MODEL --slots 4 …`. The key that callers need comes in the
environment, because a command line can be read by every user of the machine. It prints one JSON line with its address once it
is ready; everything else it prints is log. SIGTERM ends it at once: it holds nothing that is worth saving.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import signal
import sys
from typing import Any, Final

KEY_VARIABLE: Final = "STUDYHALL_LLAMACPP_KEY"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="studyhall model server")
    parser.add_argument("model")
    parser.add_argument("--slots", type=int, required=True)
    parser.add_argument("--context", type=int, required=True, help="tokens, of all slots together")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--batch", type=int, required=True, help="prompt tokens per step")
    parser.add_argument("--store", required=True, help="folder for saved slots")
    given = parser.parse_args(arguments)
    key = os.environ.pop(KEY_VARIABLE, "")
    if not key:
        sys.stderr.write(f"{KEY_VARIABLE} is not set: this server never runs without a key.\n")
        return 2
    # Before the import: OpenMP reads it once. Spinning threads make one busy neighbour cost two thirds of the speed.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        xllamacpp: Any = importlib.import_module("xllamacpp")  # by name: it has no type stubs, and is an extra
    except ImportError as error:
        sys.stderr.write(f"xllamacpp cannot be imported ({error}). Install the extra: pip install 'studyhall[local]'.\n")
        return 3
    params = xllamacpp.CommonParams()
    params.model.path = given.model
    params.n_parallel = given.slots
    params.n_ctx = given.context
    params.cpuparams.n_threads = given.threads
    params.cpuparams_batch.n_threads = given.threads
    params.n_batch = given.batch
    params.n_ubatch = given.batch
    params.cache_ram_mib = 0  # its own prompt cache may take 8 GB of memory; ours is on disk
    params.api_keys = [key]
    params.slot_save_path = os.path.join(given.store, "")  # noqa: PTH118 - llama.cpp joins by plain concatenation
    params.ui = False
    params.verbosity = 1  # errors only: at more it would log prompts
    server = xllamacpp.Server(params)
    sys.stdout.write(json.dumps({"listening": server.listening_address}) + "\n")
    sys.stdout.flush()
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    os._exit(0)  # the library's own shutdown waits for running replies


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, ())  # whatever the parent blocked is not our business
    sys.exit(main(sys.argv[1:]))
