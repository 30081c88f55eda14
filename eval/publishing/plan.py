"""Which editions are on a site, and each of them as it is published there. Pure, but for what it is given to load with.

One stands at the root, the others under their own names. An edition that shows a problem which has become private since
is on no site.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from eval.editions.document import FrozenEdition, public_part
from eval.publishing.publication import BUILD_ID_LENGTH, OtherEdition, Published, slugs
from eval.sheets import Sheet

Load = Callable[[str], FrozenEdition]
"""From the name of an edition to all of it."""


class EditionRefused(ValueError):
    """An edition that cannot be published. ``hint`` says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class SitePlan:
    """The editions of a site, newest first, and which of them is at the root.

    ``left_out`` has those that are not on it, with how many problems they show that have become private.
    """

    root: str
    editions: tuple[OtherEdition, ...]
    left_out: Mapping[str, int]
    title: str = "livecut"
    base_url: str | None = None

    @property
    def folders(self) -> dict[str, str]:
        """Where each edition stands: "" for the one at the root, "editions/2025-05/" for others."""
        named = slugs(one.name for one in self.editions)
        return {name: "" if name == self.root else f"editions/{slug}/" for name, slug in named.items()}

    @property
    def others(self) -> tuple[str, ...]:
        """The names of those that are not at the root, newest first."""
        return tuple(one.name for one in self.editions if one.name != self.root)

    @property
    def builds(self) -> dict[str, str]:
        """The names of the editions by build id."""
        return {one.digest[:BUILD_ID_LENGTH]: one.name for one in self.editions}


def plan_site(
    names: Sequence[str],
    load: Load,
    *,
    root: str | None = None,
    private: Collection[str] = (),
    title: str = "livecut",
    base_url: str | None = None,
) -> SitePlan:
    """Plan a site of these editions (oldest first, at least one), the newest at the root or the one that is named.

    ``private`` are the written ids of problems that are private now. Raises ``EditionRefused`` where the edition for
    the root shows one of these, or one that another edition keeps private.
    """
    shown: dict[str, frozenset[str]] = {}
    rows: list[OtherEdition] = []
    hidden = set(private)
    for name in names:
        frozen = load(name)
        ids = {one.written_id: one.facts.is_private for one in frozen.edition.problems}
        hidden |= {written for written, is_private in ids.items() if is_private}
        shown[name] = frozenset(written for written, is_private in ids.items() if not is_private)
        rows.append(_row(frozen))
    left_out = {name: len(shown[name] & hidden) for name in names if shown[name] & hidden}
    chosen = names[-1] if root is None else root
    if chosen in left_out:
        raise EditionRefused(
            f'the edition "{chosen}" shows {became_private(left_out[chosen])}',
            "freeze a new one: live edition freeze NAME; --edition names another",
        )
    kept = tuple(row for row in reversed(rows) if row.name not in left_out)
    return SitePlan(chosen, kept, left_out, title, base_url)


def published_edition(plan: SitePlan, name: str, load: Load) -> Published:
    """An edition as it is published on a site, with what moved since the one before. Raises ``EditionRefused``."""
    frozen = load(name)
    folder = plan.folders[name]
    names = [one.name for one in plan.editions]
    before = names[names.index(name) + 1 :][:1]
    return Published(
        name=frozen.name,
        frozen_at=frozen.frozen_at,
        digest=frozen.digest,
        edition=public_part(frozen.edition),
        title=plan.title,
        base_url=None if plan.base_url is None else plan.base_url + folder,
        others=tuple(one for one in plan.editions if one.name != name),
        changes=_changes(load(before[0]), frozen) if before else None,
    )


def became_private(count: int) -> str:
    """So many problems that an edition shows and should not."""
    return f"{count} problem that has become private" if count == 1 else f"{count} problems that have become private"


def _changes(before: FrozenEdition, after: FrozenEdition) -> Sheet:
    from eval.editions.difference import difference
    from eval.editions.difference_sheet import difference_sheet

    found = difference(before, after)
    if found.silent_removals:
        raise EditionRefused(
            f'{", ".join(found.silent_removals)}: in the edition "{before.name}", and in "{after.name}" without a word '
            "no more",
            f'freeze it again under another name and say why: --withdrawn "{found.silent_removals[0]}=REASON"',
        )
    return difference_sheet(found)


def _row(frozen: FrozenEdition) -> OtherEdition:
    edition = frozen.edition
    return OtherEdition(
        name=frozen.name,
        frozen_at=frozen.frozen_at,
        digest=frozen.digest,
        n_problems=len(edition.problems) - edition.n_private,
        n_runs=len(edition.runs),
        note=edition.note,
    )
