"""What is published of an edition: the one value that pages, pictures and files are made from. Pure."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from eval.editions.document import Edition, digest_of, to_bytes
from eval.sheets import Sheet

BUILD_ID_LENGTH = 12
_LONGEST_SLUG = 80
_IS_PLAIN = re.compile(rf"[A-Za-z0-9._:(), -]{{1,{_LONGEST_SLUG}}}")


@dataclass(frozen=True)
class OtherEdition:
    """Another edition that is on the same site."""

    name: str
    frozen_at: datetime
    digest: str
    n_problems: int
    n_runs: int
    note: str


@dataclass(frozen=True)
class File:
    """A file of what is published: its path from the folder on, with slashes, and its bytes."""

    path: str
    body: bytes


@dataclass(frozen=True)
class Published:
    """An edition as it is published: its public part alone, with where it stands among the others.

    ``digest`` is of the whole edition, private problems included. ``frozen_at`` (UTC) is when everything here was made.
    ``others`` are newest first; ``changes`` is what moved since the edition before, None for the first. ``base_url``
    ends with a slash; None: nobody said where the site will stand.
    """

    name: str
    frozen_at: datetime
    digest: str
    edition: Edition
    title: str = "livecut"
    base_url: str | None = None
    others: tuple[OtherEdition, ...] = ()
    changes: Sheet | None = None

    @property
    def build_id(self) -> str:
        """What all files of one build carry."""
        return self.digest[:BUILD_ID_LENGTH]

    @cached_property
    def public_digest(self) -> str:
        """The SHA-256 of the public part's bytes in hex: equal to ``digest`` where nothing is private."""
        return digest_of(to_bytes(self.edition))

    @cached_property
    def run_slugs(self) -> dict[str, str]:
        """The file name of each run by its name, without an ending."""
        return slugs(run.name for run in self.edition.runs)

    @cached_property
    def problem_slugs(self) -> dict[str, str]:
        """The file name of each problem by its written id, without an ending."""
        return slugs(one.written_id for one in self.edition.problems)


def slugs(names: Iterable[str]) -> dict[str, str]:
    """A file name for each name, safe everywhere; all differ, also where case does not count.

    A name that is one already keeps it, whatever else there is: addresses stay. One that lost more than spaces and
    signs between words, or would be another's, carries the beginning of its digest.
    """
    plain = {name: re.sub(r"[^a-z0-9._]+", "-", name.casefold()).strip("-.")[:_LONGEST_SLUG] for name in names}
    uses = Counter(plain.values())
    kept = {
        name: slug
        for name, slug in plain.items()
        if slug and (name == slug or (_IS_PLAIN.fullmatch(name) and uses[slug] == 1))
    }
    taken = set(kept.values())
    return {name: kept.get(name) or _with_digest(name, slug or "x", taken) for name, slug in plain.items()}


def _with_digest(name: str, slug: str, taken: Collection[str]) -> str:
    """With so much of the name's digest that it is no other's own name."""
    digest = hashlib.sha256(name.encode()).hexdigest()
    return next(found for n in (8, 16, 32, 64) if (found := f"{slug}-{digest[:n]}") not in taken)
