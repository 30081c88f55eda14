"""``live publish``: a site out of frozen editions, checked, and tables in files of the user's."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from functools import cache
from pathlib import Path

import pytest

from db.editions import save_edition
from db.engine import open_store
from eval.editions.document import FrozenEdition, to_bytes
from eval.publishing import switch
from eval.publishing.publication import File
from tests.eval.editions.built import FROZEN_AT, edition_problem, edition_run, freeze_built
from tests.eval.facts import model, registry
from tests.eval.publishing.site_folders import add_own_things, edition_in, own_things, put_site, small_site, tree
from tests.live.command import Live

ROOT = Path(__file__).resolve().parents[2]
MARKS = "# Board\r\n<!-- live:own -->\r\n<!-- /live -->\r\nend"


@cache
def editions() -> tuple[FrozenEdition, ...]:
    """Two small editions, the oldest first."""
    problems = [
        edition_problem(place, exposed_at=f"2024-{1 + place // 3:02d}-0{1 + place % 3}T12:00", contest=f"c{place // 2}")
        for place in range(24)
    ]
    runs = [edition_run(name, [(place, 2, place % 3) for place in range(24)]) for name in ("first", "second")]
    models = registry(*(model(run.name, "2023-12") for run in runs))
    return tuple(
        freeze_built(problems, runs, models, name=name, note=note, frozen_at=FROZEN_AT + timedelta(days=place))
        for place, (name, note) in enumerate((("2025-04", ""), ("2025-05", "with a note")))
    )


def save(folder: Path, count: int) -> None:
    """Put so many of the editions into the store of a folder."""
    with open_store(f"sqlite:///{folder / 'store.db'}") as store, store.write() as writing:
        for one in editions()[:count]:
            save_edition(writing, one.name, one.digest, to_bytes(one.edition), now=one.frozen_at)


@pytest.fixture
def one(live: Live, tmp_path: Path) -> Live:
    """The command with one edition in its store."""
    save(tmp_path, 1)
    return live


def test_without_an_edition_there_is_nothing_to_publish(live: Live, tmp_path: Path) -> None:
    open_store(str(tmp_path / "store.db")).close()
    for words in (["site"], ["--check", "site"], ["--readme", "README.md"]):
        ended = live("--quiet", "publish", *words)
        assert (ended.code, ended.out) == (3, "")
        assert ended.err.splitlines() == [
            f"error: there is no edition in {tmp_path / 'store.db'}",
            "  what to do: live edition freeze NAME makes one",
        ]
    assert os.listdir(tmp_path) == ["store.db"]


def test_without_a_store_nothing_is_made(live: Live, tmp_path: Path) -> None:
    ended = live("publish", "site")
    assert (ended.code, ended.err.splitlines()[0]) == (4, f"error: no store at {tmp_path / 'store.db'}")
    assert os.listdir(tmp_path) == []


def test_a_site_is_published_checked_and_followed_by_the_next(one: Live, tmp_path: Path) -> None:
    first, second = editions()
    site = tmp_path / "site"
    done = one("publish", "site")
    assert (done.code, done.out) == (0, "site/index.html\n")
    n_files = sum(path.is_file() for path in site.rglob("*"))
    assert f"edition 2025-04, digest {first.digest}: {n_files} files, " in done.err
    assert edition_in(site) == "2025-04"
    assert not (site / "editions").exists()
    before = tree(tmp_path)
    checked = one("publish", "site", "--check")
    assert (checked.code, checked.out) == (0, "up to date\n")
    assert tree(tmp_path) == before

    save(tmp_path, 2)
    stale = one("publish", "site", "--check")
    assert stale.code == 1
    assert stale.out == (
        f"stale: site (it is of edition 2025-04, build {first.digest[:12]}; to publish is 2025-05, "
        f"build {second.digest[:12]})\n"
    )
    add_own_things(site)
    mine = own_things(site)
    (site / "index.html").write_text("by hand")
    done = one("publish", "site", "--base-url", "https://example.org/b")
    assert done.code == 0
    assert "replaced, though it was not as we had written it: index.html\n" in done.err
    assert "kept, since it is not ours: .git, CNAME, mine.html\n" in done.err
    assert "1 more below editions/" in done.err
    assert (edition_in(site), own_things(site)) == ("2025-05", mine)
    older = json.loads((site / "editions" / "2025-04" / "manifest.json").read_bytes())
    assert (older["edition"], older["digest"]) == ("2025-04", first.digest)
    assert b"https://example.org/b/" in (site / "feed.xml").read_bytes()

    (site / "tables" / "own.md").write_bytes((site / "editions" / "2025-04" / "tables" / "own.md").read_bytes())
    (site / "tables" / "notes.md").write_text("mine")
    mixed = one("publish", "site", "--check", "--base-url", "https://example.org/b/")
    assert mixed.code == 1
    assert mixed.out.splitlines() == [
        f"mixed: tables/own.md (it is of edition 2025-04, build {first.digest[:12]}, and not of build "
        f"{second.digest[:12]})",
        "foreign: tables/notes.md (it is not in the manifest)",
    ]
    refused = one("publish", "site")
    assert refused.code == 2
    assert "tables/notes.md is not ours" in refused.err
    assert "what to do: move it away" in refused.err


def test_another_edition_can_be_put_in_front(one: Live, tmp_path: Path) -> None:
    save(tmp_path, 2)
    assert one("publish", "site", "--edition", "2025-04").code == 0
    assert edition_in(tmp_path / "site") == "2025-04"
    assert (tmp_path / "site" / "editions" / "2025-05" / "index.html").is_file()
    unknown = one("publish", "site", "--edition", "2025-06")
    assert unknown.code == 2
    assert 'no edition "2025-06" in the store' in unknown.err


def test_tables_in_files_are_replaced_and_checked(one: Live, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_bytes(MARKS.encode())
    stale = one("--quiet", "publish", "--readme", "README.md", "--check")
    assert (stale.code, stale.out, stale.err) == (1, "stale: README.md:2 (the table own)\n", "")
    assert (tmp_path / "README.md").read_bytes() == MARKS.encode()
    done = one("publish", "--readme", "README.md", "--readme", "./README.md")
    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines()[1:] == ["README.md: replaced the tables: own"]
    text = (tmp_path / "README.md").read_bytes().decode()
    assert editions()[0].digest[:12] in text
    assert text.startswith("# Board\r\n<!-- live:own -->\r\n")
    assert text.endswith("\r\n<!-- /live -->\r\nend")
    assert "\n" not in text.replace("\r\n", "")
    assert one("publish", "--readme", "README.md", "--check").out == "up to date\n"
    assert one("publish", "--readme", "README.md").err.splitlines()[1:] == ["README.md: up to date"]


def test_a_file_with_wrong_marks_stops_all(one: Live, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(MARKS.encode())
    (tmp_path / "b.md").write_text("text\n<!-- live:own -->\n")
    ended = one("--quiet", "publish", "site", "--readme", "a.md", "--readme", "b.md")
    assert ended.code == 2
    assert ended.err.splitlines() == [
        "error: b.md:2: <!-- live:own --> has no <!-- /live --> after it",
        "  what to do: write <!-- live:own --> (or common, equated) and <!-- /live -->, each on a line of its own",
    ]
    assert not (tmp_path / "site").exists()
    assert (tmp_path / "a.md").read_bytes() == MARKS.encode()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "nothing to publish to"),
        (["--check"], "nothing to publish to"),
        (["site", "--title", " "], "--title"),
        (["site", "--title", "a\nb"], "--title"),
        *((["site", "--base-url", url], "--base-url") for url in (
            "example.org", "ftp://example.org/", "https://", "https:///x", "https://example.org/?a=b",
            "https://example.org/#x", "https://exa mple.org", 'https://e.org/"><script>', "http://[", "http://a:b/",
        )),
        (["store.db"], "is no folder"),
        (["none/site"], "there is no folder"),
        (["."], "is not empty, and no site of ours"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_in_one_line(one: Live, tmp_path: Path, words: list[str], message: str) -> None:
    before = tree(tmp_path)
    ended = one("--quiet", "publish", *words)
    assert (ended.code, ended.out) == (2, "")
    said, hint = ended.err.splitlines()
    assert message in said
    assert hint.startswith("  what to do: ")
    assert tree(tmp_path) == before


def test_a_disk_that_takes_no_more_changes_nothing(one: Live, tmp_path: Path) -> None:
    """A process may write files of 50 kB at most: the third of the site's is larger."""
    site = tmp_path / "site"
    site.mkdir()
    put_site(site, small_site("old"))
    limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000)); "
    words = ["--db", str(tmp_path / "store.db"), "-q", "publish", str(site)]
    ended = subprocess.run(
        [sys.executable, "-c", f"{limited} from live.cli import main; main()", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 4
    first, second = ended.stderr.splitlines()
    assert first.startswith("error: the system refused something: [Errno 27] File too large")
    assert second.startswith("  what to do: nothing has changed; see that there is room")
    assert edition_in(site) == "old"
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".site")]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_process_that_ends_in_the_middle_leaves_the_former_site(one: Live, tmp_path: Path, number: int) -> None:
    site = tmp_path / "site"
    site.mkdir()
    put_site(site, small_site("old"))
    add_own_things(site)
    mine = own_things(site)
    command = [sys.executable, "-m", "live", "--db", str(tmp_path / "store.db"), "-q", "publish", str(site)]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 120
        while not list(tmp_path.glob(".site.building-*/site/edition.json.gz")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.005)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    if number == signal.SIGINT:
        assert said == "interrupted; nothing was kept, the same command starts from the beginning\n"
    assert (edition_in(site), own_things(site)) == ("old", mine)
    assert bool(list(tmp_path.glob(".site.building-*"))) == (number != signal.SIGINT)
    assert one("publish", "site").code == 0
    assert (edition_in(site), own_things(site)) == ("2025-04", mine)
    assert not list(tmp_path.glob(".site.building-*"))


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_is_not_lost_in_a_library(
    one: Live, tmp_path: Path, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is held back until the next file is done, another one is heeded at once."""
    site = tmp_path / "site"
    site.mkdir()
    put_site(site, small_site("old"))
    seen: list[str] = []

    def drawing(*_: object, **__: object) -> Iterator[File]:
        try:
            for _time in range(times):
                signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            seen.append("lost")
        for file in small_site("new"):
            seen.append(file.path)
            yield file

    monkeypatch.setattr("eval.publishing.building.build_site", drawing)
    ended = one("--quiet", "publish", "site")
    assert (ended.code, ended.out) == (130, "")
    assert ended.err == "interrupted; nothing was kept, the same command starts from the beginning\n"
    assert seen == ["lost", "problems.json"][2 - times :]
    assert edition_in(site) == "old"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.slow
def test_private_problems_are_in_no_byte_of_what_is_published(board_live: Live, tmp_path: Path) -> None:
    """Flagged with the command, frozen, published with its older edition and into a file."""
    assert board_live("edition", "freeze", "2025-04").code == 0
    words = []
    for platform, contest, level in (("atcoder", "round-58", "hard"), ("leetcode", "round-31", "easy")):
        key = f"{platform}:{contest}-{level}"
        assert board_live("problems", "flag", key, "private", "--reason", f"{key} is held back").code == 0
        words += [f"{contest}-{level}", f"{contest} {level}"]
    refused = board_live("publish", "site")
    assert refused.code == 2
    assert 'the edition "2025-04" is not published: it shows 2 problems that have become private' in refused.err
    assert board_live("edition", "freeze", "2025-05").code == 0
    (tmp_path / "README.md").write_bytes(MARKS.encode())
    done = board_live("publish", "site", "--readme", "README.md")
    assert done.code == 0
    assert "the edition 2025-04 is left out: it shows 2 problems that have become private" in done.err
    files = [path for path in (tmp_path / "site").rglob("*") if path.is_file()] + [tmp_path / "README.md"]
    assert len(files) > 200
    assert [path for path in files if any(word.encode() in path.read_bytes() for word in words)] == []
    assert any(b"round-57-easy" in path.read_bytes() for path in files)


def test_what_was_private_once_can_be_published_later(board_live: Live, tmp_path: Path) -> None:
    """Held back, frozen, released and frozen again: the second shows it, the first still does not."""
    (tmp_path / "README.md").write_bytes(MARKS.encode())
    key = "leetcode:round-31-easy"
    assert board_live("problems", "flag", key, "private", "--reason", "held back").code == 0
    assert board_live("edition", "freeze", "p1").code == 0
    assert board_live("problems", "unflag", key, "private").code == 0
    assert board_live("edition", "freeze", "released").code == 0
    done = board_live("publish", "--readme", "README.md")
    assert (done.code, "left out" in done.err) == (0, False)
    assert board_live("problems", "flag", key, "private", "--reason", "again").code == 0
    refused = board_live("publish", "--readme", "README.md")
    assert refused.code == 2
    assert 'the edition "released" is not published: it shows 1 problem that has become private' in refused.err
    done = board_live("publish", "--readme", "README.md", "--edition", "p1")
    assert done.code == 0
    assert "the edition released is left out: it shows 1 problem that has become private" in done.err


def test_what_is_written_too_late_to_be_seen_is_kept_and_said(
    one: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    put_site(site, small_site("old"))
    real = switch.exchange

    def late(first: Path, second: Path) -> bool:
        if second == site:
            (site / "data" / "notes.txt").write_text("mine")
        return real(first, second)

    monkeypatch.setattr(switch, "exchange", late)
    monkeypatch.setattr("eval.publishing.building.build_site", lambda *_, **__: small_site("2025-04"))
    done = one("publish", "site")
    assert done.code == 0
    (kept,) = tmp_path.glob(".site.building-*/site/data/notes.txt")
    assert f"not ours, and written while the site was: it is kept at {kept}\n" in done.err


@pytest.mark.slow
@pytest.mark.bubblewrap
def test_the_demonstration_can_be_published(live: Live, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "page.html").write_text("mine")
    refused = live("--quiet", "demo", "--executor", "bubblewrap", "--site", "mine")
    assert (refused.code, refused.out) == (2, "")
    assert "no site of ours" in refused.err
    done = live("--quiet", "demo", "--executor", "bubblewrap", "--site", "site")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[-1] == "site/index.html"
    assert edition_in(tmp_path / "site") == "demo"
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "63.6 %" in page  # demo-steady on the 11 problems after its cut-off
    assert "livecut demo" in page
    assert not (tmp_path / "store.db").exists()
