"""A whole site of two editions, as files: links that hold, one build id, nothing private, the same bytes every time."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import posixpath
import re
import subprocess
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from lxml import etree, html  # type: ignore[import-untyped]

from eval.editions.document import FrozenEdition, from_bytes
from eval.editions.parts import public_part
from eval.exports import Export, ExportUnavailable
from eval.publishing.building import build, build_site
from eval.publishing.manifest import read_manifest
from eval.publishing.plan import plan_site
from eval.publishing.publication import File
from tests.eval.editions.built import PRIVATE_ID, freeze_built, invented, published

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("", "editions/2025-04/")
WITHOUT_ID = re.compile(
    r"static/[a-z]+\.(js|css)|data/[a-z]+\.schema\.json|badges/[^/]+\.json|edition\.json\.gz|eval_results/README\.txt"
)
"""Files that are the same in every build, whose format has no place for it, or that the build id is the digest of."""

VIEW = ("from=", "to=", "platform=", "difficulty=")
"""Fragments that choose what the tables of the first page show."""


@cache
def editions() -> dict[str, FrozenEdition]:
    """The invented edition, and one before it: the same, but that its last run is not there yet."""
    newest = invented("2025-05")
    edition = newest.edition
    older = freeze_built(
        edition.problems,
        edition.runs[:-1],
        edition.registry,
        name="2025-04",
        environment=edition.environment,
        withdrawn=dict(edition.withdrawn),
        failures=edition.failures,
        frozen_at=newest.frozen_at - timedelta(days=30),
    )
    return {"2025-04": older, "2025-05": newest}


@cache
def site() -> dict[str, bytes]:
    """All files of the site of both."""
    plan = plan_site(list(editions()), editions().__getitem__, base_url="https://example.org/b/")
    files = list(build_site(plan, editions().__getitem__))
    assert len({file.path for file in files}) == len(files)
    assert files[-1].path == "manifest.json"
    return {file.path: file.body for file in files}


def pages() -> Iterator[tuple[str, html.HtmlElement]]:
    for path, body in site().items():
        if path.endswith(".html"):
            yield path, html.document_fromstring(body)


def test_both_editions_have_their_whole_table() -> None:
    for folder in FOLDERS:
        for path in ("index.html", "limits.html", "problems.html", "editions.html", "edition.json.gz", "manifest.json"):
            assert f"{folder}{path}" in site()
        for beginning, ending in (
            ("models/", ".html"),
            ("problems/", ".html"),
            ("pictures/", ".svg"),
            ("data/", ".csv"),
        ):
            assert any(path.startswith(folder + beginning) and path.endswith(ending) for path in site())
    shown = [gzip.decompress(site()[f"{folder}edition.json.gz"]) for folder in FOLDERS]
    assert [len(json.loads(body)["runs"]) for body in shown] == [7, 6]
    assert from_bytes(shown[0]) == public_part(editions()["2025-05"].edition)


def test_the_public_part_is_called_so_and_has_a_digest_of_its_own() -> None:
    """Two private problems are left out: the digest of the edition is not that of the file."""
    manifest = read_manifest(site()["manifest.json"])
    body = gzip.decompress(site()["edition.json.gz"])
    assert manifest.public_digest == hashlib.sha256(body).hexdigest() != manifest.digest
    assert b"the public part of the edition: problems," in site()["index.html"]
    assert b"the whole edition" not in site()["index.html"]
    assert site()["edition.json.gz"][:10] == bytes.fromhex("1f8b0800000000") + b"\0\x02\xff"  # no name, no instant


def test_an_edition_without_private_problems_is_published_whole() -> None:
    edition = invented().edition
    kept = [
        replace(one, facts=replace(one.facts, flags=())) if one.facts.is_private else one for one in edition.problems
    ]
    frozen = freeze_built(kept, edition.runs, edition.registry, environment=edition.environment)
    files = {file.path: file.body for file in build(published(frozen))}
    assert read_manifest(files["manifest.json"]).public_digest == frozen.digest
    assert b"the whole edition: problems," in files["index.html"]


def test_every_link_leads_to_a_file_and_every_fragment_to_an_id() -> None:
    ids = {path: {*page.xpath("//@id"), *page.xpath("//a/@name")} for path, page in pages()}
    broken = defaultdict(set)
    n_links = 0
    for path, page in pages():
        assert not page.xpath("//base")
        for link in page.xpath("//@href | //@src | //@data | //@action | //@poster"):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                assert parts.scheme in {"http", "https"} or link == "data:,", link
                continue
            n_links += 1
            place = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(parts.path)))
            target = place if parts.path else path
            is_view = parts.fragment.startswith(VIEW)
            lacks_id = parts.fragment and target in ids and unquote(parts.fragment) not in ids[target]
            if target not in site() or (lacks_id and not is_view):
                broken[path].add(link)
    assert dict(broken) == {}
    assert n_links > 2000


def test_every_page_of_every_edition_is_reached_from_the_first_one() -> None:
    found, waiting = {"index.html"}, ["index.html"]
    known = dict(pages())
    while waiting:
        path = waiting.pop()
        for link in known[path].xpath("//a/@href"):
            parts = urlsplit(link)
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), parts.path)) if parts.path else path
            if not parts.scheme and target in known and target not in found:
                found.add(target)
                waiting.append(target)
    assert sorted(known.keys() - found) == []


def test_style_sheets_load_nothing() -> None:
    sheets = [body.decode() for path, body in site().items() if path.endswith(".css")]
    assert sheets
    assert not any(re.search(r"@import|url\((?!['\"]?data:)", text) for text in sheets)


def test_all_files_carry_the_build_id_of_their_edition() -> None:
    ids = dict(zip(FOLDERS, (editions()[name].digest[:12] for name in ("2025-05", "2025-04")), strict=True))
    without = set()
    for path, body in site().items():
        folder = FOLDERS[1] if path.startswith("editions/") else ""
        if ids[folder].encode() not in body:
            without.add(path.removeprefix(folder))
    assert {path for path in without if not WITHOUT_ID.fullmatch(path)} == set()


def test_the_manifests_list_every_file() -> None:
    for folder in FOLDERS:
        listed = read_manifest(site()[f"{folder}manifest.json"])
        below = {path.removeprefix(folder): body for path, body in site().items() if path.startswith(folder)}
        del below["manifest.json"]
        assert [entry.path for entry in listed.files] == sorted(below)
        for entry in listed.files:
            body = below[entry.path]
            assert (entry.sha256, entry.size_bytes) == (hashlib.sha256(body).hexdigest(), len(body))
        frozen = editions()[listed.edition]
        assert (listed.digest, listed.build_id) == (frozen.digest, frozen.digest[:12])
        assert listed.software == "livecut 0.1.0"
    assert read_manifest(site()["manifest.json"]).frozen_at == "2025-05-03T09:00:30Z"


def readable(path: str, body: bytes) -> Iterator[str]:
    """All that can be read in a file: its text, also where it is packed."""
    yield body.decode(errors="replace")
    if path.endswith(".png"):
        for at in (match.end() for match in re.finditer(rb"zTXt|iTXt|IDAT", body)):
            yield from unpacked(body[at : at + 2000])
    if path.endswith(".gz"):
        yield gzip.decompress(body).decode()
    if path.endswith(".parquet"):
        yield parquet_text(body)


def unpacked(chunk: bytes) -> Iterator[str]:
    for start in range(min(len(chunk), 120)):
        try:
            yield zlib.decompressobj().decompress(chunk[start:]).decode(errors="replace")
        except zlib.error:
            continue


def parquet_text(body: bytes) -> str:
    import tempfile

    import duckdb

    with tempfile.NamedTemporaryFile(suffix=".parquet") as file, duckdb.connect() as connection:
        file.write(body)
        file.flush()
        rows = connection.execute("SELECT * FROM read_parquet(?)", [file.name]).fetchall()
        notes = connection.execute("SELECT * FROM parquet_kv_metadata(?)", [file.name]).fetchall()
    assert rows
    return repr((rows, notes))


def test_nothing_private_is_in_any_file() -> None:
    """Neither ids nor titles, addresses, statements' hashes: byte for byte, and in what is packed."""
    private = [one for one in editions()["2025-05"].edition.problems if one.facts.is_private]
    assert len(private) == 2
    words = {PRIVATE_ID, "Secret Garden"}
    for one in private:
        words |= {one.facts.native_id, one.title, str(one.url), str(one.revision)}
    spelled = {form for word in words for form in (word, word.casefold(), word.replace("-", "%2D"), word[::-1])}
    told = {path for path, body in site().items() for text in readable(path, body) if any(w in text for w in spelled)}
    assert told == set()
    assert {path.rpartition(".")[2] for path in site()} >= {"png", "parquet", "json", "html", "csv", "xml"}


