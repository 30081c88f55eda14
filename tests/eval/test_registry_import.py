"""Public lists of cut-offs brought into a registry file: what is added, superseded, refused, and left as it was."""

from __future__ import annotations

import os
import stat
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from db.importing import ImportFailure, ImportReport
from eval.models import Registry, RegistryError
from eval.registry_files import load_registry, read_file
from eval.registry_forms import all_forms
from eval.registry_import import import_claims
from tests.eval.facts import model, registry

HAOOOWANG = "section,model,cutoff_as_written,reliable_cutoff_as_written,granularity,source,registry_commit\n"
MODELS_DEV = "model,name,knowledge,granularity,release_date,last_updated,source\n"
MAY, JULY = date(2026, 5, 4), date(2026, 7, 2)
NOBODY = registry()


def bring(
    folder: Path,
    text: str,
    form: str = "haooowang",
    known: Registry = NOBODY,
    looked_up: date | None = MAY,
    today: date = JULY,
    accept_earlier: bool = False,
) -> ImportReport:
    """Import a list of this text into ``own.toml``."""
    header = HAOOOWANG if form == "haooowang" else MODELS_DEV
    path = folder / "list.csv"
    path.write_text(header + text, encoding="utf-8")
    target = folder / "own.toml"
    return import_claims(path, form, target, known, looked_up=looked_up, today=today, accept_earlier=accept_earlier)


def counts(report: ImportReport) -> tuple[int, int, int, int]:
    return report.created, report.updated, report.unchanged, report.n_refused


def own(folder: Path) -> list[dict[str, Any]]:
    found = tomllib.loads((folder / "own.toml").read_text(encoding="utf-8"))["model"]
    assert isinstance(found, list)
    return found


NOVA = "Nova AI,Nova 1,2024.11,2024.10,month,https://example.org/nova,x\n"
NEWER = NOVA.replace("2024.11", "2024.12")


def test_a_list_becomes_models_with_their_claims(tmp_path: Path) -> None:
    assert counts(bring(tmp_path, NOVA)) == (1, 0, 0, 0)
    by, source = "HaoooWang/llm-knowledge-cutoff-dates", "https://example.org/nova"
    shared = {"by": by, "source": source, "looked_up": MAY}
    assert own(tmp_path) == [
        {
            "name": "Nova 1",
            "provider": "Nova AI",
            "claim": [
                {"kind": "training_data", "cutoff": "2024.11", **shared},
                {"kind": "reliable_knowledge", "cutoff": "2024.10", **shared},
            ],
        }
    ]


def test_the_same_list_twice_changes_nothing_whatever_the_day(tmp_path: Path) -> None:
    bring(tmp_path, NOVA)
    before = (tmp_path / "own.toml").read_bytes()
    assert counts(bring(tmp_path, NOVA)) == (0, 0, 1, 0)
    assert counts(bring(tmp_path, NOVA, looked_up=JULY)) == (0, 0, 1, 0)
    assert (tmp_path / "own.toml").read_bytes() == before


def test_a_changed_claim_supersedes_the_old_one_which_stays(tmp_path: Path) -> None:
    bring(tmp_path, NOVA)
    assert counts(bring(tmp_path, NEWER, looked_up=JULY)) == (0, 1, 0, 0)
    old, reliable, new = own(tmp_path)[0]["claim"]
    assert (old["cutoff"], old["looked_up"], old["superseded"]) == ("2024.11", MAY, JULY)
    assert (new["cutoff"], new["looked_up"]) == ("2024.12", JULY)
    assert "superseded" not in new
    assert "superseded" not in reliable
    # And back again, as lists do: the first word is not revived, it is said again.
    assert counts(bring(tmp_path, NOVA, looked_up=date(2026, 8, 1), accept_earlier=True)) == (0, 1, 0, 0)
    assert [claim["cutoff"] for claim in own(tmp_path)[0]["claim"]] == ["2024.11", "2024.10", "2024.12", "2024.11"]
    then = load_registry([tmp_path / "own.toml"], shipped=None).as_of(JULY)
    assert sorted(claim.cutoff.as_written for claim in then.entries[0].claims) == ["2024.10", "2024.12"]


