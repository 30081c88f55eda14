"""Which packages a program needs, told from its source."""

from __future__ import annotations

import pytest

from sandbox.requirements import packages_of


@pytest.mark.parametrize(
    ("source", "called", "packages"),
    [
        ("import numpy as np\n", False, ("numpy",)),
        ("from numpy.linalg import det\n", False, ("numpy",)),
        ("import sys, scipy.sparse as s, heapq\n", False, ("scipy",)),
        ("def f():\n    from sortedcontainers import SortedList\n", False, ("sortedcontainers",)),
        ("try:\n\timport sympy\nexcept ImportError:\n    pass\n", False, ("sympy",)),
        ("from sympy import primerange; import numpy\n", False, ("sympy",)),
        ("import mpmath;import numpy\n", False, ("mpmath",)),
        ("import numpydoc\nfrom collections import Counter\nfrom . import numpy\n", False, ()),
        ("x = 'numpy'  # import numpy\n", False, ()),
        ("class Solution:\n    def f(self, a):\n        return SortedList(a)\n", True, ("sortedcontainers",)),
        ("class SortedLists: pass\n", True, ()),
        ("print(SortedList())\n", False, ()),
        ("", False, ()),
    ],
)
def test_packages_are_those_that_are_imported(source: str, called: bool, packages: tuple[str, ...]) -> None:
    assert packages_of(source, called=called) == packages
