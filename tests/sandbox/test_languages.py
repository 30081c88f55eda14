"""The languages that a jail has: self-tests, what programs may count on, what hostile ones get, and the compilers."""

from __future__ import annotations

import os
import re
import resource
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from sandbox import Judge, Limits, Program, SandboxError, Suite, Test, Verdict, compiling, languages, memory_files
from sandbox.agent import wire
from sandbox.compiling import CompileFailure, ProductCache
from sandbox.errors import SandboxUnavailable
from sandbox.languages import Build, Language, Run
from sandbox.programs import MIB
from tests.sandbox import jails
from tests.sandbox.case_files import JudgeCase, judge_cases
from tests.sandbox.test_hostile import AFTERWARDS, PLAIN_SUITE, assert_nothing_left

INCREMENT = Suite((Test("1", b"41\n", b"42\n"), Test("2", b"-1\n", b"0\n")))


@pytest.fixture(scope="module")
def lone_judge(executor: str) -> Iterator[Judge]:
    """A judge with one worker, so that what follows a program is judged where it was."""
    with Judge(executor, jobs=1) as judge:
        yield judge


def require(judge: Judge, language: str) -> None:
    if language not in judge.languages:
        pytest.skip(f"the {judge.environment.executor} jails here have no {language}")


@pytest.mark.parametrize("language", languages.names())
def test_a_language_passes_its_self_test(lone_judge: Judge, language: str) -> None:
    require(lone_judge, language)
    outcome = lone_judge.judge(Program(languages.find(language).self_test, language), INCREMENT)
    assert outcome.verdict is Verdict.ACCEPTED, outcome
    assert len(outcome.tests) == 2
    wrong = replace(INCREMENT, tests=(Test("1", b"41\n", b"43\n"),))
    assert (
        lone_judge.judge(Program(languages.find(language).self_test, language), wrong).verdict is Verdict.WRONG_ANSWER
    )


@pytest.mark.parametrize("case", judge_cases("languages"))
def test_a_program_gets_its_verdict(lone_judge: Judge, case: JudgeCase) -> None:
    require(lone_judge, case.program.language)
    outcome = lone_judge.judge(case.program, case.suite)
    assert outcome.verdict in case.verdicts, outcome
    assert case.detail_contains in outcome.detail


@pytest.mark.parametrize("case", judge_cases("hostile_languages"))
def test_a_hostile_program_harms_nobody(lone_judge: Judge, case: JudgeCase) -> None:
    require(lone_judge, case.program.language)
    outcome = lone_judge.judge(case.program, case.suite)
    following = lone_judge.judge(AFTERWARDS, PLAIN_SUITE)
    assert outcome.verdict in case.verdicts, outcome
    assert case.detail_contains in outcome.detail
    assert "root:" not in outcome.detail
    assert following.verdict is Verdict.ACCEPTED, following
    assert_nothing_left(lone_judge)


# Each of 800 constants takes about a second to work out, which is below all of the compiler's own limits.
HOUR_OF_WORK = """
constexpr unsigned work(unsigned n) {
    for (unsigned i = 0; i < 5000000; i++)
        n = n * 3 + i;
    return n;
}
template <unsigned n> struct All { static constexpr unsigned value = work(n) + All<n - 1>::value; };
template <> struct All<0> { static constexpr unsigned value = 0; };
int main() { return All<800>::value; }
"""


