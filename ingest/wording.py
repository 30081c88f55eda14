"""What a statement says about how its answers are judged, with the sentence that says so. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Wording:
    """``flags`` are (name, sentence) pairs; ``comparison`` the rule that the text determines, {} for the default."""

    flags: tuple[tuple[str, str], ...] = ()
    comparison: dict[str, Any] = field(default_factory=dict)


def read_wording(statement: str, *, is_call: bool = False) -> Wording:
    """What the Markdown of a statement says about its answers."""
    raise NotImplementedError(statement, is_call)
