"""What the tests under a score are, as exported values: origins, the strength of made ones, samples apart. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from db.records import MadeStrength
from eval.render import samples_only_text
from eval.report import Row, SamplesApart, samples_only_fields
from eval.test_basis import NOT_RUN_HERE, TestBasis, WeakestTests, basis_text, basis_to_dict

Values = Mapping[str, Any]

_WORDS = {
    "n_official": "official",
    "n_made": "made here",
    "n_recovered": "recovered",
    "n_mixed": "of several origins",
    "n_not_recorded": "of origin not recorded",
}
_ORIGINS = tuple(_WORDS)
_RATES = ("kill_rate", "kill_rate_low", "kill_rate_high")
_APART = tuple(samples_only_fields(None))

NOT_RECORDED = "where they come from was not recorded when the edition was frozen"

NOT_TOLD: Values = {
    **dict.fromkeys(f"tests_{name}" for name in _ORIGINS),
    **dict.fromkeys(f"made_{name}" for name in _RATES),
    "made_strength": None,
    **dict.fromkeys(_APART),
}
"""The columns of a row of which nothing is known, or in whose place there is nothing to know."""


def basis_columns(basis: Values | None) -> dict[str, Any]:
    """The columns of what a score rests on, from the basis as JSON values; all null where no program was run here."""
    if basis is None:
        return {name: value for name, value in NOT_TOLD.items() if name not in _APART}
    strength = basis.get("strength")
    told = strength and {**strength, "n_measured": basis["n_measured"], "weakest": basis["weakest"]}
    return {
        **{f"tests_{name}": basis[name] for name in _ORIGINS},
        **{f"made_{name}": basis[name] for name in _RATES},
        "made_strength": told or None,
    }


def own_columns(row: Row, *, counts_samples: bool) -> dict[str, Any]:
    """The columns of a row of the table of own windows; ``counts_samples``: results on samples alone are in it."""
    apart: Values = dict.fromkeys(_APART) if counts_samples else samples_only_fields(row.samples_only)
    return {**basis_columns(basis_to_dict(row.tests)), **apart}


def apart_columns(run: Values | None) -> dict[str, Any]:
    """The columns of results on sample tests alone, from the values of a run in a sheet that may not have them."""
    return {name: None if run is None else run.get(name) for name in _APART}


def own_texts(row: Row) -> Iterator[tuple[str, str]]:
    """What is said of the tests of a row, and of results on sample tests alone beside it, as pairs of name and text."""
    for name, text in (("tests", basis_text(row.tests)), ("samples_only", samples_only_text(row.samples_only))):
        if text:
            yield name, text.removeprefix(f"{name}: ")


def row_texts(row: Values) -> Iterator[str]:
    """The same of an exported row of any table, in short."""
    told = ", ".join(f"{n} {word}" for name, word in _WORDS.items() if (n := row[f"tests_{name}"]))
    strength = row["made_strength"]
    if strength and strength["n_wrong"]:
        told += f"; made ones fail {strength['n_wrong_killed']} of {strength['n_wrong']} known-wrong programs"
    if row["is_imported"] or told:
        yield f"tests: {told or NOT_RUN_HERE}"
    if row["n_samples_only"]:
        apart = SamplesApart(*(row[name] for name in _APART))
        yield samples_only_text(apart)


def common_text(group: Values, *, imported: bool) -> str:
    """The same of a run in a group of the common table, from the group's values in the sheet."""
    if imported:
        return NOT_RUN_HERE
    basis = group.get("tests")
    return NOT_RECORDED if basis is None else basis_text(_basis(basis))


def _basis(values: Values) -> TestBasis:
    strength, weakest = values["strength"], values["weakest"]
    return TestBasis(
        n_problems=values["n_problems"],
        **{name: values[name] for name in (*_ORIGINS, "n_measured")},
        strength=None if strength is None else MadeStrength(**strength),
        weakest=None if weakest is None else WeakestTests(**weakest),
    )
