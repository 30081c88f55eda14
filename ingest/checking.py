"""One live request for each endpoint of a source, read as a run would read it: is everything still where it was?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ingest.errors import BadRow, SourceError
from ingest.nightly import Ingestion
from ingest.sources import load_source


@dataclass(frozen=True)
class CheckResult:
    """What became of one endpoint: ``error`` names what is missing, None when nothing is."""

    endpoint: str
    error: str | None = None
    hint: str = ""


def check_endpoints(ingestion: Ingestion, name: str) -> Iterator[CheckResult]:
    """Ask each endpoint of the source called `name`. Its pages become snapshots; nothing else is kept."""
    try:
        source = load_source(name)
    except SourceError as error:
        yield CheckResult("module", error.message, error.hint)
        return
    if not source.checks:
        yield CheckResult("nothing to ask")
    with ingestion.fetcher(source) as fetch:
        for check in source.checks:
            try:
                check.read(fetch(check.request))
            except (SourceError, BadRow) as error:
                yield CheckResult(check.name, str(error), error.hint)
            except (ValueError, LookupError, TypeError, AttributeError) as error:
                yield CheckResult(check.name, f"its answer has an unexpected shape ({type(error).__name__}: {error})")
            else:
                yield CheckResult(check.name)
