"""Start: connect to the host, protect this process, find out which layers work here, say hello, serve."""

from __future__ import annotations

import _socket as socket  # `socket` would bring what every fork pays for
import errno
import os
import site
import sys
from collections.abc import Callable

from .hiding import hide_in_proc
from .isolation import Landlock, Seccomp, become_user, protect_agent
from .memory import be_ended_first
from .packages import offer_packages
from .wire import Hello
from .zygote import Zygote


def main(directory: str, uid_base: int) -> None:
    """Serve the host that listens at ``directory``/socket."""
    host = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    host.connect(f"{directory}/socket")
    sys.path[:] = [entry for entry in sys.path if not entry.startswith(directory)]
    serve(host, uid_base)


def serve(host: socket.socket, uid_base: int) -> None:
    """Serve the host at the other end of this connection."""
    be_ended_first()  # while the entry in /proc is its own
    protect_agent()
    hide_in_proc()
    # The site module gives programs `exit` and `quit`; its paths to third-party packages stay out (-S).
    site.setquit()
    site.setcopyright()
    site.sethelper()
    sys.set_int_max_str_digits(0)
    sys.path[:] = [entry for entry in sys.path if entry]
    os.chdir("/tmp")
    machine = os.uname().machine
    landlock = Landlock()
    syscall_filter = Seccomp(machine)
    seccomp = _works(syscall_filter.apply, _makes_no_socket)
    bait = os.memfd_create("livecut", os.MFD_CLOEXEC)
    own_file = f"/proc/{os.getpid()}/fd/{bait}"
    user_switch = _works(lambda: become_user(uid_base), lambda: os.getuid() == uid_base and not _opens(own_file))
    os.close(bait)
    landlock_abi = landlock.abi if _works(lambda: landlock.apply(landlock.fd), _reads_no_process) else 0
    packages = offer_packages()
    version = ".".join(map(str, sys.version_info[:3]))
    host.send(Hello(version, machine, user_switch, landlock_abi, seccomp, packages).pack())
    Zygote(host, landlock, syscall_filter, uid_base if user_switch else None).serve()


def _works(layer: Callable[[], None], holds: Callable[[], bool]) -> bool:
    """Whether a layer can be put on and then does what it is for, tried in a process that is thrown away."""
    pid = os.fork()
    if pid == 0:
        try:
            layer()
            os._exit(0 if holds() else 1)
        finally:
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


def _opens(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_RDONLY))
    except OSError:
        return False
    return True


def _makes_no_socket() -> bool:
    try:
        socket.socket(socket.AF_INET).close()
    except OSError as error:
        return error.errno == errno.EPERM
    return False


def _reads_no_process() -> bool:
    """Landlock leaves /proc out; without it every process may list its own entry."""
    try:
        os.listdir("/proc/self")
    except OSError as error:
        return error.errno == errno.EACCES
    return False
