"""Levels of isolation: what keeps tests of one jail apart, from what the agent found to work there."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sandbox.agent.wire import Hello
from sandbox.errors import NotIsolated


@dataclass(frozen=True)
class Level:
    """A level: its name, the layers that it rests on in words, and whether a jail serves no more than one solution."""

    name: str
    layers: tuple[str, ...]
    renew_each_solution: bool

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {**asdict(self), "layers": list(self.layers)}


def level_of(hello: Hello, kernel: str = "") -> Level:
    """The level of a jail whose agent said ``hello``; ``kernel`` names a kernel of the jail's own, in user space.

    Without Landlock only the user of a test keeps its files from the next one, so that a place which every user may
    write, and which the sweep does not know, would carry on from solution to solution: a new jail for each. In a kernel
    of its own a jail has no such place. Raises ``NotIsolated`` when too little works.
    """
    if not hello.seccomp:
        raise NotIsolated("this kernel or container gives no seccomp filter", "use a kernel with CONFIG_SECCOMP_FILTER")
    if not (hello.user_switch or hello.landlock_abi):
        raise NotIsolated(
            "this jail can neither switch users nor use Landlock, so tests could see each other's files",
            "use --executor docker, or a kernel with Landlock (5.13 or later)",
        )
    layers = [f"kernel of its own ({kernel})"] if kernel else []
    layers += ["a user for each test"] if hello.user_switch else []
    layers += [f"Landlock (ABI {hello.landlock_abi})"] if hello.landlock_abi else []
    layers.append("seccomp filter")
    name = _NAMES[hello.user_switch, hello.landlock_abi > 0]
    return Level(kernel.lower() or name, tuple(layers), name == _NO_LANDLOCK and not kernel)


_NO_LANDLOCK = "no-landlock"
_NAMES = {(True, True): "full", (False, True): "one-user", (True, False): _NO_LANDLOCK}
