"""What most programs do first, done once before any of them is forked, so that they find it done.

The interpreter notes at which type an attribute was found. A note that the zygote has made already costs a test's
process nothing; one that it makes itself costs it a copy of each page of memory that is written to.
"""

from __future__ import annotations

import bisect
import collections
import functools
import heapq
import itertools
import math
import sys

# What is imported for it stays imported: of all modules these are the ones that programs ask for most.
_MODULES = (sys, math, collections, heapq, bisect, itertools, functools)
_EMPTY: tuple[object, ...] = ("", b"", (), [], {}, set(), range(0), collections.deque(), collections.defaultdict(list))
_VALUES = (*_EMPTY, 0, 0.0)
_NOWHERE = "/dev/null"


def rehearse() -> None:
    """Look up every attribute of common types and modules, and use streams of the kind that a program has."""
    with open(_NOWHERE, encoding="utf-8") as given, open(_NOWHERE, "w", encoding="utf-8") as printed:
        for line in given:
            print(line, file=printed)
        print(given.readline(), given.read(), given.buffer.read(), sep="", end="\n", file=printed, flush=True)
        for thing in (*_VALUES, given, given.buffer, printed, printed.buffer, *_MODULES):
            for name in dir(thing):
                getattr(thing, name, None)
