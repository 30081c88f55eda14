"""Java as the OpenJDK of the jail compiles and runs it; of the class files one archive is kept."""

from __future__ import annotations

import os

from sandbox.languages import SCRATCH, Build, Language, OutOfMemory, Run, _java_source
from sandbox.programs import MIB, Allowance, Limits

# The folder itself: the names in /usr/bin lead there by way of /etc, which not every jail has.
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
_HOME = f"/usr/lib/jvm/java-17-openjdk-{_MACHINES.get(os.uname().machine, 'unknown')}"
_SETTINGS = ("/etc/java-17-openjdk",)  # where Debian has java.security, without which the compiler does not start

# Measured: a program that reads an integer takes 0.07 s and 37 MiB. One that works for a third of a second takes 0.05 s
# and 30 MiB more for compiling it on the way, larger ones several times that; judges who take wall time have this on
# another core. Beside a full heap compiled code, class data and stacks came to 35 MiB, in deep recursion to twice that.
_ALLOWANCE = Allowance(cpu_extra_s=0.5, memory_extra_bytes=128 * MIB)

# Quick to start rather than quick in the long run; the archive of class data is there in the full image only.
_COMPILER_OPTIONS = (
    "-J-XX:+UseSerialGC -J-XX:TieredStopAtLevel=1 -J-XX:-UsePerfData -J-Xss64m -J-Xmx1024m "
    f"-J-XX:SharedArchiveFile={_HOME}/lib/server/javac.jsa -encoding UTF-8 -nowarn -proc:none -d classes"
)
_ARCHIVE = """\
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as archive:
    for folder, _, names in os.walk("classes"):
        for name in sorted(names):
            path = os.path.join(folder, name)
            archive.write(path, os.path.relpath(path, "classes"))
"""
_BUILD = f'{_HOME}/bin/javac {_COMPILER_OPTIONS} "$1" && exec /usr/bin/python3 -I -S -c "$3" "$2"'

# One processor, so that what the runtime does beside the program depends as little as can be on the machine.
_RUN_OPTIONS = (
    "-XX:+UseSerialGC",
    "-XX:ActiveProcessorCount=1",
    "-XX:-UsePerfData",
    "-XX:+ExitOnOutOfMemoryError",
    "-XX:+DisplayVMOutputToStderr",
)

# What ExitOnOutOfMemoryError does, in the HotSpot sources (debug.cpp).
_OUT_OF_MEMORY = OutOfMemory(3 << 8, b"Terminating due to java.lang.OutOfMemoryError")

_STACK_BYTES = 512 * MIB
_LEAST_HEAP_BYTES = 16 * MIB


def _product(source: str) -> str:
    return f"{_java_source.read(source).main_class}.jar"


def _build_command(file_name: str, source: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", _BUILD, "sh", file_name, _product(source), _ARCHIVE)


def _run_command(product: str, limits: Limits) -> tuple[str, ...]:
    """The heap is as large as the suite's memory limit; so is the stack, as it is in other languages."""
    heap_bytes = max(limits.memory_bytes - _ALLOWANCE.memory_extra_bytes, _LEAST_HEAP_BYTES)
    sizes = (f"-Xmx{heap_bytes // 1024}k", f"-Xss{min(heap_bytes, _STACK_BYTES) // 1024}k")
    return (f"{_HOME}/bin/java", *_RUN_OPTIONS, *sizes, "-cp", f"{SCRATCH}/{product}", product.removesuffix(".jar"))


LANGUAGE = Language(
    name="java",
    self_test="""\
import java.util.Scanner;

public class Increment {
    public static void main(String[] arguments) {
        System.out.println(new Scanner(System.in).nextLong() + 1);
    }
}
""",
    profile=(
        f"OpenJDK, {' '.join(_RUN_OPTIONS)}; heap and stack as large as the memory limit, the stack at most 512 MiB; "
        "any name for the class with main"
    ),
    version=("/bin/sh", "-c", f"test -x {_HOME}/bin/javac && . {_HOME}/release && echo $JAVA_VERSION"),
    suffixes=(".java",),
    allowance=_ALLOWANCE,
    build=Build(
        file_name=lambda source: _java_source.read(source).file_name,
        command=_build_command,
        product=_product,
        reads=_SETTINGS,
        variables={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
    ),
    run=Run(command=_run_command, reads=_SETTINGS, out_of_memory=_OUT_OF_MEMORY),
)