def test_a_date_later_than_the_list_is_refused(tmp_path: Path) -> None:
    report = bring(tmp_path, NOVA + "A,old,2019,,year,TBD,x\n", looked_up=date(2020, 1, 1))
    assert counts(report) == (1, 0, 0, 1)
    assert report.refused[0].reason == "2024.11 is later than 2020-01-01, the day of the list"


def test_an_older_list_does_not_overrule_a_newer_one(tmp_path: Path) -> None:
    bring(tmp_path, NEWER, looked_up=JULY)
    report = bring(tmp_path, NOVA, looked_up=MAY)
    assert counts(report) == (0, 0, 0, 1)
    assert report.refused[0].where == "line 2, Nova 1"
    assert "2026-07-02, later than this list of 2026-05-04" in report.refused[0].reason


WRITTEN = """# mine
[[model]]
name = "Nova 1"   # the old one
notes = "kept"

# as their page says
[[model.claim]]
kind = "training_data"  # surely
cutoff = "2024.10"
by = "HaoooWang/llm-knowledge-cutoff-dates"
looked_up = 2025-01-01

[[model]]
name = "other"
# the end
"""


BY = 'by = "HaoooWang/llm-knowledge-cutoff-dates"'
TAKEN = f"""# mine
[[model]]
name = "Nova 1"   # the old one
notes = "kept"

# as their page says
[[model.claim]]
kind = "training_data"  # surely
cutoff = "2024.10"
{BY}
looked_up = 2025-01-01
superseded = 2026-05-04

[[model.claim]]
kind = "training_data"
cutoff = "2024.11"
{BY}
source = "https://example.org/nova"
looked_up = 2026-05-04

[[model.claim]]
kind = "reliable_knowledge"
cutoff = "2024.10"
{BY}
source = "https://example.org/nova"
looked_up = 2026-05-04

[[model]]
name = "other"
# the end

[[model.claim]]
kind = "training_data"
cutoff = "2023"
{BY}
looked_up = 2026-05-04

[[model]]
name = "new"
provider = "X"

[[model.claim]]
kind = "training_data"
cutoff = "2022"
{BY}
looked_up = 2026-05-04
"""


