"""Start the agent where it can see no folder of the host's: its files are the first bytes that come.

The text of this file is what ``python3 -c`` is given; the one argument is the number that the bridge is started with.
"""

from __future__ import annotations

import importlib
import marshal
import os
import sys
import types
from importlib.machinery import ModuleSpec

STREAM_IN, STREAM_OUT = 3, 4
"""Under these numbers whoever starts this hands over the stream to the host."""

_LENGTH_BYTES = 8
_PACKAGE = "agent"

# Where the package says that it lies. Only the finder below knows the place, so that a program, for which the agent has
# forgotten the package, finds it no more than where it is a folder that is not on the path.
_PLACE = "/run/live/agent"


def _read(count: int) -> bytes:
    parts = []
    while count > 0:
        part = os.read(STREAM_IN, count)
        if not part:
            sys.exit("the agent's files did not come to their end")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


class _Texts:
    """Finds and loads the package's modules."""

    def __init__(self, texts: dict[str, bytes]) -> None:
        self._texts = texts

    def find_spec(self, name: str, _target: object = None) -> ModuleSpec | None:
        """The import system asks for a module."""
        return ModuleSpec(name, self, origin=name) if name in self._texts else None  # type: ignore[arg-type]

    @staticmethod
    def create_module(_spec: ModuleSpec) -> None:
        """An ordinary module object will do."""

    def exec_module(self, module: types.ModuleType) -> None:
        """Run a module's text in it."""
        exec(compile(self._texts[module.__name__], f"{module.__name__}.py", "exec"), module.__dict__)


if __name__ == "__main__":
    texts = marshal.loads(_read(int.from_bytes(_read(_LENGTH_BYTES), "big")))
    package = types.ModuleType(_PACKAGE)
    package.__path__ = [_PLACE]
    sys.modules[_PACKAGE] = package
    sys.path_importer_cache[_PLACE] = _Texts(texts)
    importlib.import_module(f"{_PACKAGE}.bridge").main(int(sys.argv[1]))
