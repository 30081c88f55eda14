"""C++20 as GCC compiles it."""

from sandbox.languages import _gnu

LANGUAGE = _gnu.language("cpp20", "g++", "gnu++20", "cpp", _gnu.CPP_SELF_TEST, suffixes=(".cpp", ".cc", ".cxx", ".c++"))
