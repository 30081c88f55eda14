"""A package's own validator becomes a checker, its accepted submissions reference solutions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from db.records import IoKind, ProblemRecord
from sandbox.plain import read_checker
from sandbox.programs import MIB, Limits, Protocol
from tests.ingest.package_folders import JUDGED, flags_of, judged_problems, package, suite_of
from tests.ingest.reading import read


@pytest.fixture(scope="module")
def problems() -> dict[str, ProblemRecord]:
    return judged_problems()


def test_a_validator_with_its_header_and_arguments(problems: dict[str, ProblemRecord]) -> None:
    suite = suite_of(problems["parts"])
    assert suite.io_kind is IoKind.STDIN
    assert suite.checker is not None
    checker = read_checker(suite.checker)
    assert (checker.protocol, checker.program.language) == (Protocol.KATTIS, "cpp20")
    folder = JUDGED / "parts" / "output_validators" / "check"
    assert checker.program.source == (folder / "check.cc").read_text()
    assert checker.program.files == (("verdict.h", (folder / "verdict.h").read_text()),)
    assert checker.flags == ("smallest", "1")
    assert checker.limits == Limits(cpu_s=5.0, memory_bytes=256 * MIB)
    assert [(test.name, test.checker_flags) for test in suite.tests] == [
        ("sample/1", None),
        ("secret/1-any/1", None),
        ("secret/1-any/2", None),
        ("secret/2-distinct/1", ("smallest", "1", "distinct")),
    ]


def test_an_interactive_package(problems: dict[str, ProblemRecord]) -> None:
    suite = suite_of(problems["guesses"])
    assert suite.io_kind is IoKind.INTERACTIVE
    assert suite.checker is not None
    checker = read_checker(suite.checker)
    assert (checker.program.language, checker.program.files, checker.flags) == ("python3", (), ())
    assert checker.limits == Limits(cpu_s=60.0, memory_bytes=2048 * MIB)
    assert [test.input for test in suite.tests] == [b"1\n", b"1000\n", b"617\n"]


def test_constants_stand_in_validators_and_statements(problems: dict[str, ProblemRecord]) -> None:
    divisors = problems["divisors"]
    assert "from 1 to 100, each once" in divisors.statement
    checker = suite_of(divisors).checker
    assert checker is not None
    assert 'MOST = int("100")' in checker["program"]["source"]
    assert checker["limits"]["output_bytes"] == MIB


LEGACY = "name: A\nvalidation: custom\n"
MODERN = "name: A\nproblem_format_version: 2025-09\n"
V = "output_validators__"


@pytest.mark.parametrize(
    ("yaml", "files", "language", "beside"),
    [
        (LEGACY, {f"{V}v__v.cc": "", f"{V}v__lib__a.h": "a"}, "cpp20", {"lib/a.h": "a"}),
        (LEGACY, {f"{V}v.cpp": "", f"{V}testlib.h": "t"}, "cpp20", {"testlib.h": "t"}),
        (LEGACY, {f"{V}v.C": ""}, "cpp20", {}),
        (LEGACY, {f"{V}v.c": "", f"{V}v": b"\x7fELF\xff"}, "c", {}),
        (LEGACY, {f"{V}v__V.java": ""}, "java", {}),
        (LEGACY, {f"{V}v__v.py": "#!/usr/bin/env python3\n", f"{V}v__.hidden.py": ""}, "python3", {}),
        (LEGACY, {f"{V}v__a.py": "a", f"{V}v__main.py": ""}, "python3", {"a.py": "a"}),
        (MODERN, {"output_validator__v.py": ""}, "python3", {}),
        (MODERN, {"output_validator__v__v.cpp": ""}, "cpp20", {}),
        (MODERN, {"output_validator__v.cpp": "", "output_validator__v__a.h": "h"}, "cpp20", {"v/a.h": "h"}),
    ],
)
def test_where_a_validator_stands(
    tmp_path: Path, yaml: str, files: dict[str, Any], language: str, beside: dict[str, str]
) -> None:
    problem = read("kattis", package(tmp_path, yaml, **files)).one
    assert problem.flags == ()
    checker = suite_of(problem).checker
    assert checker is not None
    assert (checker["program"]["language"], checker["program"]["files"]) == (language, beside)


def test_a_python_folder_is_started_by_its_main(tmp_path: Path) -> None:
    folder = package(tmp_path, MODERN, output_validator__a="")
    for name in ("__init__", "__main__", "tools"):
        (folder / "output_validator" / f"{name}.py").write_text(f"# {name}\n")
    checker = suite_of(read("kattis", folder).one).checker
    assert checker is not None
    assert checker["program"]["source"] == "# __main__\n"
    assert checker["program"]["files"] == {"__init__.py": "# __init__\n", "a": "", "tools.py": "# tools\n"}


@pytest.mark.parametrize(
    ("yaml", "files", "says"),
    [
        (LEGACY, {}, "is not in the package"),
        (LEGACY, {f"{V}v__v.cc": "", f"{V}v__build": ""}, "is built by a script of its own (build)"),
        (MODERN, {"output_validator__run": ""}, "is built by a script of its own (run)"),
        (LEGACY, {f"{V}v.kt": ""}, "is in no language that the sandbox has (v.kt)"),
        (LEGACY, {f"{V}v.py": "#!/usr/bin/python2\n"}, "is in no language that the sandbox has (v.py)"),
        (LEGACY, {f"{V}v.py2": ""}, "is in no language that the sandbox has (v.py2)"),
        (LEGACY, {f"{V}.keep": ""}, "is in no language that the sandbox has (it is empty)"),
        (LEGACY, {f"{V}a.py": "", f"{V}b.cc": ""}, "is not one but several, which must all accept"),
        (LEGACY, {f"{V}a__a.cc": "", f"{V}b__b.cc": ""}, "is not one but several, which must all accept"),
        (LEGACY, {f"{V}a__a.cc": "", f"{V}a__b.py": ""}, "is in several languages (a.cc, b.py)"),
        (LEGACY, {f"{V}a__a.cc": "", f"{V}a__b.cc": ""}, "has several source files"),
        (LEGACY, {f"{V}v.cc": b"\xff"}, "cannot be read: v.cc is not UTF-8 text"),
        (LEGACY, {f"{V}v__v.cc": "", **{f"{V}v__{n}.h": "" for n in range(41)}}, "has more beside it than 40 files"),
        (LEGACY, {f"{V}v__v.cc": "", f"{V}v__a.h": "a" * (8 * MIB + 1)}, "has more beside it than 40 files or 8 MiB"),
    ],
)
def test_validators_that_cannot_be_run_are_flagged(tmp_path: Path, yaml: str, files: dict[str, Any], says: str) -> None:
    flags = flags_of(package(tmp_path, yaml, **files))
    assert list(flags) == ["custom_validator"]
    assert says in flags["custom_validator"]


def test_a_validator_that_is_a_link_out_of_the_package_is_not_read(tmp_path: Path) -> None:
    folder = package(tmp_path, LEGACY, **{f"{V}v__v.cc": '#include "shared.h"\n'})
    (tmp_path / "shared.h").write_text("not the package's\n")
    (folder / "output_validators" / "v" / "shared.h").symlink_to(tmp_path / "shared.h")
    reason = "its own output validator cannot be read: shared.h is a link out of the package"
    assert flags_of(folder) == {"custom_validator": reason}


def test_the_default_validator_judges_where_the_package_says_so(tmp_path: Path) -> None:
    suite = suite_of(read("kattis", package(tmp_path, "name: A\n", **{f"{V}v.py": ""})).one)
    assert (suite.checker, suite.comparison["case_sensitive"]) == (None, False)
