"""How fast a run is asked for and stored, in how much memory, and what a kill in the middle costs.

    python -m benchmarks.generation [--problems 1000] [--samples 10] [--concurrency 8,32]

`live generate` as a process of its own asks the local endpoint of the tests, which is another process on the same
machine and answers at once, so that all time is ours or the server's. For each number of workers: a run that is killed
(SIGKILL) in the middle and started again; what was stored must not be asked for again.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from db.completions import list_runs
from db.engine import open_store
from db.problems import save_problem
from db.records import DateClaim, IoKind, Precision, ProblemKey, ProblemRecord, SuiteRecord, TestCaseRecord, TestOrigin
from db.responses import places_answered

ROOT = Path(__file__).parent.parent
RELEASED = datetime(2025, 6, 1, tzinfo=UTC)
_STATEMENT = "There are N integers in a row, and Q questions about them, each of one of two kinds. " * 18
_MODEL = '[[model]]\nname = "bench-model"\nprovider = "bench"\nrelease_date = "2025-01-01"\n'


@dataclass(frozen=True)
class Timing:
    """One process: wall and processor time, the most memory that it had, how it ended."""

    seconds: float
    processor_s: float
    peak_mib: float
    code: int


def fill(store_path: Path, count: int) -> None:
    """A store with so many invented problems, their statements of a usual length (1.5 kB)."""
    with open_store(str(store_path)) as store, store.write() as session:
        for number in range(count):
            record = ProblemRecord(
                ProblemKey("bench", f"b{number:05}"),
                f"Problem {number}",
                (DateClaim("2025-06-01", RELEASED, Precision.DAY, "bench"),),
                "bench",
                statement=f"{_STATEMENT}\n\nThis one has the number {number}.\n",
                language="en",
                suite=SuiteRecord((TestCaseRecord("1", b"1 2\n", b"3\n", TestOrigin.SAMPLE),), IoKind.STDIN),
            )
            save_problem(session, record, now=RELEASED)


@contextlib.contextmanager
def local_server() -> Iterator[str]:
    """The local endpoint in a process of its own; its base URL."""
    command = [sys.executable, "-m", "tests.eval.generate.server"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def asked(base_url: str) -> Counter[tuple[str, str]]:
    """How often the server was asked each question, by prompt and seed."""
    import httpx

    rows: list[dict[str, Any]] = httpx.get(f"{base_url}/asked", trust_env=False, timeout=60).json()
    return Counter({(row["prompt"], row["seed"]): row["n"] for row in rows})


def generate(folder: Path, base_url: str, samples: int, concurrency: int, kill_at: int | None = None) -> Timing:
    """Run the command; ``kill_at`` kills it once so many answers are stored."""
    command = [
        *(sys.executable, "-m", "live", "--db", str(folder / "store.db"), "--models", str(folder / "models.toml")),
        *("--quiet", "generate", "bench-model", "--after-cutoff", "--base-url", base_url, "--seed", "0"),
        *("--n", str(samples), "--concurrency", str(concurrency)),
    ]
    environment = {**os.environ, "HOME": str(folder), "PYTHONPATH": str(ROOT)}
    started = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, env=environment)
    peak_mib = processor_s = 0.0
    while process.poll() is None:
        with contextlib.suppress(OSError, StopIteration):
            peak_mib = max(peak_mib, _peak_mib(process.pid))
            processor_s = _processor_s(process.pid)
        if kill_at is not None and n_stored(folder) >= kill_at:
            process.kill()
        time.sleep(0.1)
    return Timing(time.monotonic() - started, processor_s, peak_mib, process.returncode)


def n_stored(folder: Path) -> int:
    """How many answers the store has."""
    with open_store(str(folder / "store.db"), reading=True) as store, store.read() as session:
        return sum(len(places_answered(session, run.run_id)) for run in list_runs(session))


def _peak_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


def _processor_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    return sum(int(field) for field in fields[11:13]) / os.sysconf("SC_CLK_TCK")


def measure(problems: int, samples: int, concurrency: int) -> None:
    """One run to its end, and one that is killed in the middle."""
    total = problems * samples
    with tempfile.TemporaryDirectory() as name, local_server() as base_url:
        folder = Path(name)
        (folder / "models.toml").write_text(_MODEL)
        fill(folder / "store.db", problems)
        whole = generate(folder, base_url, samples, concurrency)
        size_mib = (folder / "store.db").stat().st_size / 2**20
        print(
            f"{concurrency:3} workers: {n_stored(folder)} of {total} answers in {whole.seconds:.1f} s, "
            f"{total / whole.seconds:.0f} requests/s, {whole.processor_s / total * 1000:.1f} ms of processor each, "
            f"peak memory {whole.peak_mib:.0f} MiB, store {size_mib:.0f} MiB, exit {whole.code}",
            flush=True,
        )
    with tempfile.TemporaryDirectory() as name, local_server() as base_url:
        folder = Path(name)
        (folder / "models.toml").write_text(_MODEL)
        fill(folder / "store.db", problems)
        killed = generate(folder, base_url, samples, concurrency, kill_at=total // 2)
        before, n_kept = asked(base_url), n_stored(folder)
        again = generate(folder, base_url, samples, concurrency)
        after = asked(base_url)
        print(
            f"    killed after {killed.seconds:.1f} s: {before.total()} asked, {n_kept} stored; started again: "
            f"{n_stored(folder)} of {total} in {again.seconds:.1f} s more, asked twice "
            f"{sum(n > 1 for n in after.values())} (those that were on their way: {before.total() - n_kept}), "
            f"never asked {total - len(after)}",
            flush=True,
        )


def main() -> None:
    """Run it and print lines of figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--problems", type=int, default=1000)
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--concurrency", default="8,32")
    options = parser.parse_args()
    print(f"{options.problems} problems, {options.samples} samples each; load {os.getloadavg()[0]:.1f}")
    for concurrency in options.concurrency.split(","):
        measure(options.problems, options.samples, int(concurrency))


if __name__ == "__main__":
    main()
