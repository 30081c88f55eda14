"""What a second zygote has imported before it forks its first test."""

from __future__ import annotations

import importlib

from . import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    Perform = Callable[[Any, dict[str, Any], dict[str, Any], bytes, int], NoReturn]
    """What a test does whose result is not its standard output: with its code or text, the names that it finds, the
    request's details, the input, and the descriptor of the result."""


def prepare(zygote: str) -> tuple[dict[str, Any], Perform | None]:
    """The names that programs of this zygote find, and what its tests do (None: they are run on stdin and stdout).

    The modules are imported here and not by the first zygote, since every fork pays for what its zygote has imported.
    """
    features = zygote.split("+")
    if wire.NUMPY in features:
        _import_if_there("numpy")
    if wire.LIBRARY in features:
        for name in wire.LIBRARY_MODULES:
            _import_if_there(name)
    if wire.CALLS in features:
        from . import calls

        return calls.prelude(), calls.run
    if wire.LIVECODEBENCH in features:
        from . import lcb

        return lcb.prelude(), lcb.run
    return {}, None


def _import_if_there(name: str) -> None:
    """Where a module is missing, the program says so itself."""
    from contextlib import suppress  # not before: the first zygote does without

    with suppress(ImportError):
        importlib.import_module(name)
