"""The system-call filter: its program is run here, call by call, as the kernel's interpreter of it would.

Numbers of calls are those of the kernel's tables (arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/
unistd.h); what is returned is as linux/seccomp.h has it.
"""

from __future__ import annotations

import struct

import pytest

from sandbox.agent.seccomp import EXEC, FORK, THREADS, Filter

ALLOW, KILL, EPERM, ENOSYS, ENOTTY = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026, 0x00050019
X86_64, AARCH64, I386 = 0xC000003E, 0xC00000B7, 0x40000003
PID = 4242

# machine: its audit number, and some calls by name.
MACHINES = {
    "x86_64": (
        X86_64,
        {
            "read": 0, "mmap": 9, "prctl": 157, "ioctl": 16, "kill": 62, "tgkill": 234, "fcntl": 72, "clone": 56,
            "fork": 57, "execve": 59, "ptrace": 101, "mount": 165, "socket": 41, "openat": 257, "prlimit64": 302,
            "setuid": 105, "memfd_create": 319, "bpf": 321, "io_uring_setup": 425, "clone3": 435, "unshare": 272,
            "process_vm_readv": 310, "shmget": 29, "keyctl": 250, "wait4": 61, "futex": 202, "personality": 135,
        },
    ),
    "aarch64": (
        AARCH64,
        {
            "read": 63, "mmap": 222, "prctl": 167, "ioctl": 29, "kill": 129, "tgkill": 131, "fcntl": 25, "clone": 220,
            "execve": 221, "ptrace": 117, "mount": 40, "socket": 198, "openat": 56, "prlimit64": 261, "setuid": 146,
            "memfd_create": 279, "bpf": 280, "io_uring_setup": 425, "clone3": 435, "unshare": 97,
            "process_vm_readv": 270, "shmget": 194, "keyctl": 219, "wait4": 260, "futex": 98, "personality": 92,
        },
    ),
}  # fmt: skip
DENIED = (
    "ptrace", "mount", "socket", "setuid", "memfd_create", "bpf", "io_uring_setup", "unshare", "process_vm_readv",
    "shmget", "keyctl", "personality",
)  # fmt: skip


def answer(program: bytes, arch: int, number: int, *arguments: int) -> int:
    """What the filter returns for a call; ``struct seccomp_data`` is what it reads."""
    data = struct.pack("<IIQ6Q", number, arch, 0, *arguments, *(0,) * (6 - len(arguments)))
    instructions = list(struct.iter_unpack("<HBBI", program))
    at = accumulator = 0
    while True:
        code, if_true, if_false, value = instructions[at]
        at += 1
        match code:
            case 0x20:  # BPF_LD | BPF_W | BPF_ABS
                (accumulator,) = struct.unpack_from("<I", data, value)
            case 0x54:  # BPF_ALU | BPF_AND | BPF_K
                accumulator &= value
            case 0x15:  # BPF_JMP | BPF_JEQ | BPF_K
                at += if_true if accumulator == value else if_false
            case 0x35:  # BPF_JMP | BPF_JGE | BPF_K
                at += if_true if accumulator >= value else if_false
            case 0x45:  # BPF_JMP | BPF_JSET | BPF_K
                at += if_true if accumulator & value else if_false
            case 0x06:  # BPF_RET | BPF_K
                return int(value)
            case _:
                raise AssertionError(f"no such instruction: {code:#x}")


class Machine:
    """One architecture: asks the filter of a grade about a call by its name."""

    def __init__(self, name: str) -> None:
        self.arch, self.numbers = MACHINES[name]
        self.programs = {grade: with_pid(Filter(name, grade)) for grade in (THREADS, EXEC, FORK)}

    def asks(self, call: str, *arguments: int, grade: int = THREADS) -> int:
        """What the filter says."""
        return answer(self.programs[grade], self.arch, self.numbers[call], *arguments)


def with_pid(made: Filter) -> bytes:
    """The filter's program for the process ``PID``."""
    program = bytearray(made.program)
    program[made.pid_at : made.pid_at + 4] = PID.to_bytes(4, "little")
    assert len(program) == 8 * made.length
    return bytes(program)


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> Machine:
    """Each architecture in turn."""
    return Machine(str(request.param))


