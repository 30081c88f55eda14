"""C++20 as GCC compiles it."""

from sandbox.languages import _gnu

LANGUAGE = _gnu.language("cpp20", "g++", "cpp", "gnu++20", _gnu.CPP_SELF_TEST, ())