def test_machine_readable_files_are_strict() -> None:
    def refuse(word: str) -> None:
        raise AssertionError(word)

    for path, body in site().items():
        if path.endswith(".json"):
            json.loads(body, parse_constant=refuse)
        if path.endswith((".xml", ".svg")):
            etree.fromstring(body, etree.XMLParser(resolve_entities=False, no_network=True))


def test_no_path_of_this_machine_is_in_any_file() -> None:
    words = {str(ROOT), str(Path.home()) + "/", sys.prefix, os.uname().nodename + "."}
    told = {path for path, body in site().items() if any(word.encode() in body for word in words if len(word) > 6)}
    assert told == set()


BUILD = """
import hashlib, sys
from eval.publishing.building import build
from tests.eval.editions.built import invented, published
whole = hashlib.sha256()
for file in build(published(invented())):
    print(hashlib.sha256(file.body).hexdigest(), file.path)
"""


@pytest.mark.slow
def test_every_build_gives_the_same_bytes(tmp_path: Path) -> None:
    """Report G03: whatever the seed of Python's hashes, the folder, the home or the time zone."""
    found = []
    for seed, zone in (("0", "UTC"), ("4", "Asia/Tokyo")):
        home = tmp_path / seed
        home.mkdir()
        ended = subprocess.run(
            [sys.executable, "-c", BUILD],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": seed, "TZ": zone, "HOME": str(home), "MPLCONFIGDIR": str(home)},
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(ended.stdout.splitlines())
    assert len(found[0]) > 100
    assert set(found[0]) ^ set(found[1]) == set()
    assert found[0] == found[1]


def test_an_export_that_needs_what_is_not_installed_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def unavailable(shown: object) -> Iterator[File]:
        yield from ()
        raise ExportUnavailable("no library for it", "pip install it")

    def unavailable_at_once(shown: object) -> Iterator[File]:
        raise ExportUnavailable("none for this either", "pip install that")

    def many(shown: object) -> Iterator[File]:
        yield from (File(f"many/{place}.json", b"{}") for place in range(9))

    exports = (
        Export("lacking", "lacks", unavailable),
        Export("wanting", "lacks", unavailable_at_once),
        Export("many", "Many files", many),
    )
    monkeypatch.setattr("eval.exports.all_exports", lambda: {one.name: one for one in exports})
    said: list[str] = []
    files = {file.path: file.body for file in build(published(invented()), tell=said.append)}
    assert said == [
        "lacking is left out: no library for it (pip install it)",
        "wanting is left out: none for this either (pip install that)",
    ]
    assert "many/8.json" in files
    assert b"Many files" in files["index.html"]
    assert b"many/8.json" not in files["index.html"]
