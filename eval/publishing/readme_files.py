"""Markdown files with tables of an edition in them: read, and replaced as a whole."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from eval.publishing.readme_tables import Rewritten, rewrite


class ReadmeRefused(ValueError):
    """A file that cannot be read or written. ``hint`` says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class Readme:
    """A file as the user named it, where it really lies, and what it is to be."""

    named: Path
    path: Path
    now: Rewritten


def read_readmes(files: Iterable[Path], table_of: Callable[[str], str]) -> list[Readme]:
    """Each file once, with its tables as they are to be; nothing is written.

    Raises ``ReadmeRefused``, ``MarksUnreadable``.
    """
    found: dict[Path, Readme] = {}
    for named in files:
        path = Path(os.path.realpath(named))
        if path in found:
            continue
        try:
            body = path.read_bytes()
        except OSError as error:
            hint = "name a Markdown file that has marks for a table: <!-- live:own -->, and <!-- /live --> below it"
            raise ReadmeRefused(f"{named}: cannot be read ({error.strerror})", hint) from error
        found[path] = Readme(named, path, rewrite(body, str(named), table_of))
    return list(found.values())


def write_readme(readme: Readme) -> None:
    """Put the file in place in one step, with the permissions it had. Raises ``ReadmeRefused``."""
    target = readme.path
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
        if not os.access(target, os.W_OK, effective_ids=True):
            raise PermissionError(None, "it may not be written")
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
            try:
                file.write(readme.now.body)
                file.flush()
                os.fsync(file.fileno())
                os.chmod(file.name, mode)
                os.replace(file.name, target)
            except BaseException:
                os.unlink(file.name)
                raise
    except OSError as error:
        hint = f"nothing has changed in it; see that it and {target.parent} may be written, and that there is room"
        raise ReadmeRefused(f"{readme.named}: cannot be written ({error.strerror})", hint) from error
