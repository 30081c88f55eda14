"""How languages are found: by what others call them, by a file's ending, and a Java source's own classes."""

from __future__ import annotations

import time
import tomllib
from typing import Any

import pytest

from sandbox import languages
from sandbox.languages import _java_source
from tests.sandbox.case_files import CASES


def _cases(name: str) -> dict[str, Any]:
    return tomllib.loads((CASES / f"{name}.toml").read_text(encoding="utf-8"))


NAMES = [
    pytest.param(name, None if language == "none" else language, id=f"{language}: {name!r}")
    for language, names in _cases("language_names").items()
    for name in names
]


@pytest.mark.parametrize(("name", "language"), NAMES)
def test_a_language_is_known_by_what_others_call_it(name: str, language: str | None) -> None:
    assert languages.canonical(name) == language


def test_every_language_is_known_by_its_own_name() -> None:
    assert {languages.canonical(name): name for name in languages.names()} == {n: n for n in languages.names()}
    assert set(_cases("language_names")) - {"none"} == set(languages.names())


@pytest.mark.parametrize("name", ["c" * 10**6, "c++" * 10**5, "java " + "1" * 10**6, "python (" * 10**5])
def test_a_long_name_costs_nothing(name: str) -> None:
    started = time.process_time()
    assert languages.canonical(name) is None
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize(
    ("suffix", "language"),
    [
        (".py", "python3"),
        (".cpp", "cpp20"),
        (".cc", "cpp20"),
        (".c", "c"),
        (".java", "java"),
        (".JAVA", "java"),
        (".js", "javascript"),
        (".go", "go"),
        (".rs", "rust"),
        (".cs", None),
        ("", None),
        (".", None),
    ],
)
def test_a_file_s_ending_names_one_language(suffix: str, language: str | None) -> None:
    assert languages.by_suffix(suffix) == language


def test_no_ending_is_claimed_twice() -> None:
    claimed = [suffix for name in languages.names() for suffix in languages.find(name).suffixes]
    assert len(claimed) == len(set(claimed))


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in _cases("java_sources")["case"]])
def test_a_java_source_s_file_and_main_class(case: dict[str, str]) -> None:
    found = _java_source.read(case["source"])
    assert (found.file_name, found.main_class) == (case["file_name"], case["main_class"])


@pytest.mark.parametrize(
    "source",
    [
        "/*" * 10**6,
        '"""' * 10**6,
        '"\\' * 10**6,
        "'" * 10**6,
        "class " * 10**6,
        "class A {" * 10**5 + "void main(" * 10**6,
        "class A { " + "void main( " * 10**6,
        "{" * 10**6,
        "package " + "a." * 10**6,
        "x" * 10**7,
    ],
)
def test_a_hostile_java_source_is_read_in_little_time(source: str) -> None:
    started = time.process_time()
    found = _java_source.read(source)
    assert time.process_time() - started < 5
    assert len(found.file_name.encode()) <= 130
    assert len(found.main_class.encode()) <= 130
