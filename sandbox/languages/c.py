"""C17 as GCC compiles it, with the mathematics library."""

from sandbox.languages import _gnu

LANGUAGE = _gnu.language("c", "gcc", "gnu17", "c", _gnu.C_SELF_TEST, libraries=("-lm",), suffixes=(".c",))
