"""What can go wrong in the store, as one tree that is cheap to import.

Exception
├── StoreError             the store itself: one line that says what, ``hint`` says what to do
│   ├── StoreUnavailable   it cannot be opened or read: no such folder, not a store, damaged, no driver, no server
│   │   └── EditionDamaged the bytes of an edition are not those that were frozen
│   ├── StoreTooNew        it was written by a newer version
│   ├── StoreFull          nothing more can be written: disk full, or read-only
│   └── StoreBusy          another process kept it locked for longer than the busy timeout
├── LookupError
│   ├── UnknownProblem     a record names a problem that the store does not hold
│   ├── AmbiguousProblem   a native id without platform fits more than one problem
│   └── UnknownRow         an id that the store does not hold
└── ValueError
    └── CompletionConflict another answer already stands at (run, problem, sample)
"""

from __future__ import annotations

from db.records import ProblemKey


class StoreError(Exception):
    """The store cannot do what was asked. ``message`` and ``hint`` are one line each; nothing was half written."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message, hint)  # All arguments, so that an error can cross to another process.
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message


class StoreUnavailable(StoreError):
    """The store cannot be opened or read."""


class EditionDamaged(StoreUnavailable):
    """The bytes of an edition are not those that were frozen: they do not have its digest."""


class StoreTooNew(StoreError):
    """The store was written by a newer version of this program."""


class StoreFull(StoreError):
    """Nothing more can be written: the disk is full or the store is read-only."""


class StoreBusy(StoreError):
    """Another process kept the store locked for longer than the busy timeout."""


class UnknownProblem(LookupError):
    """The store holds no problem with this ``key``."""

    hint = "import the problem first"

    def __init__(self, key: ProblemKey) -> None:
        super().__init__(key)
        self.key = key

    def __str__(self) -> str:
        return f"no problem {self.key} in the store"


class AmbiguousProblem(LookupError):
    """More than one platform has a problem with this native id; ``keys`` are all of them."""

    hint = "name the platform as well"

    def __init__(self, native_id: str, keys: tuple[ProblemKey, ...]) -> None:
        super().__init__(native_id, keys)
        self.native_id = native_id
        self.keys = keys

    def __str__(self) -> str:
        return f"problem {self.native_id!r} is on several platforms: {', '.join(map(str, self.keys))}"


class UnknownRow(LookupError):
    """The store holds no row of this kind with this id."""

    def __init__(self, kind: str, wanted: object) -> None:
        super().__init__(kind, wanted)
        self.kind = kind
        self.wanted = wanted

    def __str__(self) -> str:
        return f"no {self.kind} {self.wanted} in the store"


class CompletionConflict(ValueError):
    """A run already holds another answer to this problem at this sample index: neither is thrown away silently.

    ``field`` is what differs: code, language, finish_reason, raw_output, status or rule.
    """

    hint = "give the second set of answers its own label, or number its samples on from the first"

    def __init__(self, run_id: int, key: ProblemKey, sample_index: int, field: str) -> None:
        super().__init__(run_id, key, sample_index, field)
        self.run_id = run_id
        self.key = key
        self.sample_index = sample_index
        self.field = field

    def __str__(self) -> str:
        return f"run {self.run_id} already holds sample {self.sample_index} of {self.key} with other {self.field}"
