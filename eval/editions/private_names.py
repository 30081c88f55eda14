"""Free text without the ids of private problems: a reason or a note may name one of them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eval.editions.document import Edition

HIDDEN = "[private problem]"
_SHORTEST = 4
"""A native id that is shorter than this, or all digits, is hidden only behind the name of its platform."""


@dataclass(frozen=True)
class PrivateNames:
    """The written ids ("atcoder:abc301_a") of the problems that nothing may name."""

    written_ids: frozenset[str]

    @staticmethod
    def of(editions: Iterable[Edition]) -> PrivateNames:
        """Those that are private in any of these editions."""
        return PrivateNames(
            frozenset(one.written_id for edition in editions for one in edition.problems if one.facts.is_private)
        )

    def __contains__(self, written_id: str) -> bool:
        return written_id in self.written_ids

    def hidden_in(self, text: str) -> str:
        """The text with each of the ids replaced, with and without the name of its platform, whatever its case."""
        folded = text.casefold()
        found = [re.escape(name) for name in self._names if name.casefold() in folded]
        if not found:
            return text
        return re.sub(rf"(?<!\w)(?:{'|'.join(found)})(?!\w)", HIDDEN, text, flags=re.IGNORECASE)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """The longest first, so that of two that begin alike the whole one is found."""
        natives = {written.partition(":")[2] for written in self.written_ids}
        told = {name for name in natives if len(name) >= _SHORTEST and not name.isdecimal()}
        return tuple(sorted(self.written_ids | told, key=lambda name: (-len(name), name)))
