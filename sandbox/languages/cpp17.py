"""C++17 as GCC compiles it."""

from sandbox.languages import _gnu

LANGUAGE = _gnu.language("cpp17", "g++", "gnu++17", "cpp", _gnu.CPP_SELF_TEST)
