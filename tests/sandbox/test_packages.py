"""Third-party packages: those that an image has and that are meant, and no other; and which image a judge takes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import Judge, Limits, Program, SandboxUnavailable, Suite, Test, Verdict
from sandbox.agent.packages import PACKAGES, PackageFinder
from sandbox.docker_jail import IMAGES, connect_daemon, image_id
from sandbox.programs import MIB
from sandbox.requirements import PACKAGES as REQUIRED_PACKAGES

SUITE = Suite((Test("1", b"1 2\n", b"3\n"),), limits=Limits(cpu_s=10.0, memory_bytes=512 * MIB))
MODULES = ("numpy", "scipy.optimize", "sympy", "mpmath", "sortedcontainers")


def importing(module: str) -> Program:
    """A program that imports a module by a name that its text does not show, and finds no thread of it running."""
    return Program(
        f"import importlib, threading\nimportlib.import_module({module[:2]!r} + {module[2:]!r})\n"
        "assert threading.active_count() == 1 and len(__import__('os').sched_getaffinity(0)) > 0\n"
        "print(sum(map(int, input().split())))\n"
    )


def image(name: str) -> str | None:
    """The id of one of the images."""
    client = connect_daemon()
    try:
        return image_id(client, IMAGES[name])
    finally:
        client.close()


@pytest.fixture(scope="module")
def full() -> Iterator[Judge]:
    if image("full") is None:
        pytest.skip(f"Docker has no image {IMAGES['full']} (make full-image builds it)")
    with Judge("docker", jobs=1, image="full") as judge:
        yield judge


@pytest.fixture(scope="module")
def slim() -> Iterator[Judge]:
    with Judge("docker", jobs=1, image="slim") as judge:
        yield judge


def test_host_and_jail_mean_the_same_packages() -> None:
    assert PACKAGES == REQUIRED_PACKAGES


@pytest.mark.docker
@pytest.mark.parametrize("module", MODULES)
def test_the_full_image_has_the_packages(full: Judge, module: str) -> None:
    assert full.judge(importing(module), SUITE).verdict is Verdict.ACCEPTED


@pytest.mark.docker
def test_the_environment_says_the_versions(full: Judge, slim: Judge) -> None:
    found = full.environment.details["packages"]
    assert set(found) == set(PACKAGES)
    program = Program(f"import numpy\nassert numpy.__version__ == {found['numpy']!r}\nprint(3)\n")
    assert full.judge(program, SUITE).verdict is Verdict.ACCEPTED
    assert slim.environment.details["packages"] == {}
    assert full.environment.digest != slim.environment.digest


@pytest.mark.docker
@pytest.mark.parametrize("module", ["decorator", "gast", "pkg_resources", "ply", "agent", "sandbox"])
def test_no_other_package_can_be_imported(full: Judge, module: str) -> None:
    outcome = full.judge(importing(module), SUITE)
    assert outcome.verdict is Verdict.RUNTIME_ERROR
    assert f"ModuleNotFoundError: No module named '{module}'" in outcome.detail


@pytest.mark.docker
@pytest.mark.parametrize("module", MODULES)
def test_the_slim_image_has_none(slim: Judge, module: str) -> None:
    outcome = slim.judge(importing(module), SUITE)
    assert outcome.verdict is Verdict.RUNTIME_ERROR
    assert "ModuleNotFoundError" in outcome.detail


@pytest.mark.docker
def test_the_path_of_a_program_is_the_same_with_them(full: Judge, slim: Judge) -> None:
    program = Program("import sys\nassert not [p for p in sys.path if 'packages' in p], sys.path\nprint(3)\n")
    for judge in (full, slim):
        assert judge.judge(program, SUITE).verdict is Verdict.ACCEPTED


@pytest.mark.bubblewrap
def test_a_package_of_the_machine_is_not_there_in_bubblewrap() -> None:
    ask = "import site\nfor folder in site.getsitepackages():\n    print(folder)"
    folders = subprocess.run(["/usr/bin/python3", "-c", ask], capture_output=True, text=True, check=True).stdout.split()
    there = [init.parent.name for folder in folders for init in Path(folder).glob("*/__init__.py")]
    others = sorted(set(there) - set(PACKAGES) - sys.stdlib_module_names)
    if not others:
        pytest.skip("the system's own Python has no package beside the standard library")
    with Judge("bubblewrap", jobs=1) as judge:
        outcome = judge.judge(importing(others[0]), SUITE)
        assert outcome.verdict is Verdict.RUNTIME_ERROR
        assert "ModuleNotFoundError" in outcome.detail


def test_the_finder_finds_what_it_is_for_and_no_more(tmp_path: Path) -> None:
    for name in ("numpy", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    finder = PackageFinder([str(tmp_path)])
    found = finder.find_spec("numpy")
    assert found is not None
    assert found.origin == str(tmp_path / "numpy" / "__init__.py")
    assert finder.find_spec("other") is None
    assert finder.find_spec("sympy") is None
    assert finder.find_spec("numpy", [str(tmp_path)]) is None  # a part of a package that is called so


# --- which image -------------------------------------------------------------------------------------------------


@pytest.mark.docker
def test_the_image_is_the_one_that_is_named(slim: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    assert slim.environment.details["image"] == image("slim")
    monkeypatch.setenv("LIVE_SANDBOX_IMAGE", IMAGES["slim"])
    with Judge("docker", jobs=1) as judge:
        assert judge.environment.digest == slim.environment.digest


@pytest.mark.docker
def test_the_full_image_is_taken_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LIVE_SANDBOX_IMAGE", raising=False)
    with Judge("docker", jobs=1) as judge:
        assert judge.environment.details["image"] == (image("full") or image("slim"))
    monkeypatch.setitem(IMAGES, "full", "livecut-nowhere:0")
    with Judge("docker", jobs=1) as judge:
        assert judge.environment.details["image"] == image("slim")


@pytest.mark.bubblewrap
def test_bubblewrap_refuses_an_image() -> None:
    with pytest.raises(SandboxUnavailable, match="bubblewrap runs programs in no image") as caught:
        Judge("bubblewrap", image="full")
    assert "--executor docker" in caught.value.hint
