"""Values as JSON, exactly or not at all: what a call returns must not take part in its own comparison.

Exact types only, so that an object with a clever ``__eq__`` or a subclass has no say in the comparison, which happens
outside the jail. Structures of nodes are read and written as LeetCode writes them, where the signature names them.
"""

from __future__ import annotations

import json
from typing import Any

from .forms import FORMS
from .nodes import Misshapen, Nodes, Unencodable

MAX_DEPTH = 500
MAX_PARTS = 10_000_000

LIST = "[]"
NUMBER = "double"

_SCALARS = frozenset((bool, int, float, str, type(None)))
_dumps = json.dumps  # whatever the program makes of the module


def check_encodable(value: Any) -> None:
    """Raise :class:`Unencodable` unless ``value`` is built of exact JSON types, lists and tuples, not too deep."""
    pending = [] if type(value) in _SCALARS else [(value, 0)]
    n_parts = 0
    while pending:
        item, depth = pending.pop()
        kind = type(item)
        if depth >= MAX_DEPTH:
            raise Unencodable("a value nested too deeply")
        if kind is dict:
            if any(type(key) is not str for key in item):
                raise Unencodable("dict with keys that are not str")
            parts = item.values()
        elif kind is list or kind is tuple:
            parts = item
        else:
            raise Unencodable(kind.__name__)
        n_parts += len(parts)
        if n_parts > MAX_PARTS:
            raise Unencodable(f"a value of more than {MAX_PARTS:,} parts")
        if not _SCALARS.issuperset(map(type, parts)):
            pending.extend([(part, depth + 1) for part in parts if type(part) not in _SCALARS])


class Values:
    """The values of one test on their way between JSON and what the program handles, by their types.

    A type is a name with one ``[]`` for each level of lists; only those of nodes and ``double`` make a difference.
    """

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        self._nodes: dict[str, Nodes] = {}

    def read(self, value: Any, kind: str) -> Any:
        """What the program gets for a JSON value. :class:`Misshapen` when the value is of another type."""
        base = kind.replace(LIST, "")
        if base not in FORMS and base != NUMBER:
            return value
        if base != NUMBER and value is None:
            return None
        if kind != base:
            if type(value) is not list:
                raise Misshapen(f"{value!r:.60} is not {kind}")
            return [self.read(part, kind.removesuffix(LIST)) for part in value]
        if base == NUMBER:
            return _number(value)
        if type(value) is not list:
            raise Misshapen(f"{value!r:.60} is not {kind}")
        return FORMS[base].read(value, self._of(base))

    def write(self, value: Any, kind: str) -> str:
        """The JSON text of what the program returned. :class:`Unencodable` where it has none."""
        plain = self._plain(value, kind)
        check_encodable(plain)
        return _dumps(plain, check_circular=False)

    def _plain(self, value: Any, kind: str) -> Any:
        base = kind.replace(LIST, "")
        if base not in FORMS:
            return value
        if kind == base:
            return FORMS[base].write(value, self._of(base))
        if type(value) is not list and type(value) is not tuple:
            raise Unencodable(f"{type(value).__name__} in place of a list")
        return [self._plain(part, kind.removesuffix(LIST)) for part in value]

    def _of(self, base: str) -> Nodes:
        if base not in self._nodes:
            self._nodes[base] = Nodes(FORMS[base], self._namespace)
        return self._nodes[base]


def _number(value: Any) -> Any:
    try:
        return float(value) if type(value) is int else value
    except OverflowError:
        raise Misshapen("a number is beyond the range of double") from None