def test_a_compiler_is_ended_when_its_time_is_up(lone_judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    require(lone_judge, "cpp20")
    limits = Limits(cpu_s=1.0, memory_bytes=1024 * MIB, output_bytes=MIB)
    monkeypatch.setattr(compiling, "COMPILE_LIMITS", limits)
    outcome = lone_judge.judge(Program(HOUR_OF_WORK, "cpp20"), PLAIN_SUITE)
    assert outcome.verdict is Verdict.COMPILE_ERROR, outcome
    assert "ended" in outcome.detail or "CPU time limit" in outcome.detail
    facts = outcome.tests[0].facts
    assert facts is not None
    assert facts.limits == limits
    assert lone_judge.judge(AFTERWARDS, PLAIN_SUITE).verdict is Verdict.ACCEPTED
    assert_nothing_left(lone_judge)


def shell_language(script: str) -> Language:
    """A language whose compiler is a shell script that is to leave ``main``."""
    build = Build(
        file_name=lambda source: "main.sh",
        command=lambda file_name, source: ("/bin/sh", "-c", script),
        product=lambda source: "main",
        variables={"PATH": "/usr/bin:/bin"},
    )
    return Language(name="shell", self_test="", profile="", build=build, run=Run())


def in_jail(judge: Judge) -> compiling.RunRequest:
    """What has a request carried out in the judge's jail, which must be as before after each."""
    (jail,) = jails.running_jails(judge)

    def run(request: wire.Request, fds: list[int]) -> wire.Reply:
        reply = jail.run(request, fds)
        assert not reply.leftover
        return reply

    return run


def built(judge: Judge, script: str) -> bytes:
    """What comes of a build by this script."""
    cache = ProductCache()
    fd = compiling.build(in_jail(judge), shell_language(script), Program("source", "shell"), cache)
    try:
        return os.pread(fd, MIB, 0)
    finally:
        os.close(fd)
        cache.close()


@pytest.mark.parametrize(
    "script",
    [
        "ln -s /etc/passwd main",
        "ln -s main.sh main",
        "mkfifo main",
        "mkdir main",
        "cp main.sh main; exit 1",
        "cp main.sh main; kill -9 $$",
        "true",
        ": > main",
    ],
)
def test_what_is_no_file_is_no_product(lone_judge: Judge, script: str) -> None:
    with pytest.raises(CompileFailure):
        built(lone_judge, script)
    assert lone_judge.judge(AFTERWARDS, PLAIN_SUITE).verdict is Verdict.ACCEPTED
    assert_nothing_left(lone_judge)


@pytest.mark.parametrize(
    "script",
    [
        "cp main.sh main; (sleep 1000; touch late) & :",
        "cp main.sh main; (trap '' TERM HUP; (sleep 1000 & sleep 1000) & sleep 1000) & :",
        "cp main.sh main; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do sleep 1000 & done",
        "cp main.sh main; mkdir -p a/b/c; touch a/b/c/d; chmod 0 a/b a",
    ],
)
def test_what_a_compiler_leaves_is_gone_before_the_program_runs(lone_judge: Judge, script: str) -> None:
    assert built(lone_judge, script) == b"source"
    assert_nothing_left(lone_judge)
    assert lone_judge.judge(AFTERWARDS, PLAIN_SUITE).verdict is Verdict.ACCEPTED


def test_a_program_is_compiled_once(lone_judge: Judge) -> None:
    require(lone_judge, "c")
    program = Program(languages.find("c").self_test + "/* compiled once */", "c")
    requests = []
    carry_out = in_jail(lone_judge)

    def run(request: wire.Request, fds: list[int]) -> wire.Reply:
        requests.append(request)
        return carry_out(request, fds)

    cache = ProductCache()
    for _ in range(3):
        os.close(compiling.build(run, languages.find("c"), program, cache))
    assert len(requests) == 1
    os.close(compiling.build(run, languages.find("c"), Program(program.source + " ", "c"), cache))
    assert len(requests) == 2
    cache.close()


def test_products_beyond_the_limit_are_let_go() -> None:
    cache = ProductCache(limit_bytes=100)
    fds = [memory_files.sealed(bytes(40)) for _ in range(3)]
    for key, fd in zip((b"a", b"b", b"c"), fds, strict=True):
        cache.put(key, fd)
    kept = [cache.get(key) for key in (b"a", b"b", b"c")]
    assert [fd is not None for fd in kept] == [False, True, True]
    cache.close()
    for open_fd in (*fds, *(fd for fd in kept if fd is not None)):
        os.close(open_fd)


@pytest.mark.parametrize("part", ["`", "/*", "/", "'", '"', "\\", "`\\", "//\n", "import\n", "require ", "a`'\"/*"])
def test_no_source_makes_the_host_work_longer_than_its_length_asks_for(part: str) -> None:
    build = languages.find("javascript").build
    assert build is not None
    started = time.process_time()
    assert build.file_name("import x\n" + part * (2 * MIB // len(part))).startswith("main.")
    assert time.process_time() - started < 2


def test_products_are_let_go_before_descriptors_run_out() -> None:
    """Each takes one, however small it is; a process may have 256 on some systems."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    fd = memory_files.sealed(b"x")
    open_before = len(os.listdir("/proc/self/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (256 + open_before, hard))
    try:
        cache = ProductCache()
        for number in range(1000):
            cache.put(b"%d" % number, fd)
        assert 8 <= len(os.listdir("/proc/self/fd")) - open_before <= 64 + open_before // 8
        newest = cache.get(b"999")
        assert newest is not None
        os.close(newest)
        assert cache.get(b"0") is None
        cache.close()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        os.close(fd)


def test_that_no_descriptor_is_left_is_said_with_what_to_do() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    fd = memory_files.sealed(b"x")
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        for needs_one in (memory_files.empty, lambda: memory_files.reader(fd), lambda: memory_files.duplicate(fd)):
            with pytest.raises(SandboxUnavailable, match="no descriptor is left") as raised:
                needs_one()
            assert raised.value.hint == "raise the limit (ulimit -n)"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        os.close(fd)


@pytest.mark.docker
@pytest.mark.full
def test_the_full_image_has_every_language() -> None:
    with Judge("docker", jobs=1, image="full") as judge:
        assert judge.languages == languages.names()


def test_versions_are_in_the_environment(lone_judge: Judge) -> None:
    found = lone_judge.environment.details["languages"]
    assert set(found) == set(lone_judge.languages)
    assert all(re.search(r"\d+\.\d+", language["version"]) for language in found.values()), found


def test_a_language_that_the_jail_lacks_is_named(lone_judge: Judge) -> None:
    absent = sorted(set(languages.names()) - set(lone_judge.languages))
    if not absent:
        pytest.skip("all languages are here")
    with pytest.raises(SandboxError, match=absent[0]):
        lone_judge.judge(Program("", absent[0]), PLAIN_SUITE)
