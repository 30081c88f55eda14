"""Modules that the agent has imported before a test begins: a program must find them as if it had imported them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox import Judge, Program, Suite, Test, Verdict

SUITE = Suite((Test("1", b"1 2\n", b"3\n"),))

# Each prints 3 when all is as in a fresh interpreter.
PROGRAMS = {
    "threading is not there until it is imported": """
import sys
before = "threading" in sys.modules
import threading
print(4 if before else 3)
""",
    "the main thread": """
import threading
main = threading.main_thread()
assert main is threading.current_thread() and main.ident == threading.get_ident()
assert main.native_id == threading.get_native_id()
assert threading.enumerate() == [main] and main.name == "MainThread"
print(3)
""",
    "threading by way of another module": """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(2) as pool:
    print(sum(pool.map(int, input().split())))
""",
    "threading says where it comes from": """
import importlib, threading
assert threading.__spec__.name == "threading" and threading.__spec__.origin.endswith("threading.py")
assert importlib.reload(threading) is threading
thread = threading.Thread(target=lambda: print(3))
thread.start()
""",
    "what runs when a thread is left": """
import threading
threading._register_atexit(print, 3)
threading.Thread(target=lambda: None).start()
""",
    "names are not there without an import": """
import builtins
names = ("collections", "heapq", "bisect", "math", "functools", "itertools", "threading", "typing", "re")
print(3 + sum(hasattr(builtins, name) or name in globals() for name in names))
""",
    "a deep recursion in a thread": """
import sys, threading
sys.setrecursionlimit(200_000)
threading.stack_size(256 * 1024 * 1024)
def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)
threading.Thread(target=lambda: print(depth(100_000) - 99_997)).start()
""",
}

LIBRARY = """
from typing import *
import re, string, copy
numbers: List[int] = [int(number) for number in re.findall("[0-9]+", input())]
print(sum(copy.copy(numbers)), end=string.whitespace[2])
"""
RANDOM = Program("import random\nprint(random.random())\n")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_module_is_as_in_a_fresh_interpreter(judge: Judge, name: str) -> None:
    outcome = judge.judge(Program(PROGRAMS[name]), SUITE)
    assert outcome.verdict is Verdict.ACCEPTED, outcome


def test_random_numbers_are_others_in_each_test(judge: Judge) -> None:
    tests = tuple(Test(str(number), b"", b"none of them\n") for number in range(5))
    outcome = judge.judge(RANDOM, Suite(tests), run_all=True)
    assert len({test.detail for test in outcome.tests}) == 5, outcome
    assert {test.verdict for test in outcome.tests} == {Verdict.WRONG_ANSWER}


def test_a_program_that_imports_the_library_in_passing(judge: Judge) -> None:
    outcome = judge.judge(Program(LIBRARY), SUITE)
    assert outcome.verdict is Verdict.ACCEPTED, outcome


def test_the_first_zygote_has_imported_nothing_that_costs_each_fork(root: Path) -> None:
    asks = "import sys; sys.path.insert(0, 'sandbox'); import agent.main; print(*sys.modules)"
    said = subprocess.run(
        [sys.executable, "-S", "-s", "-c", asks], cwd=root, capture_output=True, text=True, check=True
    )
    assert "agent.zygote" in said.stdout.split()
    assert {"typing", "re", "enum", "socket", "signal", "threading", "dataclasses"} & set(said.stdout.split()) == set()
