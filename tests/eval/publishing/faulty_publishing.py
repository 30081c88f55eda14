"""Publishing that goes wrong at each of its steps in turn, in processes of its own: run as a program.

Every call that touches a file is a step (Python reports them to an audit hook). At step n the process is killed, or the
call fails; then a reader looks, and the next run publishes. Prints one line for each n: how the run ended, which
edition the reader found, what became of the user's things and of the workshop; and the same after the next run.
"""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

from eval.publishing import switch
from eval.publishing.folder import write_site
from eval.publishing.switch import FolderRefused
from tests.eval.publishing.site_folders import add_own_things, edition_in, own_things, put_site, small_site

ENDS = ("done", "unreached", "refused", "failed", "interrupted", "broken")
BEGIN = "tempfile.mkdtemp"
"""What comes before has changed nothing."""

STEPS = (
    "open",
    "os.mkdir",
    "os.rename",
    "os.link",
    "os.symlink",
    "os.remove",
    "os.rmdir",
    "os.chmod",
    "os.chown",
    "os.scandir",
    "os.listdir",
    "fcntl.flock",
    "ctypes.dlsym",
    "shutil.rmtree",
    "shutil.copytree",
)


def fail_at(step: int, how: str) -> list[str]:
    """Have this process end, or a call fail, at that step. The list has the step once it was reached."""
    counter = itertools.count(1)
    reached: list[str] = []
    begun = False

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal begun
        begun = begun or event == BEGIN
        if begun and event in STEPS and next(counter) == step:
            reached.append(event)
            if how == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if how == "interrupt":
                raise KeyboardInterrupt
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    sys.addaudithook(hook)
    return reached


def run(folder: Path, edition: str, step: int = 0, how: str = "") -> str:
    """Publish in a process of its own; one of ``ENDS``, or "killed". "unreached": the run has fewer steps."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 5
        try:
            reached = fail_at(step, how)
            write_site(folder, small_site(edition, (f"{edition}.json", "index.html", "data/results.json")))
            code = 0 if reached or not step else 1
        except FolderRefused:
            code = 2
        except OSError:
            code = 3
        except KeyboardInterrupt:
            code = 4
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return "killed"
    return ENDS[os.WEXITSTATUS(status)]


def main(base: Path, how: str, *, with_exchange: bool) -> None:
    """All steps, until a run has fewer of them."""
    if not with_exchange:
        switch.exchange = lambda first, second: False
    for step in itertools.count(1):
        shutil.rmtree(base, ignore_errors=True)
        folder = base / "site"
        folder.mkdir(parents=True)
        put_site(folder, small_site("old"))
        add_own_things(folder)
        before = own_things(folder)
        ended = run(folder, "new", step, how)
        if ended == "unreached":
            break
        seen = edition_in(folder) if folder.is_dir() else "nothing"
        mine = "kept" if seen == "nothing" or own_things(folder) == before else "lost"
        left = "left" if set(os.listdir(base)) - {"site"} else "tidy"
        again = run(folder, "next")
        then = edition_in(folder)
        mine_then = "kept" if own_things(folder) == before else "lost"
        left_then = "tidy" if os.listdir(base) == ["site"] else "left"
        print(step, ended, seen, mine, left, again, then, mine_then, left_then)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], with_exchange=sys.argv[3] == "exchange")
