"""C++23 as GCC compiles it."""

from sandbox.languages import _gnu

LANGUAGE = _gnu.language("cpp23", "g++", "cpp", "gnu++23", _gnu.CPP_SELF_TEST, ())
