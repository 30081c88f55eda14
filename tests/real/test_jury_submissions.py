"""Jury submissions of real contests, in every language that there is: each gets the verdict that the jury expects.

Packages state no time limit: the format's rule sets it from the slowest accepted submission. Ten of the 235 are in
languages that there are not (C#, Haskell, Kotlin): nine are left out, and so is one more in each language that the
jails here lack.
"""

from __future__ import annotations
