"""Report G08: 2,000 problems, 60 models, 10 samples: memory, the first page, and each file, as large as they may be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from eval.publishing.caps import FILE_BYTES, FIRST_PAGE_BYTES, loaded_at_once
from eval.publishing.publication import File

ROOT = Path(__file__).resolve().parents[3]
MEMORY_BYTES = 1_000_000_000
# Not by getrusage, whose most memory a process takes over from the one that started it.
PUBLISH = """
import re, sys
from pathlib import Path
from live.app import run_command
try:
    run_command()
finally:
    print(int(re.search(r"VmHWM:\\s+([0-9]+) kB", Path("/proc/self/status").read_text())[1]) * 1024)
"""


@pytest.mark.slow
def test_a_large_edition_stays_within_the_caps(tmp_path: Path, shared_data: Path) -> None:
    case = shared_data.parent / "reports" / "cases" / "G08"
    plan = json.loads((case / "plan.json").read_text(encoding="utf-8"))
    assert (plan["first_page_max_kb"] * 1000, plan["file_max_mb"] * 1_000_000) == (FIRST_PAGE_BYTES, FILE_BYTES)
    store, site = tmp_path / "store.db", tmp_path / "site"
    made = [sys.executable, "-m", "tests.eval.publishing.large_edition", str(store), str(case)]
    subprocess.run(made, cwd=ROOT, check=True, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"})
    ended = subprocess.run(
        [sys.executable, "-c", PUBLISH, "--db", str(store), "-q", "publish", str(site)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    page, peak = ended.stdout.split()
    assert page == str(site / "index.html")
    assert int(peak) < MEMORY_BYTES

    index = File("index.html", (site / "index.html").read_bytes())
    at_once = [site / "index.html", *(site / path for path in loaded_at_once(index))]
    assert len(at_once) > 2
    assert sum(path.stat().st_size for path in at_once) < FIRST_PAGE_BYTES
    sizes = {path: path.stat().st_size for path in site.rglob("*") if path.is_file()}
    assert len(sizes) > plan["items"] + plan["models"]
    assert max(sizes.values()) < FILE_BYTES
