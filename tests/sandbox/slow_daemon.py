"""A Docker daemon that answers late: it does what it is asked, and holds back its word on a new container."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Self

_CREATE = b"/containers/create"
_CHUNK_BYTES = 65536


class SlowDaemon:
    """A socket at ``path`` before the one at ``real``; answers to the making of containers come ``hold_s`` late."""

    def __init__(self, path: Path, real: str, hold_s: float) -> None:
        self.address = f"unix://{path}"
        self.n_held = 0
        self._real = real
        self._hold_s = hold_s
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        self._open: list[socket.socket] = [self._listener]
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for one in self._open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._thread.join(5)

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                daemon = socket.socket(socket.AF_UNIX)
                daemon.connect(self._real)
                self._open += [client, daemon]
                held = threading.Event()
                for source, target, is_request in ((client, daemon, True), (daemon, client, False)):
                    threading.Thread(target=self._pass_on, args=(source, target, held, is_request), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, held: threading.Event, is_request: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(_CHUNK_BYTES):
                if is_request and data.startswith(b"POST") and _CREATE in data.partition(b"\r\n")[0]:
                    held.set()
                elif not is_request and held.is_set():
                    held.clear()
                    self.n_held += 1
                    time.sleep(self._hold_s)
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