def test_what_else_the_file_holds_stays(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(WRITTEN, encoding="utf-8")
    assert counts(bring(tmp_path, NOVA + ",other,2023,,year,TBD,x\nX,new,2022,,year,TBD,x\n")) == (1, 2, 0, 0)
    assert (tmp_path / "own.toml").read_text(encoding="utf-8") == TAKEN


def test_rows_are_refused_one_by_one(tmp_path: Path) -> None:
    rows = (
        NOVA
        + "A,soon,soon,,month,TBD,x\n"
        + "A,,2024,,month,TBD,x\n"
        + "A,few,2024\n"
        + "A,no such day,2024-02-31,,day,TBD,x\n"
        + NEWER
        + "A,Unknown one,Unknown,-,unknown,TBD,x\n"
        + "A,last,2024,,year,TBD,x\n"
    )
    report = bring(tmp_path, rows)
    assert counts(report) == (2, 0, 0, 5)
    assert [(refusal.where, refusal.reason) for refusal in report.refused] == [
        ("line 3", 'cutoff_as_written: cannot read the date "soon"'),
        ("line 4", "model: is empty"),
        ("line 5", "does not have one cell for each column"),
        ("line 6", 'cutoff_as_written: cannot read the date "2024-02-31"'),
        ("line 7, Nova 1", "line 2 already gives a date for Nova 1"),
    ]
    assert all(refusal.hint for refusal in report.refused)
    assert report.notes == ("line 8, Unknown one: no date is given",)
    assert [entry["name"] for entry in own(tmp_path)] == ["Nova 1", "last"]


DEV = "nova/nova-1-2025,Nova 1,2024-10-31,day,2025-01-15,2025-01-15,anomalyco/models.dev@f3fc692 2026-07-02\n"


def test_models_dev_gives_releases_and_reliable_knowledge(tmp_path: Path) -> None:
    assert counts(bring(tmp_path, DEV, "models.dev", looked_up=None, today=date(2026, 9, 9))) == (1, 0, 0, 0)
    (entry,) = own(tmp_path)
    assert (entry["name"], entry["provider"]) == ("nova-1-2025", "nova")
    assert (entry["release_date"], entry["release_source"]) == ("2025-01-15", "https://github.com/anomalyco/models.dev")
    (claim,) = entry["claim"]
    assert (claim["kind"], claim["cutoff"], claim["looked_up"]) == ("reliable_knowledge", "2024-10-31", JULY)


@pytest.mark.parametrize(
    ("row", "noted"),
    [
        ("m/codestral-latest,Codestral,2024-10,month,2024-12-29,2025-01-04,x\n", 0),
        ("a/claude-9,Claude 9 (latest),2024-10,month,2025-05-29,2025-06-04,x\n", 0),
        ("p/sonar,Sonar,2025-09-01,day,2024-01-01,2025-09-01,x\n", 1),
    ],
)
def test_names_without_a_snapshot_are_marked_as_rolling(tmp_path: Path, row: str, noted: int) -> None:
    report = bring(tmp_path, row, "models.dev")
    assert own(tmp_path)[0]["rolling"] is True
    assert len(report.notes) == noted


def test_another_release_date_than_the_files_is_left_to_its_owner(tmp_path: Path) -> None:
    bring(tmp_path, DEV, "models.dev")
    report = bring(tmp_path, DEV.replace("2025-01-15,2025", "2025-02-20,2025"), "models.dev")
    assert counts(report) == (0, 0, 1, 0)
    assert report.notes == (
        "line 2, nova-1-2025: released 2025-02-20 by the list, 2025-01-15 by the file, which stays",
    )
    nothing_yet = DEV.replace("nova-1-2025", "nova-2").replace("2025-01-15,2025-01-15", ",")
    bring(tmp_path, nothing_yet, "models.dev")
    assert counts(bring(tmp_path, DEV.replace("nova-1-2025", "nova-2"), "models.dev")) == (0, 1, 0, 0)
    assert own(tmp_path)[1]["release_date"] == "2025-01-15"


def test_a_name_that_the_registry_knows_is_written_as_its_model(tmp_path: Path) -> None:
    own_text = '[[model]]\nname = "nova-1-2025"\naliases = [{name = "Nova 1"}]\nrelease_date = "2025-01-15"\n'
    (tmp_path / "known.toml").write_text(own_text, encoding="utf-8")
    known = load_registry([tmp_path / "known.toml"], shipped=None)
    report = bring(tmp_path, NOVA, known=known, accept_earlier=True)
    assert [entry["name"] for entry in own(tmp_path)] == ["nova-1-2025"]
    by = "HaoooWang/llm-knowledge-cutoff-dates"
    assert report.notes == (
        f"nova-1-2025: scored by 2025-01-15 (release date); now scored by 2024.11 by {by}, "
        "2 months earlier: more problems count",
    )
    together = load_registry([tmp_path / "known.toml", tmp_path / "own.toml"], shipped=None)
    assert len(together.entries) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "has no column section"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"section,model\nA,B\n", "has no column cutoff_as_written"),
        (HAOOOWANG.encode() + b'A,"broken', "not CSV"),
    ],
)
def test_a_file_of_another_kind_writes_nothing(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "list.csv").write_bytes(content)
    with pytest.raises(ImportFailure, match=said) as error:
        import_claims(tmp_path / "list.csv", "haooowang", tmp_path / "own.toml", NOBODY, looked_up=None, today=JULY)
    assert error.value.hint
    assert not (tmp_path / "own.toml").exists()


