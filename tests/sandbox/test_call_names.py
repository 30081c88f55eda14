"""The names that call-based programs find without importing them."""

from __future__ import annotations

import sys
import types

import pytest

from sandbox.agent import calls

SORTED = {"SortedList", "SortedDict", "SortedSet"}


def test_sorted_containers_are_at_hand_where_the_package_is(monkeypatch: pytest.MonkeyPatch) -> None:
    package = types.ModuleType("sortedcontainers")
    package.__dict__.update(SortedList=list, SortedDict=dict, SortedSet=set, SortedKeyList=None)
    monkeypatch.setitem(sys.modules, "sortedcontainers", package)
    names = calls.prelude()
    assert [names[name] for name in sorted(SORTED)] == [dict, list, set]
    assert "SortedKeyList" not in names


def test_without_the_package_the_other_names_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sortedcontainers", None)
    names = calls.prelude()
    assert not SORTED & names.keys()
    assert {"List", "Counter", "heapq", "gcd", "ListNode", "TreeNode"} <= names.keys()
