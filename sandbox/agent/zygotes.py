"""The connections to the zygotes of one jail, for who gives them work: the host itself, or the bridge in the jail."""

from __future__ import annotations

import contextlib
import socket

from . import wire

# A zygote that imports much is up within this time on a busy machine too.
_FORK_TIMEOUT_S = 60.0


class Zygotes:
    """One connection for each zygote; all but the first are forked when a request first names them."""

    def __init__(self, first: socket.socket) -> None:
        self._connections = {"": first}

    def send(self, request: wire.Request, fds: list[int]) -> None:
        """Hand a request to its zygote. Raises ``OSError`` (``TimeoutError``, ``EOFError``) when that is not there."""
        socket.send_fds(self._of(request), [request.pack()], fds)

    def receive(self, request: wire.Request, timeout_s: float | None) -> bytes:
        """The reply to the request that was sent, as bytes. Raises ``TimeoutError``, ``EOFError`` or ``OSError``."""
        return receive(self._of(request), timeout_s)

    def connection(self, request: wire.Request) -> socket.socket:
        """What to wait on for the reply to a request that was sent."""
        return self._of(request)

    def interrupt(self) -> None:
        """Make all end. The one call that another thread may make: nothing is closed that its owner may still use."""
        for connection in list(self._connections.values()):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close all connections; the zygotes end with that."""
        for connection in self._connections.values():
            connection.close()
        self._connections = {}

    def _of(self, request: wire.Request) -> socket.socket:
        name = str(request.details.get("zygote", ""))
        if name not in self._connections:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self._connections[name] = ours
            with theirs:
                fork = wire.Request(wire.FORK, False, 0, 0, 0, 0, {"name": name})
                socket.send_fds(self._connections[""], [fork.pack()], [theirs.fileno()])
            receive(ours, _FORK_TIMEOUT_S)
        return self._connections[name]


def receive(connection: socket.socket, timeout_s: float | None) -> bytes:
    """One message. Raises ``TimeoutError``, ``EOFError`` at the end of the connection, or ``OSError``."""
    connection.settimeout(timeout_s)
    message = connection.recv(wire.MAX_MESSAGE_BYTES)
    if not message:
        raise EOFError("the connection ended")
    return message
