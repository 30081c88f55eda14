"""What pages say of a run wherever it is named: its row, its entry, its verdicts and its health. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from eval.audits.contamination import ALL_PLATFORMS
from eval.basis import Basis, basis_of
from eval.editions.document import EditionRun
from eval.eligibility import NotScored
from eval.models import Registry
from eval.publishing.publication import Published
from eval.report import Row
from eval.statistics.placebo import Verdict

NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Health:
    """How many months of a run were judged, which of them are broken, and why there is no judgement, if so."""

    n_judged: int
    broken: tuple[str, ...]
    reason: str

    @property
    def words(self) -> str:
        """How many months are broken of those that were judged."""
        if not self.n_judged:
            return NOT_JUDGED
        return f"{len(self.broken) or 'none'} of {self.n_judged}"


@dataclass(frozen=True)
class GapVerdict:
    """What the contamination audit says of a run in all, and on each platform as the audit's data have it.

    ``reason`` says why nothing was tested, if so.
    """

    in_all: str
    platforms: tuple[tuple[str, Mapping[str, Any]], ...]
    reason: str

    @property
    def is_withheld(self) -> bool:
        """Whether nothing can be said."""
        return not self.in_all.startswith((Verdict.FOUND, Verdict.NOT_FOUND))

    @property
    def visible(self) -> tuple[str, ...]:
        """Where no gap was found, the gap that could have been seen, on each platform that the verdict rests on."""
        if not self.in_all.startswith(Verdict.NOT_FOUND):
            return ()
        seen = [
            (name, one["detectable"])
            for name, one in self.platforms
            if one["verdict"] == Verdict.NOT_FOUND and one["detectable"] is not None
        ]
        single = [pair for pair in seen if pair[0] != ALL_PLATFORMS] or seen
        if len(single) == 1:
            return (f"{100 * single[0][1]:.1f} points would show",)
        return tuple(f"{name}: {100 * share:.1f} points would show" for name, share in single)


class RunsOf:
    """The runs of an edition with everything that its numbers say of each, by their names."""

    def __init__(self, published: Published) -> None:
        self.published = published
        self.edition = published.edition
        self.numbers = published.edition.numbers

    @cached_property
    def registry(self) -> Registry:
        """The models as they were known."""
        return self.edition.registry

    @cached_property
    def rows(self) -> dict[str, Row]:
        """The row of each run that has one."""
        found = ((run.name, self.edition.row_of(run.name)) for run in self.edition.runs)
        return {name: row for name, row in found if row is not None}

    @cached_property
    def by_name(self) -> dict[str, EditionRun]:
        """The runs by name."""
        return {run.name: run for run in self.edition.runs}

    @cached_property
    def all_imported(self) -> bool:
        """Whether the results of every run were published by others."""
        return all(run.imported for run in self.edition.runs)

    @cached_property
    def origins(self) -> tuple[str, ...]:
        """Where imported results are from."""
        return tuple(sorted({run.origin for run in self.edition.runs if run.imported}))

    @cached_property
    def in_order(self) -> tuple[EditionRun, ...]:
        """All runs as the table has them: by cut-off, then those without a row."""
        places = {row.run: place for place, row in enumerate(self.numbers.own.rows)}
        return tuple(sorted(self.edition.runs, key=lambda run: (places.get(run.name, len(places)), run.name)))

    @cached_property
    def links(self) -> dict[str, str]:
        """The page of each run, from the folder of the site on."""
        return {name: f"models/{slug}.html" for name, slug in self.published.run_slugs.items()}

    @cached_property
    def bases(self) -> dict[str, Basis | NotScored]:
        """What each run is measured against, or why it is not scored."""
        settings = self.edition.settings.after_cutoff()
        return {
            run.name: basis_of(run.as_outcomes(), self.registry, settings, self.edition.as_of)
            for run in self.edition.runs
        }

    def not_scored(self, run: EditionRun) -> str:
        """Why a run has no row."""
        return self.edition.reason_of(run) or "no row was computed for it"

    @cached_property
    def _health(self) -> dict[str, Health]:
        found: dict[str, list[Mapping[str, Any]]] = {}
        for one in self.numbers.health.data.get("months", ()):
            found.setdefault(one["model"], []).append(one)
        return {
            name: Health(
                sum(one["z"] is not None for one in months),
                tuple(self.numbers.broken_months.get(name, ())),
                next((str(one["refusal"]).split(",")[0] for one in months if one["refusal"]), ""),
            )
            for name, months in found.items()
        }

    def health(self, name: str) -> Health:
        """The health of a run, by its months."""
        nothing = Health(0, tuple(self.numbers.broken_months.get(name, ())), "no results on sound, dated problems")
        return self._health.get(name, nothing)

    @cached_property
    def _verdicts(self) -> dict[str, str]:
        return {one["model"]: one["in_all"] for one in self.numbers.contamination.data.get("summary", ())}

    @cached_property
    def _platforms(self) -> dict[str, list[tuple[str, Mapping[str, Any]]]]:
        found: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
        for panel in self.numbers.contamination.data.get("platforms", ()):
            for one in panel["judged"]:
                found.setdefault(one["model"], []).append((panel["platform"], one))
        return found

    def gap(self, name: str) -> GapVerdict:
        """The verdict on the gap of a run at its cut-off."""
        return GapVerdict(self._verdicts.get(name, ""), tuple(self._platforms.get(name, ())), self._untested(name))

    def _untested(self, name: str) -> str:
        if name in self._verdicts:
            return ""
        data = self.numbers.contamination.data
        if data.get("tested_at", {}).get(name) is None:
            return "not tested: no cut-off to test at"
        if data.get("nothing_tested"):
            return f"not tested: {data['nothing_tested']}"
        serves = any(name in controls for controls in data.get("controls", {}).values())
        why = "the cut-off lies before all problems that could be used"
        return f"not tested: {why}" + ("; it serves as a control" if serves else "")
