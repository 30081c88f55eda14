"""The door: what has to be in place before the command is loaded, which takes a few tenths of a second."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading

_INTERRUPTED = 130


def main() -> None:
    """Run the command. Ctrl-C ends it with one line and exit code 130, also while it is being loaded."""
    # A second thread of OpenBLAS spins between small products: the statistics take three times the processor with it.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Of many modules half loaded nothing good comes: until the command is there, an interruption ends the process.
    # A shell that puts a command in the background has it ignore Ctrl-C, and so it stays.
    listens = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    listens = listens and threading.current_thread() is threading.main_thread()
    if listens:
        # Registered first, done last: when all is printed and put away, there is nothing left to be interrupted.
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGINT, _end)
    try:
        from live.app import run_command
    finally:
        if listens:
            signal.signal(signal.SIGINT, signal.default_int_handler)
    run_command()


def _end(number: int, frame: object) -> None:
    from live.errors import NOTHING_KEPT

    os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, f"{NOTHING_KEPT}\n".encode())
    os._exit(_INTERRUPTED)
