"""Which editions are on a site, and each of them as it is published there. Pure, but for what it is given to load with.

One stands at the root, the others under their own names. An edition that shows a problem which has become private since
is on no site, nor is one from which a model is gone without a word.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from eval.editions.document import FrozenEdition
from eval.editions.parts import public_part, shown_part
from eval.editions.private_names import PrivateNames
from eval.editions.removals import SilentRemoval, check_removals
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

    ``left_out`` has those that are not on it, with the reason. ``hidden`` are, for each edition, the written ids of
    what is private by now.
    """

    root: str
    editions: tuple[OtherEdition, ...]
    left_out: Mapping[str, str]
    title: str = "livecut"
    base_url: str | None = None
    hidden: Mapping[str, frozenset[str]] = field(default_factory=dict)

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

    ``private`` are the written ids of problems that are private now. Private in an edition is, too, what it or a newer
    one says to be so: what was private once may be published later. Raises ``EditionRefused`` where the edition for the
    root shows one of these, ``SilentRemoval`` where a model is gone from it without a word.
    """
    chosen = names[-1] if root is None else root
    rows: dict[str, OtherEdition] = {}
    left_out: dict[str, str] = {}
    hidden: dict[str, frozenset[str]] = {}
    known = frozenset(private)
    for name in reversed(names):
        frozen = load(name)
        known = hidden[name] = known | {one.written_id for one in frozen.edition.problems if one.facts.is_private}
        rows[name] = _row(frozen, known)
        shown = (one.written_id for one in shown_part(frozen.edition).problems if not one.facts.is_private)
        if count := sum(written in known for written in shown):
            left_out[name] = f"it shows {_became_private(count)}"
    if chosen in left_out:
        raise EditionRefused(
            f'the edition "{chosen}" is not published: {left_out[chosen]}',
            "freeze a new one: live edition freeze NAME; --edition names another",
        )
    left_out |= _silent([name for name in names if name not in left_out], load, chosen)
    kept = tuple(row for name, row in rows.items() if name not in left_out)
    return SitePlan(chosen, kept, left_out, title, base_url, hidden)


def _silent(names: Iterable[str], load: Load, root: str) -> dict[str, str]:
    """The editions (oldest first) from which a model is gone without a word, and what is: held against the last good.

    Raises ``SilentRemoval`` where the one for the root is such.
    """
    found: dict[str, str] = {}
    before: str | None = None
    for name in names:
        try:
            if before is not None:
                check_removals(load(before), load(name))
            before = name
        except SilentRemoval as error:
            if name == root:
                raise
            found[name] = error.message
    return found


def published_edition(plan: SitePlan, name: str, load: Load) -> Published:
    """An edition as it is published on a site, with what moved since the one before."""
    frozen = load(name)
    folder = plan.folders[name]
    names = [one.name for one in plan.editions]
    before = names[names.index(name) + 1 :][:1]
    return Published(
        name=frozen.name,
        frozen_at=frozen.frozen_at,
        digest=frozen.digest,
        edition=public_part(frozen.edition, plan.hidden.get(name, ())),
        title=plan.title,
        base_url=None if plan.base_url is None else plan.base_url + folder,
        others=tuple(one for one in plan.editions if one.name != name),
        changes=_changes(load(before[0]), frozen, plan.hidden.get(before[0], frozenset())) if before else None,
    )


def _became_private(count: int) -> str:
    """So many problems that an edition shows and should not."""
    return f"{count} problem that has become private" if count == 1 else f"{count} problems that have become private"


def _changes(before: FrozenEdition, after: FrozenEdition, hidden: frozenset[str]) -> Sheet:
    """What moved, without the names of what is private in neither of the two, but by now."""
    from eval.editions.difference import difference
    from eval.editions.difference_sheet import difference_sheet

    sheet = difference_sheet(difference(before, after))
    others = hidden.difference(one.written_id for side in (before, after) for one in side.edition.problems)
    return PrivateNames(others).hidden_throughout(sheet, {}) if others else sheet


def _row(frozen: FrozenEdition, hidden: Collection[str]) -> OtherEdition:
    edition = shown_part(frozen.edition)
    return OtherEdition(
        name=frozen.name,
        frozen_at=frozen.frozen_at,
        digest=frozen.digest,
        n_problems=len(edition.problems) - edition.n_private,
        n_runs=len(edition.runs),
        note=PrivateNames.of((frozen.edition,), hidden).hidden_in(edition.note),
    )
