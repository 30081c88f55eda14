"""Jails by bubblewrap: namespaces without a daemon, over the host's own /usr. The default where no Docker answers."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from sandbox import languages
from sandbox.agent_files import AGENT_ENVIRONMENT, MOUNT_POINT, mounted_command
from sandbox.errors import SandboxUnavailable
from sandbox.links import Link
from sandbox.mounts import Mount
from sandbox.programs import MIB

# A program's stack limit is that of its start: a shell sets it (in KiB) and becomes bwrap. A lower hard limit stays.
_WITH_STACK_LIMIT = f'ulimit -S -s {512 * 1024} 2>/dev/null; exec "$0" "$@"'
_SCRATCH_BYTES = 64 * MIB
_NOBODY = "65534"
_OLDEST_PYTHON = (3, 11)
_SYSTEM_FOLDERS = ("bin", "lib", "lib64")


class BubblewrapEnclosure:
    """One running bubblewrap process; everything in its pid namespace ends with it."""

    def __init__(self, process: subprocess.Popen[bytes], mount: Mount) -> None:
        self._process = process
        self._mount = mount

    def connect(self, timeout_s: float) -> Link:
        """The link to the agent. Raises ``JailFault``."""
        return self._mount.accept(self.describe_end, timeout_s)

    def describe_end(self) -> str:
        """Its exit code and last words when it does not run; empty while it does."""
        code = self._process.poll()
        if code is None:
            return ""
        assert self._process.stderr is not None
        words = self._process.stderr.read().decode(errors="replace").strip().splitlines()
        return f"bwrap ended with exit code {code}" + (f": {words[-1]}" if words else "")

    def close(self) -> None:
        """Kill the first process of its pid namespace, all in it with that, and bwrap itself."""
        for pid in (*_children(self._process.pid), self._process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()
        self._mount.close()


class BubblewrapLauncher:
    """Starts jails with the ``bwrap`` command and the system's own Python."""

    name = "bubblewrap"
    kernel = ""

    def __init__(self, image: str | None = None) -> None:
        """Find the command and a system Python. Raises ``SandboxUnavailable``, also for an image: it has none."""
        if image is not None:
            raise SandboxUnavailable("bubblewrap runs programs in no image", "use --executor docker")
        bwrap = shutil.which("bwrap")
        if bwrap is None:
            raise SandboxUnavailable("bubblewrap is not installed", "install it: apt-get install bubblewrap")
        self._bwrap = bwrap
        self._python_version = _system_python_version()

    def close(self) -> None:
        """Nothing to give back."""

    def details(self) -> dict[str, str]:
        """The system Python that programs run on."""
        return {"system_python": self._python_version}

    def launch(self, uid_base: int) -> BubblewrapEnclosure:
        """Start a jail. Raises ``SandboxUnavailable``.

        Root starts it as an ordinary user of the jail's own: what gets out would not be root, and the kernel counts no
        processes of root's against a limit.
        """
        user = uid_base if os.getuid() == 0 else None
        mount = Mount()
        try:
            if user is not None:
                os.chown(mount.root, user, user)
            process = subprocess.Popen(
                ["/bin/sh", "-c", _WITH_STACK_LIMIT, self._bwrap, *_options(mount.path), *mounted_command(uid_base)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                user=user,
                group=user,
                extra_groups=None if user is None else [],
            )
        except BaseException as error:
            mount.close()
            if isinstance(error, OSError):
                raise SandboxUnavailable(f"bubblewrap cannot be started: {error}", "see to TMPDIR or /tmp") from error
            raise
        return BubblewrapEnclosure(process, mount)


def _children(pid: int) -> list[int]:
    """The children of a process; none of one that is gone."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _options(directory: Path) -> list[str]:
    options = ["--unshare-all", "--unshare-user", "--uid", _NOBODY, "--gid", _NOBODY, "--cap-drop", "ALL"]
    # Not --die-with-parent: it means the thread that started bwrap. The agent ends when its host's socket does.
    options += ["--new-session", "--hostname", "jail", "--ro-bind", "/usr", "/usr"]
    for folder in _SYSTEM_FOLDERS:
        path = Path("/") / folder
        if path.is_symlink():
            options += ["--symlink", os.readlink(path), str(path)]
        elif path.exists():
            options += ["--ro-bind", str(path), str(path)]
    options += ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache", "--proc", "/proc"]
    for further in languages.further_reads():
        options += ["--ro-bind-try", further, further]
    options += ["--dev", "/dev", "--remount-ro", "/dev"]
    options += ["--perms", "1777", "--size", str(_SCRATCH_BYTES), "--tmpfs", "/tmp"]
    options += ["--ro-bind", str(directory), MOUNT_POINT, "--chdir", "/tmp", "--remount-ro", "/", "--clearenv"]
    for name, value in AGENT_ENVIRONMENT.items():
        options += ["--setenv", name, value]
    return options


def _system_python_version() -> str:
    """The version of /usr/bin/python3, which is the one that a jail sees."""
    hint = "install it (apt-get install python3), or use --executor docker"
    command = ["/usr/bin/python3", "-I", "-S", "-c", "import ctypes,sys; print(sys.version.split()[0])"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxUnavailable(f"the system's own Python does not run: {error}", hint) from error
    version = answer.stdout.strip()
    if tuple(int(part) for part in version.split(".")[:2]) < _OLDEST_PYTHON:
        raise SandboxUnavailable(f"the system's own Python is {version}, older than 3.11", hint)
    return version


if sys.platform != "linux":
    raise SandboxUnavailable("bubblewrap runs on Linux only", "use --executor docker")
