"""Start the agent where its folder is mounted, with each module compiled in a process of its own.

A compiler leaves the memory that it used in pieces, and every fork of the agent would pay for what lies about.
"""

from __future__ import annotations

import marshal
import os
import sys
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    import types


class _CompiledApart(SourceFileLoader):
    """Loads a module from code that comes through a pipe."""

    def get_code(self, fullname: str) -> types.CodeType:
        """The code of the module. Raises ``EOFError`` when it could not be compiled."""
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                with open(writing, "wb") as pipe:
                    marshal.dump(super().get_code(fullname), pipe)
            finally:
                os._exit(0)
        os.close(writing)
        with open(reading, "rb") as pipe:
            code: types.CodeType = marshal.load(pipe)
        os.waitpid(pid, 0)
        return code


def start(directory: str, uid_base: int) -> None:
    """Serve the host that listens at ``directory``/socket."""
    folder = os.path.dirname(__file__)
    sys.path_importer_cache[folder] = FileFinder(folder, (_CompiledApart, SOURCE_SUFFIXES))
    from .main import main

    main(directory, uid_base)
