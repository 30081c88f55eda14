"""Python 3 as CPython runs it, with what packages the image has."""

from sandbox.languages import Language

LANGUAGE = Language(
    name="python3",
    self_test="print(int(input()) + 1)\n",
    suffixes=(".py",),
    profile=(
        "CPython, its standard library and the packages that the image has; PYTHONHASHSEED=0, LANG=C.UTF-8, TZ=UTC; "
        "no limit on the digits of an integer; 512 MiB of stack; threads but no further process"
    ),
)
