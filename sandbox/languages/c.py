"""C17 as GCC compiles it, with the mathematics library."""

from sandbox.languages import _gnu

LANGUAGE = _gnu.language("c", "gcc", "c", "gnu17", _gnu.C_SELF_TEST, ("-lm",))
