"""What finding near-duplicates costs: words, fingerprints, candidates and verdicts for a store full of statements.

    python -m benchmarks.duplicates [--statements 10000] [--data ../shared/data]

Statements are put together from sentences of the shared data where that folder is there, else of the demonstration, so
that they share phrases as real ones do; one in fifty is an earlier one with other line breaks, which has to be found.
Each is a problem in a round of its own, in a new SQLite store.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import resource
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from db.duplicates import DuplicateVerdict
from db.engine import open_store
from db.problems import save_problem
from db.records import ContestRecord, DateClaim, Precision, ProblemKey, ProblemRecord
from ingest.duplicates import update_duplicates
from ingest.fingerprints import FingerprintIndex, fingerprint, plain_words

ROOT = Path(__file__).parent.parent
NOW = datetime(2026, 1, 1, tzinfo=UTC)
ONE_COPY_IN = 50


def sentences(data: Path) -> list[str]:
    """Sentences and lines of real statements, or of the demonstration's."""
    shared = data / "livecodebench" / "problems.jsonl.gz"
    if shared.is_file():
        with gzip.open(shared, "rt", encoding="utf-8") as lines:
            texts = [json.loads(line)["statement"] for line in lines]
    else:
        lines_of_demo = (ROOT / "live" / "demo" / "problems.jsonl").read_text(encoding="utf-8").splitlines()
        texts = [json.loads(line)["statement"] for line in lines_of_demo]
    return [part for text in texts for part in re.split(r"(?<=[.?!])\s+|\n+", text) if len(part) > 20]


def statements(n: int, pool: list[str]) -> Iterator[str]:
    """`n` statements of about the length of real ones, some of them copies."""
    draw = random.Random(1)
    made: list[str] = []
    for number in range(n):
        if made and number % ONE_COPY_IN == 0:
            yield draw.choice(made).replace("\n", "\n\n").replace(". ", ".\n")
        else:
            made.append("\n".join(draw.choice(pool) for _ in range(draw.randint(12, 30))))
            yield made[-1]


def record(number: int, statement: str) -> ProblemRecord:
    """A problem in a round of its own."""
    start = datetime(2010, 1, 1, tzinfo=UTC) + timedelta(hours=12 * number)
    return ProblemRecord(
        key=ProblemKey("bench", f"p{number}"),
        title=f"Problem p{number}",
        dates=(DateClaim(start.isoformat(), start, Precision.INSTANT, "bench", f"r{number}"),),
        source="bench",
        contest=ContestRecord("bench", f"r{number}", starts_at=start),
        statement=statement,
    )


def peak_mb() -> float:
    """The most memory that this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure_parts(texts: list[str]) -> None:
    """Each step on its own, in memory."""
    fingerprint(plain_words(texts[0]))  # imports numpy and datasketch
    started = time.monotonic()
    words = [plain_words(text) for text in texts]
    worded = time.monotonic()
    prints = [fingerprint(one) for one in words]
    printed = time.monotonic()
    index = FingerprintIndex()
    for number, data in enumerate(prints):
        index.add(number, data)
    built = time.monotonic()
    n_near = sum(len(index.near(data)) - 1 for data in prints)
    asked = time.monotonic()
    per = 1000 / len(texts)
    print(
        f"a statement, in ms: words {(worded - started) * per:.2f}, fingerprint {(printed - worded) * per:.2f}, "
        f"into the index {(built - printed) * per:.3f}, out of it {(asked - built) * per:.3f}; "
        f"{n_near // 2} pairs to look at"
    )


def main() -> None:
    """Run it and print one line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--statements", type=int, default=10_000)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    options = parser.parse_args()
    texts = list(statements(options.statements, sentences(options.data)))
    print(f"{len(texts)} statements of {sum(map(len, texts)) / len(texts):.0f} characters on average")
    with tempfile.TemporaryDirectory() as folder, open_store(str(Path(folder) / "store.db")) as store:
        with store.write() as session:
            for number, text in enumerate(texts):
                save_problem(session, record(number, text), now=NOW)
        before = peak_mb()
        for label in ("all new", "nothing new"):
            started = time.monotonic()
            report = update_duplicates(store, now=NOW)
            print(
                f"a run with {label}: {time.monotonic() - started:.1f} s, {report.n_compared} compared, "
                f"{report.pairs[DuplicateVerdict.SAME]} same, {report.pairs[DuplicateVerdict.RELATED]} related"
            )
        print(f"memory: {peak_mb():.0f} MB at most, {before:.0f} MB of it before the first run")
    measure_parts(texts)


if __name__ == "__main__":
    main()
