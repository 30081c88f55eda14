"""How requests reach the agent of a jail and replies come back: the host's end of a connection.

Beside the one here, over a Unix socket that passes descriptors, there is :class:`sandbox.frame_link.FrameLink`.
"""

from __future__ import annotations

import socket
from typing import Protocol

from sandbox.agent import wire, zygotes


class Link(Protocol):
    """A connection to an agent; one request at a time.

    All but ``interrupt`` and ``close`` raise ``OSError`` (``TimeoutError`` among them) or ``EOFError`` when the
    connection is no more, and ``ValueError`` when the other end speaks something else.
    """

    def hello(self, timeout_s: float) -> bytes:
        """The agent's first message."""

    def begin(self, request: wire.Request, fds: list[int]) -> None:
        """Send a request with its descriptors, which the caller may close then."""

    def finish(self, request: wire.Request, timeout_s: float) -> bytes:
        """The reply to it; what it wrote is in the caller's files when this returns."""

    def interrupt(self) -> None:
        """From any thread: make the agent end, and wake who waits for it."""

    def close(self) -> None:
        """Give back what it holds."""


class SocketLink:
    """A ``SOCK_SEQPACKET`` Unix socket: descriptors are passed, no byte of a file is copied."""

    def __init__(self, connection: socket.socket) -> None:
        self._first = connection
        self._zygotes = zygotes.Zygotes(connection)

    def hello(self, timeout_s: float) -> bytes:
        """The agent's first message."""
        return zygotes.receive(self._first, timeout_s)

    def begin(self, request: wire.Request, fds: list[int]) -> None:
        """Send a request with its descriptors."""
        self._zygotes.send(request, fds)

    def finish(self, request: wire.Request, timeout_s: float) -> bytes:
        """The reply to it."""
        return self._zygotes.receive(request, timeout_s)

    def interrupt(self) -> None:
        """End all connections."""
        self._zygotes.interrupt()

    def close(self) -> None:
        """Close all connections."""
        self._zygotes.close()
