"""``live models`` and ``live eval --cutoffs-as-of`` as a user meets them: output, exit codes, errors of two lines."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from tests.live.command import Live

OWN = """
[[model]]
name = "nova-base"
provider = "Nova"
[[model.claim]]
kind = "training_data"
cutoff = "2024-11"
by = "Nova"
source = "https://example.org/base"
looked_up = 2025-01-10

[[model]]
name = "nova-1"
aliases = [{name = "Nova 1"}]
base_models = ["nova-base"]
provider = "Nova"
release_date = "2025-02-20"
[[model.claim]]
kind = "training_data"
cutoff = "2024-08"
by = "Nova"
source = "https://example.org/nova"
looked_up = 2025-03-01
superseded = 2025-09-01
[[model.claim]]
kind = "training_data"
cutoff = "2024-12"
by = "Nova"
source = "https://example.org/nova"
looked_up = 2025-09-01
[[model.claim]]
kind = "reliable_knowledge"
cutoff = "2024-06"
by = "Nova"
source = "https://example.org/nova"
looked_up = 2025-03-01

[[model]]
name = "nova-latest"
rolling = true
"""
LIST = """section,model,cutoff_as_written,reliable_cutoff_as_written,granularity,source,registry_commit
Nova,Nova 1,2025.01,,month,https://example.org/n,x
Nova,Nova 2,2025.06,,month,https://example.org/n,x
Nova,Nova 3,soon,,month,https://example.org/n,x
"""


@pytest.fixture
def nova(live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Live:
    """The command with three models of our own and a public list in the folder."""
    (tmp_path / "own.toml").write_text(OWN, encoding="utf-8")
    (tmp_path / "list.csv").write_text(LIST, encoding="utf-8")
    monkeypatch.setenv("LIVE_MODELS", str(tmp_path / "own.toml"))
    return live


def test_show_lists_every_claim_and_says_which_is_used(nova: Live) -> None:
    shown = nova("models", "show", "Nova 1")
    assert shown.code == 0
    lines = shown.out.splitlines()
    assert "cutoff: 2024-12" in lines
    assert "why: the training-data claim" in lines
    assert "base_models: nova-base" in lines
    assert lines[-3:] == [
        "  training_data 2024-08, by Nova, looked up 2025-03-01, superseded 2025-09-01: https://example.org/nova",
        "  training_data 2024-12, by Nova, looked up 2025-09-01: https://example.org/nova",
        "  reliable_knowledge 2024-06, by Nova, looked up 2025-03-01: https://example.org/nova",
    ]
    document = nova("models", "show", "nova-1", "--json").document
    assert [claim["superseded"] for claim in document["claims"]] == ["2025-09-01", None, None]


def test_a_day_past_has_the_cutoffs_of_then(nova: Live) -> None:
    then = nova("models", "show", "nova-1", "--cutoffs-as-of", "2025-08-31", "--json").document
    assert (then["cutoff"], then["cutoff_inherited_from"]) == ("2024-11", "nova-base")
    earlier = nova("models", "show", "nova-1", "--cutoffs-as-of", "2025-01-01", "--json").document
    assert (earlier["cutoff"], earlier["cutoff_status"]) == ("2025-02-20", "assumed")
    wrong = nova("models", "show", "nova-1", "--cutoffs-as-of", "yesterday")
    assert wrong.code == 2
    assert wrong.err.splitlines() == [
        'error: --cutoffs-as-of: cannot read the day "yesterday"',
        "  what to do: write it as 2025-03-01",
    ]


def test_list_says_why_for_every_model(nova: Live) -> None:
    listed = {entry["name"]: entry for entry in nova("models", "list", "--json").document}
    assert len(listed) > 60
    assert listed["nova-latest"]["not_scored_because"].startswith("is an alias without a snapshot")
    assert listed["nova-1"]["why"] == "the training-data claim"
    rows = {line.split()[0]: line.split(None, 1)[1] for line in nova("models", "list").out.splitlines()}
    assert rows["nova-1"].split() == ["2024-12", "2025-01-01", "12h", "training", "data"]
    assert rows["gemma-2-9b-it"].split() == ["2024-06", "2024-07-01", "12h", "release", "date"]
    assert "not scored: is an alias without a snapshot" in rows["nova-latest"]


def test_eval_as_of_a_day_gives_the_old_table(nova: Live, tmp_path: Path) -> None:
    problems = [
        {"platform": "nova", "id": f"n{month}", "title": "Sum", "released": f"2024-{month}-15T10:00:00Z", "tests": []}
        for month in (10, 12)
    ]
    problems.append({**problems[0], "id": "late", "released": "2025-06-01T10:00:00Z"})
    results = [{"id": row["id"], "model": "nova-1", "n_samples": 2, "n_correct": 1} for row in problems]
    for name, rows in (("p.jsonl", problems), ("r.jsonl", results)):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert nova("import", "problems", tmp_path / "p.jsonl", "-f", "jsonl").code == 0
    assert nova("import", "results", tmp_path / "r.jsonl", "-f", "jsonl").code == 0
    now = nova("eval", "--after-cutoff", "--json").document
    then = nova("eval", "--after-cutoff", "--cutoffs-as-of", "2025-08-31", "--json").document
    assert [(row["cutoff"], row["n_eligible"]) for row in now["rows"] + then["rows"]] == [
        ("2024-12", 1),
        ("2024-11", 2),
    ]
    assert (now["settings"]["cutoffs_as_of"], then["settings"]["cutoffs_as_of"]) == (None, "2025-08-31")
    assert now["rows"][0]["cutoff_revision"] != then["rows"][0]["cutoff_revision"]
    assert (then["rows"][0]["cutoff_kind"], then["rows"][0]["cutoff_inherited_from"]) == ("training_data", "nova-base")
    shown = nova("eval", "--after-cutoff", "--cutoffs-as-of", "2025-08-31").out
    assert "Cut-offs as they were known on 2025-08-31." in shown
    assert "inherited from nova-base" in shown


def test_import_into_a_file_of_ones_own(nova: Live, tmp_path: Path) -> None:
    words = ["models", "import", "list.csv", "--format", "haooowang", "--into", "own.toml", "--looked-up", "2026-05-04"]
    ended = nova(*words)
    assert ended.code == 1
    assert ended.err.splitlines()[0] == "models: 1 new, 1 updated, 0 unchanged, 1 refused"
    assert "note: nova-1: scored by 2024-12 by Nova; now scored by 2025.01 by HaoooWang" in ended.err
    assert 'refused: line 4: cutoff_as_written: cannot read the date "soon"' in ended.err
    names = [entry["name"] for entry in tomllib.loads((tmp_path / "own.toml").read_text(encoding="utf-8"))["model"]]
    assert names == ["nova-base", "nova-1", "nova-latest", "Nova 2"]
    again = nova(*words, "--json")
    assert (again.document["created"], again.document["updated"], again.document["unchanged"]) == (0, 0, 2)
    assert again.document["refused"][0]["where"] == "line 4"
    assert nova("models", "show", "Nova 2", "--json").document["cutoff"] == "2025.06"


def test_the_folder_that_is_looked_in_unasked_is_made(
    live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "list.csv").write_text(LIST.replace("soon", "2025.07"), encoding="utf-8")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "new" / "account"))
    own = tmp_path / "new" / "account" / "livecut" / "models" / "public.toml"
    assert live("models", "import", "list.csv", "--format", "haooowang", "--into", own).code == 0
    assert live("models", "show", "Nova 2", "--json").document["cutoff"] == "2025.06"  # found unasked from now on


BASE_ALONE = """
[[model]]
name = "tuned"
base_models = ["base"]
release_date = "2025-01-31"
[[model]]
name = "base"
[[model.claim]]
kind = "training_data"
cutoff = "2023-12"
source = "https://example.org/base"
"""


def test_a_base_models_claim_alone_is_said_not_to_date_a_model(live: Live, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(BASE_ALONE, encoding="utf-8")
    words = ("--models", tmp_path / "own.toml", "models", "show")
    lines = live(*words, "tuned").out.splitlines()
    assert "cutoff: 2025-01-31 (read as the month)" in lines
    assert "why: no training-data claim: release date used" in lines
    assert (
        "cutoff_hint: 2023-12 is stated of base alone, and nothing dates what was trained on later; a training_data "
        "claim of tuned itself would take the place of the release date"
    ) in lines
    assert live(*words, "base", "--json").document["cutoff_hint"] is None


def test_names_that_begin_with_what_was_typed_come_first(live: Live) -> None:
    for typed in ("o1-min", "O1-MINI"):
        ended = live("models", "show", typed)
        assert ended.code == 2
        first = ended.err.splitlines()[0]
        assert first.startswith(f'error: unknown model "{typed}"; did you mean o1-mini-2024-09-12')


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["import", "absent.csv", "-f", "haooowang", "--into", "x.toml"], "absent.csv: cannot be read"),
        (["import", "list.csv", "-f", "xml", "--into", "x.toml"], "unknown form of model lists 'xml'"),
        (["import", "list.csv", "-f", "models.dev", "--into", "x.toml"], "has no column name, knowledge"),
        (["import", "list.csv", "-f", "haooowang", "--into", "no/x.toml"], "x.toml: cannot be written"),
        (["import", "list.csv", "-f", "haooowang", "--into", "home/livecut/x.toml"], "x.toml: cannot be written"),
        (["import", "list.csv", "-f", "haooowang", "--into", "x.toml", "--looked-up", "May"], "--looked-up"),
        (["check", "--against", "list.csv"], "--against and --format go together"),
        (["check", "--against", "own.toml", "-f", "haooowang"], "has no column section"),
        (["show", "nobody"], 'unknown model "nobody"'),
    ],
)
def test_what_cannot_be_is_told_in_two_lines(nova: Live, words: list[str], said: str) -> None:
    ended = nova("models", *words)
    assert ended.code == 2
    what, to_do = ended.err.splitlines()
    assert what.startswith("error: ")
    assert said in what
    assert to_do.startswith("  what to do: ")


def test_check_ends_with_1_only_where_eligibility_is_at_stake(nova: Live, tmp_path: Path) -> None:
    calm = nova("models", "check")
    assert calm.code == 0
    assert "   nova-1: 2024-06 by Nova, training data 2024-12 by Nova (6 months)" in calm.out
    assert calm.out.splitlines()[-1].endswith("0 of them change what a model is scored on")
    against = nova("models", "check", "--against", "list.csv", "--format", "haooowang", "--json")
    assert against.code == 1
    assert (against.document["n_compared"], against.document["n_only_listed"]) == (1, 1)
    assert [finding["kind"] for finding in against.document["findings"]] == [
        "cut-offs that the list would change",
        "training-data claims differ",
        "reliable knowledge earlier than the training-data claim",
    ]
    assert (tmp_path / "own.toml").read_text(encoding="utf-8") == OWN
    nova("models", "import", "list.csv", "--format", "haooowang", "--into", "own.toml")
    serious = nova("models", "check", "--json")
    assert (serious.code, serious.document["n_serious"]) == (1, 1)


def test_a_file_of_the_older_form_is_refused_with_the_new_one(live: Live, tmp_path: Path) -> None:
    (tmp_path / "old.toml").write_text('[[model]]\nname = "a"\ncutoff = "2023-10"\ncutoff_status = "stated"\n')
    ended = live("--models", tmp_path / "old.toml", "models", "list")
    assert ended.code == 2
    assert ended.err.splitlines()[1].endswith('[[model.claim]] kind = "training_data" cutoff = "2023-10"')


DOUBTED = """
[[model]]
name = "late"
release_date = "2024-12-02"
[[model.claim]]
kind = "training_data"
cutoff = "2025-02"
by = "A"
source = "https://example.org/a"
[[model]]
name = "to-come"
[[model.claim]]
kind = "training_data"
cutoff = "2098-01"
[[model]]
name = "placeholder"
release_date = "2024-12-01"
[[model.claim]]
kind = "training_data"
cutoff = "2023-01-01"
[[model]]
name = "exact"
release_date = 2024-12-15
[[model.claim]]
kind = "training_data"
cutoff = 2024-04-15
source = "https://example.org/a"
"""


def test_no_cut_off_is_shown_as_used_that_nothing_is_scored_by(live: Live, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(DOUBTED, encoding="utf-8")
    words = ("--models", tmp_path / "own.toml", "models")
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in live(*words, "list").out.splitlines()}
    assert rows["late"] == "– – not scored: the cut-off 2025-02 is later than the release 2024-12-02"
    assert rows["to-come"] == "– – not scored: the cut-off 2098-01 lies in the future"
    assert rows["exact"] == "2024-04-15 2024-04-16 12h training data"
    assert "2023-01-01 (read as the month) 2023-02-01 12h" in rows["placeholder"]
    assert "looks like a placeholder" in live(*words, "list").out
    late = live(*words, "show", "late", "--json").document
    assert (late["cutoff"], late["counts_as_over_at"], late["why"]) == (None, None, None)
    assert late["not_scored_because"] == "the cut-off 2025-02 is later than the release 2024-12-02"
    shown = live(*words, "show", "placeholder").out.splitlines()
    assert "cutoff: 2023-01-01 (read as the month)" in shown
    assert "release_date: 2024-12-01 (read as the month)" in shown
    assert "  training_data 2023-01-01 (read as the month): no source" in shown
    assert live(*words, "show", "placeholder", "--json").document["cutoff"] == "2023-01-01"
    assert any(line.startswith("cutoff_doubt: the cut-off 2023-01-01 is 23 months before") for line in shown)
    checked = live(*words, "check")
    assert checked.code == 1
    for line in (
        " ! late: 2025-02 by A, released 2024-12-02: a name that was moved, or a wrong date (2 months)",
        " ! to-come: the cut-off 2098-01 lies in the future: not scored",
        " ! placeholder: the cut-off 2023-01-01 is 23 months before the release (2024-12-01) and has no source: not "
        "ranked until it is confirmed",
    ):
        assert line in checked.out.splitlines()


def test_an_earlier_cut_off_is_imported_only_where_it_is_accepted(nova: Live, tmp_path: Path) -> None:
    released = '[[model]]\nname = "solo"\nrelease_date = "2024-06-27"\n'
    (tmp_path / "own.toml").write_text(OWN + released, encoding="utf-8")
    (tmp_path / "list.csv").write_text(LIST.replace("Nova 3,soon", "solo,2023.10"), encoding="utf-8")
    words = ["models", "import", "list.csv", "--format", "haooowang", "--into", "own.toml", "--looked-up", "2026-05-04"]
    against = nova("models", "check", "--against", "list.csv", "--format", "haooowang")
    assert "scored by 2024-06-27 (release date); would be scored by 2023.10" in against.out
    assert "now scored" not in against.out
    assert "would change what a model is scored on" in against.out
    refused = nova(*words)
    assert refused.code == 1
    assert "refused: line 4, solo: " in refused.err
    assert "8 months earlier: more problems would count (--accept-earlier takes it" in refused.err
    assert nova("models", "show", "solo", "--json").document["cutoff"] == "2024-06-27"
    accepted = nova(*words, "--accept-earlier")
    assert accepted.code == 0
    assert "8 months earlier: more problems count" in " ".join(accepted.err.split())
    assert nova("models", "show", "solo", "--json").document["cutoff"] == "2023.10"


API = Path(__file__).parents[1] / "eval" / "data" / "models_dev_api.json"


def test_an_api_json_comes_in_and_twice_is_nothing(live: Live, tmp_path: Path) -> None:
    words = ["models", "import", API, "--format", "models.dev", "--into", "x.toml"]
    first = live(*words)
    assert first.code == 0
    assert first.err.splitlines()[0] == "models: 6 new, 0 updated, 0 unchanged, 0 refused"
    assert "released 2025-03-02 by mirror; 2025-01-15 by attic, nova, relay: the latest counts" in first.err
    before = (tmp_path / "x.toml").read_bytes()
    again = live(*words)
    assert again.code == 0
    assert again.err.splitlines()[0] == "models: 0 new, 0 updated, 6 unchanged, 0 refused"
    assert (tmp_path / "x.toml").read_bytes() == before
    shown = live("--models", tmp_path / "x.toml", "models", "show", "nova-1-2025", "--json").document
    assert (shown["cutoff"], shown["cutoff_kind"]) == ("2025-03-02", "release_date")


def test_an_api_json_that_was_cut_off_writes_nothing(live: Live, tmp_path: Path) -> None:
    (tmp_path / "api.json").write_bytes(API.read_bytes()[:1000])
    for words in (["import", "api.json", "--into", "x.toml"], ["check", "--against", "api.json"]):
        ended = live("models", *words, "--format", "models.dev")
        assert ended.code == 2
        what, to_do = ended.err.splitlines()
        assert what.startswith("error: api.json, line ")
        assert what.endswith(": the file ends in the middle of its JSON")
        assert to_do == "  what to do: get https://models.dev/api.json again"
    assert not (tmp_path / "x.toml").exists()


def test_check_against_an_api_json_names_what_its_providers_differ_in(live: Live, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('[[model]]\nname = "nova-1-2025"\nrelease_date = "2025-01-15"\n')
    words = ("--models", tmp_path / "own.toml", "models", "check", "--against", API, "--format", "models.dev")
    ended = live(*words)
    assert ended.code == 1
    lines = ended.out.splitlines()
    assert " ! nova-1-2025: released 2025-01-15 here, 2025-03-02 by the list (2 months)" in lines
    assert "models of which the list states different dates:" in lines
    assert "   nova-1-2025: released 2025-03-02 by mirror; 2025-01-15 by attic, nova, relay: the latest counts" in lines
    assert lines[-1].startswith("1 models compared, 5 only in the list: ")
