"""A jail from the host's side: what encloses it, and the agent behind a link.

A launcher (Docker, bubblewrap) starts the agent in an enclosure; once the link to it stands, every jail is the same.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator
from typing import Protocol

from sandbox.agent import wire
from sandbox.errors import JailFault, SandboxError
from sandbox.levels import level_of
from sandbox.links import Link

_START_TIMEOUT_S = 60.0
_REPLY_GRACE_S = 20.0


class Enclosure(Protocol):
    """A started container or process that holds a jail."""

    def connect(self, timeout_s: float) -> Link:
        """The link to its agent. Called once. Raises ``JailFault``."""

    def describe_end(self) -> str:
        """Why it is not running, in a few words, for an error message; empty while it does."""

    def close(self) -> None:
        """End it and remove what it left. Never raises for one that is gone already."""


class Launcher(Protocol):
    """Starts enclosures of one kind; knows what its environment is.

    ``kernel`` names the kernel in user space that each of them has of its own; empty where they share the machine's.
    """

    name: str
    kernel: str

    def launch(self, uid_base: int) -> Enclosure:
        """Start one whose tests run as users from ``uid_base`` on. Raises ``SandboxUnavailable``."""

    def details(self) -> dict[str, str]:
        """What identifies the environment: image digest or host Python, and the like."""

    def close(self) -> None:
        """Give back what it holds; enclosures that it started are not its matter any more."""


class Jail:
    """One jail with its agent: runs one test at a time. Any fault makes it useless; close it and take another.

    ``hello`` is what the agent said of itself, ``level`` how well its tests are kept apart.
    """

    def __init__(self, launcher: Launcher, uid_base: int) -> None:
        """Start it and wait for the agent. Raises ``SandboxUnavailable``, ``JailFault`` or ``NotIsolated``."""
        self._link: Link | None = None
        self._enclosure = launcher.launch(uid_base)
        try:
            self._link = self._enclosure.connect(_START_TIMEOUT_S)
            with self._faults(_START_TIMEOUT_S):
                self.hello = wire.Hello.unpack(self._link.hello(_START_TIMEOUT_S))
            self.level = level_of(self.hello, launcher.kernel)
        except BaseException:
            self.close()
            raise

    def run(self, request: wire.Request, fds: list[int]) -> wire.Reply:
        """Run one test to its end: :meth:`begin` and :meth:`finish`."""
        self.begin(request, fds)
        return self.finish(request)

    def begin(self, request: wire.Request, fds: list[int]) -> None:
        """Start one test; ``fds`` as :class:`wire.Request` lists them. Raises ``JailFault``. Nothing else may begin in
        this jail before :meth:`finish`; the caller may close its descriptors at once."""
        with self._faults(_START_TIMEOUT_S):
            self._open_link().begin(request, fds)

    def finish(self, request: wire.Request) -> wire.Reply:
        """Wait for the end of the test that began. Raises ``JailFault``, also when the agent reports that it could not
        isolate the process, or could not fetch what it left."""
        timeout_s = request.wall_kill_s * wire.WALL_STRETCH + _REPLY_GRACE_S
        with self._faults(timeout_s):
            reply = wire.Reply.unpack(self._open_link().finish(request, timeout_s))
        if reply.fault:
            if reply.stage != wire.STARTED:
                raise JailFault(f"a test was not carried out to its end: {reply.message}")
            raise JailFault(f"a test's process could not be isolated: {reply.message or 'it ended before'}")
        return reply

    def interrupt(self) -> None:
        """Make the agent end, and wake a thread that waits for its answer, which then raises ``JailFault``.

        The one call that another thread than the jail's own may make: nothing is closed that the owner may still use
        (a descriptor's number goes to the next file that is opened).
        """
        link = self._link
        if link is not None:
            link.interrupt()

    def close(self) -> None:
        """End the jail and remove what it had."""
        if self._link is not None:
            self._link.close()
            self._link = None
        with contextlib.suppress(SandboxError):  # the reaper takes what could not be removed now
            self._enclosure.close()

    def _open_link(self) -> Link:
        if self._link is None:
            raise JailFault("the jail is closed")
        return self._link

    @contextlib.contextmanager
    def _faults(self, timeout_s: float) -> Iterator[None]:
        """Turn what a link raises into ``JailFault``."""
        try:
            yield
        except TimeoutError:
            raise JailFault(f"the jail did not answer within {timeout_s:.0f} s") from None
        except EOFError as error:
            raise JailFault(f"the jail ended: {error}") from error
        except OSError as error:
            raise JailFault(f"the jail's connection broke: {error}") from error
        except (ValueError, struct.error) as error:
            raise JailFault(f"the jail speaks nonsense: {error}") from error
