"""Faults that users reported of other boards (G03, G04, G10), played through the exports."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.exports.markdown import table_markdown
from eval.publishing.publication import Published
from tests.eval.editions.built import edition_problem, edition_run, freeze_built, published
from tests.eval.exports.reading import bodies, csv_rows, group_of, of_run, ranked, small, strict_json, with_common
from tests.eval.exports.test_results import BASIS
from tests.eval.facts import model, registry

ROOT = Path(__file__).resolve().parents[3]
N_PROBLEMS = 20


@pytest.fixture(scope="module")
def cases(shared_data: Path) -> Path:
    return shared_data.parent / "reports" / "cases"


def of_scores(rows: list[dict[str, Any]]) -> Published:
    """Models with these scores on problems that all of them have answered, in the order of the rows.

    The digest of an edition is over the runs in their order, which freezing fixes; here it is the same for all orders.
    """
    problems = [edition_problem(place, contest=f"round {place}") for place in range(N_PROBLEMS)]
    runs = [
        edition_run(row["m"], [(place, 1, int(place < round(row["s"] * N_PROBLEMS))) for place in range(N_PROBLEMS)])
        for row in rows
    ]
    frozen = freeze_built(problems, runs, registry(*(model(row["m"], "2024-01") for row in rows)))
    return replace(published(frozen), digest="d" * 64)


@pytest.mark.shared
def test_g03_equal_scores_keep_their_places_on_every_build(cases: Path) -> None:
    rows = json.loads((cases / "G03" / "rows.json").read_bytes())
    expected = [name for name, _ in json.loads((cases / "G03" / "expected.json").read_bytes())]
    script = (
        "import json, random, sys\n"
        "from tests.eval.exports.reading import bodies\n"
        "from tests.eval.exports.test_report_cases import of_scores\n"
        "rows, seed = json.loads(sys.argv[1]), sys.argv[2]\n"
        "random.Random(seed).shuffle(rows)\n"
        "found = bodies(of_scores(rows), 'results', 'markdown')\n"
        "json.dump([[row['m'] for row in rows], {path: body.decode() for path, body in found.items()}], sys.stdout)\n"
    )
    builds = []
    for seed in ("1", "2", "3", "4", "5"):
        command = [sys.executable, "-W", "error", "-c", script, json.dumps(rows), seed]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
        builds.append(json.loads(done.stdout))
    assert len({tuple(order) for order, _ in builds}) > 1
    for path in ("data/results.csv", "tables/own.md", "tables/common.md", "tables/equated.md"):
        assert len({files[path] for _, files in builds}) == 1, path
    files = builds[0][1]
    written = [row for row in csv_rows(files["data/results.csv"].encode()) if row["table"] == "common"]
    assert {row["run"]: float(row["pass_at_1"]) for row in written} == {row["m"]: row["s"] for row in rows}
    assert [row["run"] for row in written] == sorted(expected)
    lines = [line.split(" | ")[0].strip("| ") for line in files["tables/common.md"].splitlines()]
    assert [name for name in lines if name in expected] == expected


@pytest.mark.shared
def test_g04_what_is_no_number_is_written_nowhere(cases: Path) -> None:
    texts = (cases / "G04" / "rows_raw.txt").read_text().split()
    assert sorted(texts) == ["0.5", "inf", "nan", "null"]
    for text in texts:
        score = None if text == "null" else float(text)
        row = ranked("steady", score, reason="no result" if score is None else None)
        of = with_common(small(), group_of([row]))
        if score is not None and not math.isfinite(score):
            with pytest.raises(ValueError, match="finding"):
                bodies(of, "results")
            continue
        found = bodies(of, "results")
        cells = of_run(csv_rows(found["data/results.csv"]), "common", "steady")
        values = of_run(strict_json(found["data/results.json"])["rows"], "common", "steady")
        assert (cells["pass_at_1"], values["pass_at_1"]) == ("" if score is None else text, score)
        assert bool(cells["reason"]) is (score is None)


@pytest.mark.shared
def test_g04_a_title_and_a_name_are_text_in_every_file(cases: Path) -> None:
    title = (cases / "G04" / "title.txt").read_text().rstrip("\n")
    problems = [edition_problem(place, title=title, contest=f"round {place}") for place in range(12)]
    runs = [edition_run(title, [(place, 1, 1) for place in range(12)])]
    of = published(freeze_built(problems, runs, registry(model(title, "2024-01"))))
    found = bodies(of, "results", "problems")
    assert {row["title"] for row in csv_rows(found["data/problems.csv"])} == {title}
    assert {row["title"] for row in strict_json(found["data/problems.json"])["rows"]} == {title}
    assert {row["run"] for row in csv_rows(found["data/results.csv"])} == {title}
    text = table_markdown(of, "own")
    assert "<script>" not in text
    assert '| A \\| B "C" &lt;script&gt;alert(1)&lt;/script&gt; end | [2024-01](' in text


@pytest.mark.shared
def test_g10_every_number_stands_with_what_it_rests_on(cases: Path) -> None:
    required = json.loads((cases / "G10" / "plan.json").read_bytes())["required"]
    assert sorted(BASIS) == sorted(required)
    of = of_scores([{"m": name, "s": 0.5} for name in "abcdef"])
    rows = [row for row in csv_rows(bodies(of, "results")["data/results.csv"]) if row["pass_at_1"]]
    assert {row["table"] for row in rows} >= {"own", "common"}
    for row in rows:
        # A window without an end has an empty cell there, as its schema says.
        assert [name for name in required if not row[BASIS[name]]] in ([], ["window_end"]), row