@pytest.mark.parametrize("call", DENIED)
@pytest.mark.parametrize("grade", [THREADS, EXEC, FORK])
def test_a_call_that_is_not_named_is_refused(machine: Machine, call: str, grade: int) -> None:
    assert machine.asks(call, grade=grade) == EPERM


@pytest.mark.parametrize("call", ["read", "openat", "futex"])
@pytest.mark.parametrize("grade", [THREADS, EXEC, FORK])
def test_a_call_that_programs_need_is_allowed(machine: Machine, call: str, grade: int) -> None:
    assert machine.asks(call, grade=grade) == ALLOW


def test_what_each_grade_may_start(machine: Machine) -> None:
    thread, process, new_user_space = 0x003D0F00, 17, 0x10000000 | 17  # clone flags; SIGCHLD
    assert [machine.asks("execve", grade=grade) for grade in (THREADS, EXEC, FORK)] == [EPERM, ALLOW, ALLOW]
    assert [machine.asks("wait4", grade=grade) for grade in (THREADS, EXEC, FORK)] == [EPERM, EPERM, ALLOW]
    assert [machine.asks("clone", thread, grade=grade) for grade in (THREADS, EXEC, FORK)] == [ALLOW] * 3
    assert [machine.asks("clone", process, grade=grade) for grade in (THREADS, EXEC, FORK)] == [EPERM, EPERM, ALLOW]
    assert [machine.asks("clone", new_user_space, grade=grade) for grade in (THREADS, EXEC, FORK)] == [EPERM] * 3
    assert machine.asks("clone3") == ENOSYS, "so that libc falls back to clone, whose flags can be seen"


@pytest.mark.parametrize("call", ["kill", "tgkill", "prlimit64"])
def test_a_process_may_be_addressed_only_by_itself(machine: Machine, call: str) -> None:
    assert machine.asks(call, PID) == ALLOW
    for other in (1, PID + 1, 2**32 - 1, 2**32 - PID):
        assert machine.asks(call, other) == EPERM
    assert machine.asks(call, 0) == (ALLOW if call == "prlimit64" else EPERM)


def test_calls_of_which_an_argument_decides(machine: Machine) -> None:
    isatty, push_a_character, name_a_thread, make_dumpable = 0x5401, 0x5412, 15, 4
    assert machine.asks("ioctl", 0, isatty) == ALLOW
    assert machine.asks("ioctl", 0, push_a_character) == ENOTTY
    assert machine.asks("prctl", name_a_thread) == ALLOW
    assert machine.asks("prctl", make_dumpable) == EPERM
    get_flags, set_owner, set_signal, set_owner_ex = 3, 8, 10, 15
    assert machine.asks("fcntl", 0, get_flags) == ALLOW
    assert [machine.asks("fcntl", 0, command) for command in (set_owner, set_signal, set_owner_ex)] == [EPERM] * 3
    private_anonymous, shared_anonymous, shared_file = 0x22, 0x21, 0x01
    assert machine.asks("mmap", 0, 4096, 3, private_anonymous) == ALLOW
    assert machine.asks("mmap", 0, 4096, 3, shared_file) == ALLOW
    assert machine.asks("mmap", 0, 4096, 3, shared_anonymous) == EPERM


def test_other_ways_into_the_kernel_end_the_process(machine: Machine) -> None:
    for grade in (THREADS, EXEC, FORK):
        assert answer(machine.programs[grade], I386, 1) == KILL
    if machine.arch == X86_64:
        assert answer(machine.programs[THREADS], X86_64, 0x40000000 + 1) == KILL, "x32"
        assert answer(machine.programs[THREADS], X86_64, 2**32 - 1) == KILL


def test_numbers_that_no_kernel_has_yet_are_refused(machine: Machine) -> None:
    assert {answer(machine.programs[THREADS], machine.arch, number) for number in range(500, 2000)} == {EPERM}