def test_a_target_that_cannot_be_used(tmp_path: Path) -> None:
    for text, said in {
        '[[model]]\nname = "a"\ncutoff = "2023-10"\n': "a cut-off is a claim",
        'model = [{name = "a"}]\n': r"no \[\[model\]\] tables",
        "[[model\n": "not valid TOML",
    }.items():
        (tmp_path / "own.toml").write_text(text, encoding="utf-8")
        with pytest.raises(RegistryError, match=said):
            bring(tmp_path, NOVA)
        assert (tmp_path / "own.toml").read_text(encoding="utf-8") == text
    in_a_line = '[[model]]\nname = "Nova 1"\nclaim = [{kind = "estimate", cutoff = "2023"}]\n'
    (tmp_path / "own.toml").write_text(in_a_line, encoding="utf-8")
    with pytest.raises(ImportFailure, match="a list in one line"):
        bring(tmp_path, NOVA)
    absent = tmp_path / "absent" / "own.toml"
    with pytest.raises(ImportFailure, match="cannot be written"):
        import_claims(tmp_path / "list.csv", "haooowang", absent, NOBODY, looked_up=MAY, today=JULY)
    with pytest.raises(ImportFailure, match="unknown form"):
        import_claims(tmp_path / "list.csv", "xml", tmp_path / "own.toml", NOBODY, looked_up=MAY, today=JULY)


def test_a_file_that_would_not_go_with_the_others_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('[[model]]\nname = "x"\naliases = [{name = "Nova 1"}]\n', encoding="utf-8")
    with pytest.raises(RegistryError, match='two models are called "Nova 1"'):
        bring(tmp_path, NOVA)
    assert "claim" not in (tmp_path / "own.toml").read_text(encoding="utf-8")


def test_a_write_protected_file_is_respected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bring(tmp_path, NOVA)
    before = (tmp_path / "own.toml").read_bytes()
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # what an ordinary user would be told
    with pytest.raises(ImportFailure, match=r"cannot be written \(Permission denied\)"):
        bring(tmp_path, NEWER, looked_up=JULY)
    assert (tmp_path / "own.toml").read_bytes() == before


def test_a_failed_write_leaves_the_old_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(tmp_path, NOVA)
    (tmp_path / "own.toml").chmod(0o600)
    before = (tmp_path / "own.toml").read_bytes()

    def full(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        with pytest.raises(ImportFailure, match="No space left"):
            bring(tmp_path, NEWER, looked_up=JULY)
    assert (tmp_path / "own.toml").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["list.csv", "own.toml"]
    bring(tmp_path, NEWER, looked_up=JULY)
    assert stat.S_IMODE((tmp_path / "own.toml").stat().st_mode) == 0o600


def test_forms_are_found_by_their_files() -> None:
    assert list(all_forms()) == ["haooowang", "models.dev"]
    assert all(form.description for form in all_forms().values())


@pytest.mark.shared
def test_both_recorded_lists_come_in_and_twice_is_nothing(shared_data: Path, tmp_path: Path) -> None:
    target, known = tmp_path / "own.toml", registry(model("unrelated"))
    first, again, third = [
        [
            import_claims(shared_data / "cutoffs" / name, form, target, known, looked_up=None, today=JULY)
            for name, form in (("haooowang_current.csv", "haooowang"), ("modelsdev_base.csv", "models.dev"))
        ]
        for _ in range(3)
    ]
    # 95 and 231 rows; Qwen3 has no date; 12 names are written alike in both lists.
    assert [counts(report) for report in first] == [(94, 0, 0, 0), (219, 12, 0, 0)]
    # The second list says that o3-mini knows of months after the first list's cut-off: an estimate from then on.
    assert [counts(report) for report in again] == [(0, 1, 93, 0), (0, 0, 231, 0)]
    assert [counts(report) for report in third] == [(0, 0, 94, 0), (0, 0, 231, 0)]
    entries = read_file(target)
    assert len(entries) == 94 + 219
    rolling = {entry.name for entry in entries if entry.rolling}
    later_than_release = {"qwen-plus", "qwen-vl-plus", "gpt-4-turbo", "sonar", "sonar-pro", "sonar-reasoning-pro"}
    assert later_than_release | {"codestral-latest", "magistral-medium-latest"} <= rolling
