"""Start: connect to the host, protect this process, find out which layers work here, say hello, serve."""

from __future__ import annotations

import os
import site
import socket
import sys

from .isolation import Landlock, apply_seccomp, become_user, protect_agent
from .seccomp import Filter
from .wire import Hello
from .zygote import Zygote


def _works_in_child(action: object, *arguments: object) -> bool:
    """Whether an irreversible call succeeds, tried in a process that is thrown away."""
    pid = os.fork()
    if pid == 0:
        try:
            action(*arguments)  # type: ignore[operator]
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(pid, 0)[1] == 0


def main(directory: str, uid_base: int) -> None:
    """Serve the host that listens at ``directory``/socket."""
    host = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    host.connect(f"{directory}/socket")
    protect_agent()
    # The site module gives programs `exit` and `quit`; its paths to third-party packages stay out (-S).
    site.setquit()
    site.setcopyright()
    site.sethelper()
    sys.set_int_max_str_digits(0)
    sys.path[:] = [entry for entry in sys.path if entry and not entry.startswith(directory)]
    os.chdir("/tmp")
    machine = os.uname().machine
    landlock = Landlock()
    syscall_filter = Filter(machine)
    seccomp = _works_in_child(apply_seccomp, syscall_filter)
    user_switch = _works_in_child(become_user, uid_base)
    host.send(Hello(".".join(map(str, sys.version_info[:3])), machine, user_switch, landlock.abi, seccomp).pack())
    Zygote(host, landlock, syscall_filter, uid_base if user_switch else None).serve()
