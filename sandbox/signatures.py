"""The types of call-based problems: read in every spelling, and as plain values for the agent. Pure.

LeetCode writes ``list<integer>``, ``integer[]`` or ``String``, Python ``List[int]`` or ``Optional[ListNode]``. In the
one spelling a type is a name with one ``[]`` for each level of lists. The names are those of ``NAMES``; a ``Node`` says
which kind of node it is (``Node.random``), and ``ListNode.pos`` closes the list of the argument before it.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sandbox.agent import calls
from sandbox.agent.encoding import LIST, Values
from sandbox.agent.forms import FORMS
from sandbox.agent.nodes import Unencodable

if TYPE_CHECKING:
    from sandbox.programs import Io, Signature, Suite

PLAIN = ("integer", "long", "double", "boolean", "string", "character", calls.VOID, "any")
"""Types whose values are passed as the JSON values that they are."""
NODES = {name: (form.name, frozenset(("val", *form.links))) for name, form in FORMS.items()}
"""Types of nodes, with what programs call each and the fields that it has."""
NAMES = (*PLAIN, *NODES, calls.POSITION)
"""All types that the sandbox knows, beside lists of them."""

_ALIASES = {
    "int": "integer",
    "bool": "boolean",
    "char": "character",
    "str": "string",
    "float": "double",
    "none": "void",
    "nonetype": "void",
    "": "any",
    "object": "any",
}
_SPELLINGS = {name.lower(): name for name in NAMES} | _ALIASES
_LIST = re.compile(r"list<(.*)>|list\[(.*)\]|(.*)\[\]", re.IGNORECASE)
_OPTIONAL = re.compile(r"optional\[(.*)\]|(.*)\|none|none\|(.*)", re.IGNORECASE)
_LONGEST = 200


def read_type(written: str) -> str:
    """A type in the one spelling; a name that is not known stays as it is. ``ValueError`` for what is too long."""
    if len(written) > _LONGEST:
        raise ValueError(f"a type of {len(written)} characters: {written[:60]!r}")
    name, depth = re.sub(r"[\s'\"]", "", written), 0
    while True:
        if match := _OPTIONAL.fullmatch(name):
            name = next(part for part in match.groups() if part is not None)
        elif match := _LIST.fullmatch(name):
            name, depth = next(part for part in match.groups() if part is not None), depth + 1
        else:
            return _SPELLINGS.get(name.lower(), name) + LIST * depth


def is_known(kind: str) -> bool:
    """Whether the sandbox can read and write values of this type, given in the one spelling."""
    return kind.replace(LIST, "") in NAMES


def call_details(suite: Suite) -> dict[str, Any]:
    """What ``agent.calls.run`` needs to know of a suite, as plain values. ``ValueError`` as :func:`details_of`."""
    return details_of(suite.io, suite.entry_point or "", suite.signature)


def details_of(io: Io, entry_point: str, signature: Signature | None) -> dict[str, Any]:
    """What ``agent.calls.run`` needs to know of what is called, as plain values.

    ``ValueError`` for a type that is not known, and for an ``answer`` that is no parameter.
    """
    return {"form": io.value, "entry_point": entry_point, **_plain_types(signature)}


def check_input(details: dict[str, Any], text: bytes) -> None:
    """``ValueError`` unless this is the input of a test of what the details say."""
    try:
        calls.check(details, text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def written_as_returned(value: Any, kind: str) -> Any:
    """A JSON value of a type as the agent would write it, had a program returned it: so are nodes compared.

    ``ValueError`` when the value is of another type. What comes back from a ``Node.next`` has its "#" already.
    """
    if kind.replace(LIST, "") == "Node.next":
        return value
    try:
        return json.loads(Values({}).write(Values({}).read(value, kind), kind))
    except Unencodable as error:
        raise ValueError(str(error)) from None


@lru_cache(maxsize=64)  # it is asked for with every test
def _plain_types(signature: Signature | None) -> dict[str, Any]:
    if signature is None:
        return {}
    details = _typed(signature)
    if signature.answer is not None:
        details["answer"] = _answer(signature)
    if signature.methods:
        details["methods"] = {name: _typed(method) for name, method in signature.methods}
    _refuse_two_nodes(details)
    return details


def _typed(signature: Signature) -> dict[str, Any]:
    parameters = [_known(written) for written in signature.parameters]
    returns = _known(signature.returns)
    for before, kind in zip(["", *parameters], [*parameters, returns], strict=True):
        if calls.POSITION in kind and (before, kind) != ("ListNode", calls.POSITION):
            raise ValueError(f"{calls.POSITION} is only for the parameter after a ListNode")
    if returns == calls.POSITION:
        raise ValueError(f"{calls.POSITION} is no type of what is returned")
    return {"parameters": parameters, "returns": returns}


def _known(written: str) -> str:
    kind = read_type(written)
    if not is_known(kind):
        raise ValueError(f"the sandbox does not know the type {written!r}; it knows {', '.join(NAMES)} and lists")
    return kind


def _answer(signature: Signature) -> int:
    answer = signature.answer
    if answer is None or not 0 <= answer < len(signature.parameters):
        raise ValueError(f"answer is {answer}, and there are {len(signature.parameters)} parameters")
    if read_type(signature.parameters[answer]) == calls.POSITION:
        raise ValueError(f"the answer cannot be a {calls.POSITION}")
    return answer


def _refuse_two_nodes(details: dict[str, Any]) -> None:
    """One name can stand for one kind of node only."""
    parts = [details, *details.get("methods", {}).values()]
    kinds = {kind.replace(LIST, "") for part in parts for kind in (*part["parameters"], part["returns"])}
    nodes = sorted(kind for kind in kinds if NODES.get(kind, ("",))[0] == "Node")
    if len(nodes) > 1:
        raise ValueError(f"{' and '.join(nodes)} are both called Node")
