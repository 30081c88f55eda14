"""An edition's one form as bytes, and its public part."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from eval.editions.document import EditionUnreadable, digest_of, from_bytes, to_bytes
from eval.editions.parts import public_part
from tests.eval.editions.built import PRIVATE_ID, invented


def test_bytes_say_all_and_nothing_twice() -> None:
    edition = invented().edition
    body = to_bytes(edition)
    assert from_bytes(body) == edition
    assert to_bytes(from_bytes(body)) == body
    document = json.loads(body)
    assert body == json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    assert digest_of(body) == hashlib.sha256(body).hexdigest() == invented().digest


def test_neither_the_name_nor_the_order_of_hashing_is_in_the_bytes(root: Path) -> None:
    assert invented("a").digest == invented("b").digest
    program = "from tests.eval.editions.built import invented; print(invented().digest)"
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=root,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in ("0", "1", "4")
    }
    assert digests == {invented().digest + "\n"}


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_is_none_is_refused(number: float) -> None:
    edition = invented().edition
    row = edition.numbers.own.rows[0]
    broken = replace(row, scores=(replace(row.scores[0], value=number),))
    numbers = replace(edition.numbers, own=replace(edition.numbers.own, rows=(broken,)))
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_bytes(replace(edition, numbers=numbers))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "not an edition"),
        (b"\xff\xfe", "not an edition"),
        (b"[]", "format None"),
        (b'{"format": 3}', "format 3, while this version reads formats 1 to 2"),
        (b'{"format": []}', "format "),
        (b'{"format": 2, "problems": 7}', "not an edition"),
        (b'{"format": 1, "problems": 7}', "not an edition"),
        (b'{"format": 1, "runs": [7, {}], "numbers": {"own": {"rows": [7, {"run": []}]}}}', "not an edition"),
    ],
)
def test_rubbish_is_no_edition(body: bytes, message: str) -> None:
    with pytest.raises(EditionUnreadable, match=message) as caught:
        from_bytes(body)
    assert caught.value.hint


def test_the_public_part_has_no_trace_of_private_problems() -> None:
    edition = invented().edition
    assert PRIVATE_ID.encode() in to_bytes(edition)
    public = public_part(edition)
    body = to_bytes(public)
    for trace in (PRIVATE_ID, "secret garden", "secret  garden"):
        assert trace in to_bytes(edition).decode().casefold()
        assert trace not in body.decode().casefold()
    assert from_bytes(body) == public
    assert (len(edition.problems), len(public.problems), edition.n_private, public.n_private) == (60, 58, 2, 2)
    assert (edition.private_count, public.private_count) == (0, 2)
    assert [one.facts.problem_id for one in public.problems] == list(range(58))
    assert [row.scores for row in public.numbers.own.rows] == [row.scores for row in edition.numbers.own.rows]
    assert public.numbers.private == edition.numbers.private
    reasons = [reason for one in public.problems for name, reason in one.facts.flags if name == "has_image"]
    assert reasons == ["the same picture as a private problem, has"]


def test_results_stay_with_their_problems_when_private_ones_are_taken_out() -> None:
    edition = invented().edition
    public = public_part(edition)
    for before, after in zip(edition.runs, public.runs, strict=True):
        results = {
            edition.problems[place].written_id: (n, c)
            for place, n, c in zip(before.problems, before.n_samples, before.n_correct, strict=True)
        }
        kept = {
            public.problems[place].written_id: (n, c)
            for place, n, c in zip(after.problems, after.n_samples, after.n_correct, strict=True)
        }
        assert kept == {name: result for name, result in results.items() if PRIVATE_ID not in name}
        assert {public.problems[one.problem].written_id for one in after.rare} <= set(results)


def test_why_a_run_has_no_row() -> None:
    edition = invented().edition
    runs = {run.name: run for run in edition.runs}
    row = edition.row_of("steady")
    assert row is not None
    assert (row.run, edition.reason_of(runs["steady"])) == ("steady", None)
    assert edition.row_of("nameless") is None
    why = "no cut-off and no release date is known"
    assert edition.reason_of(runs["nameless"]) == why
    renamed = replace(runs["nameless"], name="nameless (plain)", model="the model", entry="NameLess")
    assert edition.reason_of(renamed) == why
    assert edition.reason_of(replace(renamed, entry=None)) is None
    assert edition.reason_of(replace(renamed, model="Ghost-1", entry=None)) == "asked by its provider"
