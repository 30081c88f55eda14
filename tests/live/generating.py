"""``live generate`` on the demonstration's problems, against the local endpoint."""

from __future__ import annotations

from pathlib import Path

from db.completions import list_runs
from db.engine import open_store
from db.responses import count_failures, places_answered
from tests.eval.generate.server import EndpointServer

N_ASKED = 11  # of the demonstration's twenty: those after demo-steady's cut-off that can be scored
WINDOW = ("--after-cutoff",)
KEY = "sk-generate-0123456789abcdef"


def words(server: EndpointServer, behaviour: str = "good", *more: str) -> list[str]:
    """The command; what the server does is the name that it is asked for."""
    return [
        *("generate", "demo-steady", *WINDOW, "--base-url", server.base_url, "--as", behaviour),
        *("--seed", "0", "--concurrency", "4", *more),
    ]


def stored(folder: Path) -> tuple[int, dict[str, int]]:
    """How many answers all runs of the store have, and their failures by reason."""
    with open_store(str(folder / "store.db"), reading=True) as store, store.read() as session:
        runs = [run.run_id for run in list_runs(session)]
        failures = count_failures(session, runs).values()
        return (
            sum(len(places_answered(session, run)) for run in runs),
            {reason: n for found in failures for reason, n in found.items()},
        )
