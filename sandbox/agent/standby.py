"""Modules that are loaded before a fork but come into a program only when it imports them.

For those that have something done in every process that is forked once they are there: ``threading``, which many
programs import for a deeper stack and most do without.
"""

from __future__ import annotations

import importlib
import os
import sys
import types
from importlib.machinery import ModuleSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_NAMES = ("threading",)


class Standby:
    """Finds and loads the modules that stand by; goes before the system's own finders."""

    def __init__(self) -> None:
        self._ready: dict[str, tuple[types.ModuleType, ModuleSpec | None, list[dict[str, Any]]]] = {}
        for name in _NAMES:
            if name not in sys.modules:
                module, hooks = _loaded_without_hooks(name)
                self._ready[name] = module, module.__spec__, hooks

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        """The import system asks for a module."""
        return ModuleSpec(name, self) if name in self._ready else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        """The module that stands by."""
        return self._ready[spec.name][0]

    def exec_module(self, module: types.ModuleType) -> None:
        """Have done now what would have been done at the fork, and at each one from here on."""
        _, module.__spec__, hooks = self._ready.pop(module.__name__)
        for hook in hooks:
            os.register_at_fork(**hook)
            after: Callable[[], object] | None = hook.get("after_in_child")
            if after is not None:
                after()


def _loaded_without_hooks(name: str) -> tuple[types.ModuleType, list[dict[str, Any]]]:
    """The module, taken out of what programs find, and what it wanted to have done at each fork."""
    hooks: list[dict[str, Any]] = []
    register = os.register_at_fork
    os.register_at_fork = lambda **hook: hooks.append(hook)
    try:
        importlib.import_module(name)
    finally:
        os.register_at_fork = register
    return sys.modules.pop(name), hooks


def stand_by() -> None:
    """Have the modules stand by in this process and in those that it forks."""
    if not any(isinstance(finder, Standby) for finder in sys.meta_path):
        sys.meta_path.insert(0, Standby())
