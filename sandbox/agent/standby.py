"""The module ``threading``, loaded before a fork but in a program's sight only once it imports it.

Many programs want it for a deeper stack and most do without; once it is there, it has something done at every fork and
at the end of every process.
"""

from __future__ import annotations

import importlib
import os
import sys
from importlib.machinery import ModuleSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    import types
    from typing import Any

_NAME = "threading"


class Standby:
    """Finds and loads the module that stands by; goes before the system's own finders."""

    def __init__(self, module: types.ModuleType, hooks: list[dict[str, Any]]) -> None:
        """``hooks`` are what the module wanted to have done at each fork, as ``os.register_at_fork`` takes it."""
        self._module: types.ModuleType | None = module
        self._spec = module.__spec__
        self._hooks = hooks

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        """The import system asks for a module."""
        return ModuleSpec(name, self) if name == _NAME and self._module else None  # type: ignore[arg-type]

    def create_module(self, _spec: ModuleSpec) -> types.ModuleType | None:
        """The module that stands by."""
        return self._module

    def exec_module(self, module: types.ModuleType) -> None:
        """Have done now what would have been done at the fork, and at each one from here on."""
        module.__spec__, self._module = self._spec, None
        for hook in self._hooks:
            os.register_at_fork(**hook)
            hook.get("after_in_child", int)()
        renew_number = getattr(module.main_thread(), "_set_native_id", None)
        if renew_number is not None:  # the hook leaves the number that the system had for the parent's
            renew_number()


def stand_by() -> None:
    """Have the module stand by in this process and in those that it forks, unless it has been imported."""
    if _NAME in sys.modules or any(isinstance(finder, Standby) for finder in sys.meta_path):
        return
    hooks: list[dict[str, Any]] = []
    register = os.register_at_fork
    os.register_at_fork = lambda **hook: hooks.append(hook)
    try:
        importlib.import_module(_NAME)
    finally:
        os.register_at_fork = register
    sys.meta_path.insert(0, Standby(sys.modules.pop(_NAME), hooks))
