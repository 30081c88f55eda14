"""Whether two problems are the same, by an exact comparison. Pure.

These are the rules, in their order:

1. Statements of fewer than `MIN_WORDS` words are not compared.
2. They are *same* when their words are equal, or when they share 90 % of the sequences of five words, their samples are
   equal and at least one, the same numbers stand in both texts, and their titles do not name two versions of a problem.
3. But never within one round, nor when they give different outputs for one sample input; and for rounds that start at
   the same instant only when the titles are equal as well. Easy and hard versions read alike, and often share their
   samples.
4. Else they are *related* when they share 80 % of the sequences of five characters, and *different* below.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeVar

from db.duplicates import Candidate, DuplicateVerdict
from ingest.fingerprints import MIN_WORDS, character_shingles, is_long_enough, numbers, plain_words

SAME_SHARE: Final = 0.90
"""Of the sequences of `SEQUENCE_WORDS` words: one word exchanged in a text of a hundred costs a tenth of them."""
RELATED_SHARE: Final = 0.80
"""Of the sequences of five characters."""
SEQUENCE_WORDS: Final = 5
_INDEX_MARK = re.compile(r"^[a-z]\d{0,2} ?[.\-:–—] ", re.IGNORECASE)
_VERSION = re.compile(r"easy|medium|hard|extreme|easier|harder|simple|[ivx]+|\d+")
_T = TypeVar("_T")


@dataclass(frozen=True)
class Pair:
    """The verdict on two problems, ``first_id`` the smaller id, with its reason as one sentence.

    ``similarity`` is the share of the sequences of five characters that the two texts have in common.
    """

    first_id: int
    second_id: int
    verdict: DuplicateVerdict
    similarity: float
    reason: str


class Compared:
    """A candidate with what is made of its text, each part when it is first asked for."""

    def __init__(self, candidate: Candidate) -> None:
        self.candidate = candidate

    @cached_property
    def words(self) -> tuple[str, ...]:
        return plain_words(self.candidate.text)

    @cached_property
    def shingles(self) -> frozenset[str]:
        return character_shingles(self.words)

    @cached_property
    def sequences(self) -> frozenset[tuple[str, ...]]:
        words = self.words
        return frozenset(
            words[start : start + SEQUENCE_WORDS] for start in range(max(1, len(words) - SEQUENCE_WORDS + 1))
        )

    @cached_property
    def numbers(self) -> Counter[str]:
        return numbers(self.words)

    @cached_property
    def samples(self) -> dict[bytes, set[bytes]]:
        """The outputs given for each input, without white space at the ends of lines and of the whole."""
        found: dict[bytes, set[bytes]] = {}
        for given, expected in self.candidate.samples:
            found.setdefault(_trimmed(given), set()).add(_trimmed(expected))
        return found


def _trimmed(data: bytes) -> bytes:
    return b"\n".join(line.rstrip() for line in data.splitlines()).strip()


def judge(one: Compared, other: Compared) -> Pair:
    """The exact verdict on two problems, whatever their order."""
    if one.candidate.problem_id > other.candidate.problem_id:
        one, other = other, one
    similarity, verdict, reason = _verdict(one, other)
    return Pair(one.candidate.problem_id, other.candidate.problem_id, verdict, round(similarity, 4), reason)


def _verdict(one: Compared, other: Compared) -> tuple[float, DuplicateVerdict, str]:
    if not (is_long_enough(one.words) and is_long_enough(other.words)):
        return 0.0, DuplicateVerdict.DIFFERENT, f"A statement of fewer than {MIN_WORDS} words is not compared."
    similarity = _jaccard(one.shingles, other.shingles)
    if similarity < RELATED_SHARE:
        reason = f"{_percent(similarity)} of the text is shared, less than {RELATED_SHARE:.0%}."
        return similarity, DuplicateVerdict.DIFFERENT, reason
    equal = one.words == other.words
    doubt = _why_never(one, other) or ("" if equal else _why_not_reworded(one, other))
    if doubt:
        return similarity, DuplicateVerdict.RELATED, f"{_percent(similarity)} of the text is shared, but {doubt}."
    if equal:
        reason = (
            f"The statements are the same word for word ({len(one.words)} words), and {_about_samples(one, other)}."
        )
    else:
        reason = (
            f"{_percent(_jaccard(one.sequences, other.sequences))} of the sequences of {SEQUENCE_WORDS} words are "
            f"shared, {_about_samples(one, other)}, and so are the numbers in the text."
        )
    return similarity, DuplicateVerdict.SAME, reason


def _jaccard(one: frozenset[_T], other: frozenset[_T]) -> float:
    n_shared = len(one & other)
    return n_shared / (len(one) + len(other) - n_shared)


def _percent(share: float) -> str:
    """Rounded down, so that no share looks as if it reached a threshold that it missed."""
    return f"{int(share * 1000) / 10:g}%"


def _why_never(one: Compared, other: Compared) -> str:
    """What keeps two problems apart however alike their statements are; "" for nothing."""
    first, second = one.candidate, other.candidate
    if first.contests & second.contests:
        return "both belong to one contest"
    if first.starts & second.starts and _title_words(first.title) != _title_words(second.title):
        return "their contests start at the same instant and their titles differ"
    if any(one.samples[given] != other.samples[given] for given in one.samples.keys() & other.samples.keys()):
        return "they give different outputs for one sample input"
    return ""


def _why_not_reworded(one: Compared, other: Compared) -> str:
    """What two statements that differ in some words lack to be the same; "" for nothing."""
    share = _jaccard(one.sequences, other.sequences)
    if share < SAME_SHARE:
        return f"only {_percent(share)} of the sequences of {SEQUENCE_WORDS} words"
    if _are_versions(one.candidate.title, other.candidate.title):
        return "their titles name two versions of one problem"
    if not (one.samples and other.samples):
        return "they have no samples that confirm it"
    if one.samples != other.samples:
        return "their samples differ"
    if one.numbers != other.numbers:
        left, right = (_listed(had - lacks) for had, lacks in _both_ways(one.numbers, other.numbers))
        return f"the numbers in the text differ ({left} against {right})"
    return ""


def _both_ways(one: Counter[str], other: Counter[str]) -> tuple[tuple[Counter[str], Counter[str]], ...]:
    return (one, other), (other, one)


def _listed(some: Counter[str]) -> str:
    shown = sorted(some)[:3]
    return ", ".join(shown) + (", ..." if len(some) > len(shown) else "") if shown else "none"


def _about_samples(one: Compared, other: Compared) -> str:
    if not (one.samples or other.samples):
        return "neither has samples"
    if not (one.samples and other.samples):
        return "only one of them has samples"
    if one.samples == other.samples:
        return "their samples are equal"
    return "their samples do not contradict each other"


def _title_words(title: str) -> tuple[str, ...]:
    """A title's words, without the letter or number that it has in a contest ("D1. ")."""
    plain = _INDEX_MARK.sub("", unicodedata.normalize("NFKC", title).strip()).casefold()
    return tuple(re.findall(r"[^\W_]+", plain)) or (plain,)


def _are_versions(title: str, other_title: str) -> bool:
    """Whether two titles differ in nothing but "(easy version)", "II" and the like."""
    one, other = _title_words(title), _title_words(other_title)
    return one != other and _without_version(one) == _without_version(other)


def _without_version(title: tuple[str, ...]) -> tuple[str, ...]:
    if title[-1:] == ("version",):
        title = title[:-1]
    return title[:-1] if len(title) > 1 and _VERSION.fullmatch(title[-1]) else title
