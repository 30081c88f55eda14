"""The private folder through which a jail on this machine gets its agent and its connection."""

from __future__ import annotations

import shutil
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

from sandbox.agent_files import agent_files
from sandbox.errors import JailFault, SandboxUnavailable
from sandbox.links import SocketLink
from sandbox.processes import folder_owner

DIRECTORY_PREFIX = "livecut-jail-"
_LOOK_S = 0.5


class Mount:
    """A folder of this process's own; the jail sees its inner one, ``path``, with the agent's files and a socket."""

    def __init__(self) -> None:
        """Make it and listen in it. Raises ``SandboxUnavailable``."""
        try:
            self.root = Path(tempfile.mkdtemp(prefix=f"{DIRECTORY_PREFIX}{folder_owner()}-"))
        except OSError as error:
            raise SandboxUnavailable(f"no folder for a jail can be made: {error}", "see to TMPDIR or /tmp") from error
        self.path = self.root / "mount"
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._fill()
        except OSError as error:
            self.close()
            raise SandboxUnavailable(f"a jail's folder cannot be filled: {error}", "see to TMPDIR or /tmp") from error

    def _fill(self) -> None:
        (self.path / "agent").mkdir(parents=True)
        for name, text in agent_files().items():
            (self.path / "agent" / name).write_bytes(text)
            (self.path / "agent" / name).chmod(0o444)
        self._listener.bind(str(self.path / "socket"))
        self._listener.listen(1)
        (self.path / "socket").chmod(0o666)
        (self.path / "agent").chmod(0o755)
        self.path.chmod(0o755)

    def accept(self, describe_end: Callable[[], str], timeout_s: float) -> SocketLink:
        """Wait for the agent; look now and then whether its enclosure still runs. Nobody else can connect after it.

        Raises ``JailFault``.
        """
        self._listener.settimeout(_LOOK_S)
        waited_s = 0.0
        while True:
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                waited_s += _LOOK_S
                ended = describe_end()
                if ended or waited_s >= timeout_s:
                    raise JailFault(f"the jail's agent did not start: {ended or 'no answer in time'}") from None
                continue
            self._listener.close()
            (self.path / "socket").unlink()
            return SocketLink(connection)

    def close(self) -> None:
        """Remove it."""
        self._listener.close()
        shutil.rmtree(self.root, ignore_errors=True)
