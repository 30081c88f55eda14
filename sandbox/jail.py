"""A jail from the host's side: the private directory, the socket, and the agent behind it.

A launcher (Docker, bubblewrap) starts the agent in a jail that sees the directory at :data:`MOUNT_POINT`; the agent
connects to the socket there, and from then on every jail is the same.
"""

from __future__ import annotations

import contextlib
import shutil
import socket
import tempfile
from pathlib import Path
from typing import Protocol

from sandbox.agent import calls, wire
from sandbox.errors import JailFault, NotIsolated, SandboxError, SandboxUnavailable
from sandbox.processes import folder_owner

MOUNT_POINT = "/run/live"
AGENT_SOURCE = Path(__file__).parent / "agent"
_AGENT_FILES = tuple(sorted(path.name for path in AGENT_SOURCE.glob("*.py")))
_START_TIMEOUT_S = 60.0
_REPLY_GRACE_S = 20.0
DIRECTORY_PREFIX = "livecut-jail-"


def agent_command(uid_base: int) -> list[str]:
    """The command that starts the agent inside a jail. -S: no third-party packages; -s: no user's; -B: no caches."""
    start = f"import sys; sys.path.insert(0, {MOUNT_POINT!r}); from agent.main import main; "
    return ["python3", "-s", "-S", "-B", "-c", start + f"main({MOUNT_POINT!r}, {uid_base})"]


AGENT_ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "HOME": "/tmp",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
}


class Enclosure(Protocol):
    """A started container or process that holds a jail."""

    def describe_end(self) -> str:
        """Why it is not running, in a few words, for an error message."""

    def close(self) -> None:
        """End it and remove what it left. Never raises for one that is gone already."""


class Launcher(Protocol):
    """Starts enclosures of one kind; knows what its environment is."""

    name: str

    def launch(self, directory: Path, uid_base: int) -> Enclosure:
        """Start one that sees ``directory`` at :data:`MOUNT_POINT`. Raises ``SandboxUnavailable``."""

    def details(self) -> dict[str, str]:
        """What identifies the environment: image digest or host Python, and the like."""

    def close(self) -> None:
        """Give back what it holds; enclosures that it started are not its matter any more."""


class Jail:
    """One jail with its agent: runs one test at a time. Any fault makes it useless; close it and take another."""

    def __init__(self, launcher: Launcher, uid_base: int) -> None:
        """Start it and wait for the agent. Raises ``SandboxUnavailable``, ``JailFault`` or ``NotIsolated``."""
        try:
            self._directory = Path(tempfile.mkdtemp(prefix=f"{DIRECTORY_PREFIX}{folder_owner()}-"))
        except OSError as error:
            raise SandboxUnavailable(f"no folder for a jail can be made: {error}", "see to TMPDIR or /tmp") from error
        self._channels: dict[str, socket.socket] = {}
        self._enclosure: Enclosure | None = None
        try:
            listener = self._prepare()
            with listener:
                self._enclosure = launcher.launch(self._directory / "mount", uid_base)
                self._channels[""] = self._accept(listener)
            self.hello = wire.Hello.unpack(self._receive("", _START_TIMEOUT_S))
            if not self.hello.seccomp:
                raise NotIsolated(
                    "this kernel or container gives no seccomp filter", "use a kernel with CONFIG_SECCOMP_FILTER"
                )
            if not (self.hello.user_switch or self.hello.landlock_abi):
                raise NotIsolated(
                    "this jail can neither switch users nor use Landlock, so tests could see each other's files",
                    "use --executor docker, or a kernel with Landlock (5.13 or later)",
                )
        except OSError as error:
            self.close()
            raise SandboxUnavailable(f"a jail cannot be set up: {error}", "see to TMPDIR or /tmp") from error
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> socket.socket:
        """Fill the private directory and listen in it. Only the inner folder, which the jail sees, is open."""
        mount = self._directory / "mount"
        (mount / "agent").mkdir(parents=True)
        for name in _AGENT_FILES:
            shutil.copyfile(AGENT_SOURCE / name, mount / "agent" / name)
            (mount / "agent" / name).chmod(0o444)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(str(mount / "socket"))
        listener.listen(1)
        (mount / "socket").chmod(0o666)
        (mount / "agent").chmod(0o755)
        mount.chmod(0o755)
        return listener

    def _accept(self, listener: socket.socket) -> socket.socket:
        """Wait for the agent; look now and then whether its enclosure still runs. Nobody else can connect after it."""
        assert self._enclosure is not None
        listener.settimeout(0.5)
        waited_s = 0.0
        while True:
            try:
                channel, _ = listener.accept()
            except TimeoutError:
                waited_s += 0.5
                ended = self._enclosure.describe_end()
                if ended or waited_s >= _START_TIMEOUT_S:
                    raise JailFault(f"the jail's agent did not start: {ended or 'no answer in time'}") from None
                continue
            (self._directory / "mount" / "socket").unlink()
            return channel

    def _receive(self, zygote: str, timeout_s: float) -> bytes:
        channel = self._channels[zygote]
        channel.settimeout(timeout_s)
        try:
            message = channel.recv(wire.MAX_MESSAGE_BYTES)
        except TimeoutError:
            raise JailFault(f"the jail did not answer within {timeout_s:.0f} s") from None
        except OSError as error:
            raise JailFault(f"the jail's connection broke: {error}") from error
        if not message:
            raise JailFault("the jail ended")
        return message

    def _zygote(self, name: str) -> str:
        """Make sure that the zygote of that name runs."""
        if name not in self._channels:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                self._send("", wire.Request(wire.FORK, False, 0, 0, 0, 0, name), [theirs.fileno()])
            self._channels[name] = ours
            self._receive(name, _START_TIMEOUT_S)
        return name

    def _send(self, zygote: str, request: wire.Request, fds: list[int]) -> None:
        try:
            socket.send_fds(self._channels[zygote], [request.pack()], fds)
        except OSError as error:
            raise JailFault(f"the jail's connection broke: {error}") from error

    def run(self, request: wire.Request, fds: list[int]) -> wire.Reply:
        """Run one test; ``fds`` as :class:`wire.Request` lists them. Raises ``JailFault``, also when the agent reports
        that it could not isolate the process or could not clean up after it."""
        zygote = self._zygote(calls.ZYGOTE_NAME if request.operation == wire.CALL else "")
        self._send(zygote, request, fds)
        reply = wire.Reply.unpack(self._receive(zygote, request.wall_kill_s * wire.WALL_STRETCH + _REPLY_GRACE_S))
        if reply.fault:
            raise JailFault(f"a test's process could not be isolated: {reply.message or 'it ended before'}")
        return reply

    def interrupt(self) -> None:
        """Make the agent end, and wake a thread that waits for its answer, which then raises ``JailFault``.

        The one call that another thread than the jail's own may make: nothing is closed that the owner may still use
        (a descriptor's number goes to the next file that is opened).
        """
        for channel in list(self._channels.values()):
            with contextlib.suppress(OSError):
                channel.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End the jail and remove its directory."""
        for channel in self._channels.values():
            channel.close()
        self._channels = {}
        if self._enclosure is not None:
            with contextlib.suppress(SandboxError):  # the reaper takes what could not be removed now
                self._enclosure.close()
        shutil.rmtree(self._directory, ignore_errors=True)
