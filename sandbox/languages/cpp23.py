"""C++23 as GCC compiles it."""

from sandbox.languages import _gnu

LANGUAGE = _gnu.language("cpp23", "g++", "gnu++23", "cpp", _gnu.CPP_SELF_TEST)
