"""A folder that holds a site: written anew as a whole, never at the cost of what is not ours; and checked."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from eval.publishing import switch
from eval.publishing.building import with_manifest
from eval.publishing.folder import WriteFailed, check_site, write_site
from eval.publishing.publication import File
from eval.publishing.switch import FolderRefused, mounts_in
from tests.eval.publishing.site_folders import (
    add_own_things,
    edition_called,
    edition_in,
    own_things,
    put_site,
    small_site,
    tree,
)
from tests.without_rights import rights_count


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that holds the site of an old edition, in one of its own."""
    site = tmp_path / "sites" / "board"
    site.mkdir(parents=True)
    put_site(site, small_site("old"))
    return site


def faults(folder: Path, edition: str, files: list[File] | None = None) -> list[str]:
    """What a check says, if the site is to be of this edition."""
    builds = {edition_called(name).build_id: name for name in ("old", "new", "older")}
    wanted = small_site(edition) if files is None else files
    return [str(fault) for fault in check_site(folder, edition_called(edition), wanted, builds)]


@pytest.mark.parametrize("is_there", [True, False])
def test_a_new_or_empty_folder_gets_all_files(tmp_path: Path, is_there: bool) -> None:
    folder = tmp_path / "site"
    if is_there:
        folder.mkdir()
    written = write_site(folder, small_site("new"))
    assert edition_in(folder) == "new"
    assert (written.n_files, written.changed, written.kept) == (5, (), ())
    assert written.n_bytes == sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    assert os.listdir(tmp_path) == ["site"]


def test_a_folder_of_ours_is_replaced_as_a_whole(folder: Path) -> None:
    write_site(folder, small_site("new", ["data.json", "problems.json"]))
    assert edition_in(folder) == "new"
    assert sorted(os.listdir(folder)) == ["data.json", "manifest.json", "problems.json"]
    assert os.listdir(folder.parent) == ["board"]


def test_no_reader_sees_a_part_before_all_is_there(folder: Path) -> None:
    def slowly() -> Iterator[File]:
        for file in small_site("new"):
            assert edition_in(folder) == "old"
            yield file

    write_site(folder, slowly())
    assert edition_in(folder) == "new"


def test_what_breaks_off_leaves_the_former_set(folder: Path, shared_data: Path) -> None:
    """Report G06: four files, of which the last two never come."""
    plan = json.loads((shared_data.parent / "reports" / "cases" / "G06" / "plan.json").read_text())
    put_site(folder, small_site("old", plan["files"]))
    before = tree(folder)

    def broken() -> Iterator[File]:
        yield from small_site("new", plan["files"])[: plan["stop_after"]]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_site(folder, broken())
    assert plan["expected"] == "previous complete set"
    assert tree(folder) == before
    assert os.listdir(folder.parent) == ["board"]


@pytest.mark.parametrize("can_exchange", [True, False])
def test_what_is_not_ours_stays_and_is_never_missing(
    folder: Path, can_exchange: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not can_exchange:
        monkeypatch.setattr(switch, "exchange", lambda first, second: False)
    add_own_things(folder)
    (folder / "mine.d").mkdir(mode=0o700)
    before = own_things(folder)
    inodes = {path: (folder / path).lstat().st_ino for path in before if not path.endswith("/")}
    written = write_site(folder, small_site("new"))
    assert written.kept == (".git", "CNAME", "mine.d", "mine.html")
    assert own_things(folder) == before
    if can_exchange:
        assert {path: (folder / path).lstat().st_ino for path in inodes} == inodes
    assert edition_in(folder) == "new"


def test_what_is_written_to_your_things_in_the_meantime_is_kept(folder: Path) -> None:
    add_own_things(folder)

    def meanwhile() -> Iterator[File]:
        yield from small_site("new")
        (folder / ".git" / "HEAD").unlink()
        (folder / ".git" / "HEAD").write_text("ref: refs/heads/other\n")
        (folder / "CNAME").write_text("other.example.org\n")
        (folder / "mine.txt").write_text("late\n")

    write_site(folder, meanwhile())
    assert (folder / ".git" / "HEAD").read_text() == "ref: refs/heads/other\n"
    assert (folder / "CNAME").read_text() == "other.example.org\n"
    assert (folder / "mine.txt").read_text() == "late\n"


def test_what_is_written_while_the_folders_change_places_is_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the links were made, before the exchange: the entries themselves come back, not the links."""
    add_own_things(folder)
    real = switch.exchange

    def late(first: Path, second: Path) -> bool:
        if second == folder:
            (folder / ".git" / "HEAD").unlink()
            (folder / ".git" / "HEAD").write_text("ref: refs/heads/late\n")
            (folder / "mine.txt").write_text("late\n")
        return real(first, second)

    monkeypatch.setattr(switch, "exchange", late)
    write_site(folder, small_site("new"))
    assert (folder / ".git" / "HEAD").read_text() == "ref: refs/heads/late\n"
    assert (folder / "mine.txt").read_text() == "late\n"


@pytest.mark.parametrize("can_exchange", [True, False])
def test_what_is_written_between_our_files_too_late_to_be_refused_is_set_aside(
    folder: Path, can_exchange: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the last look, before the folders change places; the next run leaves it where it is, too."""
    real_exchange, real_put = switch.exchange, switch.Workshop._put_in_place
    monkeypatch.setattr(switch, "exchange", real_exchange if can_exchange else lambda first, second: False)

    def late(shop: switch.Workshop) -> Path | None:
        (folder / "data" / "notes.txt").write_text("mine")
        (folder / "models.json").write_text("by hand")
        return real_put(shop)

    monkeypatch.setattr(switch.Workshop, "_put_in_place", late)
    written = write_site(folder, small_site("new"))
    assert edition_in(folder) == "new"
    (place,) = written.set_aside
    assert place.endswith("/data/notes.txt")
    monkeypatch.undo()
    assert write_site(folder, small_site("newer")).set_aside == ()
    assert Path(place).read_text() == "mine"
    assert edition_in(folder) == "newer"


def test_what_comes_to_the_top_too_late_is_set_aside_where_its_name_is_taken(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = switch.Workshop._put_in_place

    def late(shop: switch.Workshop) -> Path | None:
        (folder / "index.html").write_text("mine")
        return real(shop)

    monkeypatch.setattr(switch.Workshop, "_put_in_place", late)
    written = write_site(folder, small_site("new", ["index.html"]))
    assert [Path(one).read_text() for one in written.set_aside] == ["mine"]
    assert edition_in(folder) == "new"


def test_files_are_on_the_disk_before_the_last_look(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That takes its time, in which somebody may write between our files."""
    real = switch._sync_files

    def slowly(tree: Path) -> None:
        real(tree)
        (folder / "data" / "notes.txt").write_text("mine")

    monkeypatch.setattr(switch, "_sync_files", slowly)
    with pytest.raises(FolderRefused, match=r"data/notes\.txt is not ours"):
        write_site(folder, small_site("new"))
    assert (folder / "data" / "notes.txt").read_text() == "mine"


def test_what_a_killed_run_left_is_looked_at_before_it_is_removed(folder: Path) -> None:
    """Killed after the folders changed places: the old tree lies in the workshop, with a file of the user's."""
    left = folder.parent / ".board.building-9"
    (left / "site").mkdir(parents=True)
    put_site(left / "site", small_site("older"))
    (left / "site" / "data" / "notes.txt").write_text("mine")
    (left / "owner").write_bytes(b"livecut publishes board\n")
    written = write_site(folder, small_site("new"))
    assert written.set_aside == (str(left / "site" / "data" / "notes.txt"),)
    assert (left / "site" / "data" / "notes.txt").read_text() == "mine"
    assert edition_in(folder) == "new"


def test_files_of_ours_that_were_changed_are_replaced_and_said(folder: Path) -> None:
    (folder / "models.json").write_text("by hand")
    (folder / "problems.json").unlink()
    (folder / "problems.json").symlink_to("models.json")
    (folder / "data" / "results.json").unlink()
    written = write_site(folder, small_site("new"))
    assert written.changed == ("models.json", "problems.json")
    assert edition_in(folder) == "new"


def _foreign_page(folder: Path) -> None:
    (folder / "manifest.json").unlink()


def _not_a_manifest(folder: Path) -> None:
    (folder / "manifest.json").write_text('{"name": "a web app"}')


def _broken_manifest(folder: Path) -> None:
    (folder / "manifest.json").write_text('{"format": "livecut-site-1"')


def _manifest_of_tomorrow(folder: Path) -> None:
    (folder / "manifest.json").write_text('{"format": "livecut-site-2", "files": []}')


def _manifest_that_leads_out(folder: Path) -> None:
    text = (folder / "manifest.json").read_text()
    (folder / "manifest.json").write_text(text.replace('"models.json"', '"../../models.json"'))


def _nested(folder: Path) -> None:
    (folder / "data" / "notes.txt").write_text("mine")
    (folder / "data" / "link").symlink_to("/")


def _same_name(folder: Path) -> None:
    (folder / "editions").mkdir()


REFUSED: list[tuple[Callable[[Path], object], str, str]] = [
    (_foreign_page, "is not empty, and no site of ours: it has no manifest.json", "name an empty or a new folder"),
    (_not_a_manifest, "its format is None, not 'livecut-site-1'", "name another folder"),
    (_broken_manifest, "no manifest that can be read", "name an empty or a new folder"),
    (_manifest_of_tomorrow, "its format is 'livecut-site-2'", "use the version of livecut that published it"),
    (_manifest_that_leads_out, "outside of the folder: '../../models.json'", "name another folder"),
    (_nested, "data/link is not ours, nor are 1 more", "move it away"),
    (_same_name, "editions is not ours, and what is published has a editions of its own", "move it out"),
]


@pytest.mark.parametrize(("change", "message", "hint"), REFUSED)
def test_a_folder_with_what_is_not_ours_in_the_way_is_refused(
    folder: Path, change: Callable[[Path], object], message: str, hint: str
) -> None:
    change(folder)
    before = tree(folder)
    with pytest.raises(FolderRefused) as refused:
        write_site(folder, small_site("new", ["editions/a/index.html", "index.html"]))
    assert message in refused.value.message
    assert str(folder) in refused.value.message
    assert hint in refused.value.hint
    assert tree(folder) == before
    assert os.listdir(folder.parent) == ["board"]


def test_other_places_that_cannot_be_are_refused(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("text")
    for place, message in [
        (tmp_path / "file", "is no folder"),
        (tmp_path / "none" / "site", f"there is no folder {tmp_path / 'none'}"),
    ]:
        with pytest.raises(FolderRefused, match=message):
            write_site(place, small_site("new"))
    monkeypatch.chdir(folder / "data")
    with pytest.raises(FolderRefused, match="this command runs in"):
        write_site(folder, small_site("new"))
    assert edition_in(folder) == "old"


def test_where_other_file_systems_hang_is_known(tmp_path: Path) -> None:
    assert "/proc" in mounts_in(Path("/"))
    assert mounts_in(Path("/proc"))[0] == "/proc"
    assert mounts_in(tmp_path) == []


@pytest.mark.parametrize("which", ["folder", "parent"])
def test_what_may_not_be_written_is_said(folder: Path, which: str) -> None:
    locked = folder if which == "folder" else folder.parent
    locked.chmod(0o555)
    try:
        with rights_count(), pytest.raises((FolderRefused, WriteFailed)) as failed:
            write_site(folder, small_site("new"))
    finally:
        locked.chmod(0o755)
    assert isinstance(failed.value, FolderRefused if which == "folder" else WriteFailed)
    assert str(folder.parent) in failed.value.message
    assert failed.value.hint
    assert edition_in(folder) == "old"


def test_a_link_to_a_folder_is_followed(folder: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("sites/board")
    write_site(link, small_site("new"))
    assert os.readlink(link) == "sites/board"
    assert edition_in(folder) == "new"
    link.unlink()
    link.symlink_to("sites/other")
    write_site(link, small_site("new"))
    assert edition_in(tmp_path / "sites" / "other") == "new"


def test_the_folder_keeps_its_mode_and_files_have_that_of_the_umask(folder: Path) -> None:
    folder.chmod(0o2751)
    former = os.umask(0o027)
    try:
        write_site(folder, small_site("new"))
    finally:
        os.umask(former)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o2751
    assert stat.S_IMODE((folder / "models.json").stat().st_mode) == 0o640
    assert stat.S_IMODE((folder / "data" / "deep").stat().st_mode) & 0o777 == 0o750


def test_two_at_once_are_one_too_many(folder: Path) -> None:
    def at_once() -> Iterator[File]:
        with pytest.raises(FolderRefused, match="is being published by another process"):
            write_site(folder, small_site("other"))
        yield from small_site("new")

    write_site(folder, at_once())
    assert edition_in(folder) == "new"
    assert os.listdir(folder.parent) == ["board"]


def test_only_leftovers_of_ours_are_removed(folder: Path) -> None:
    parent = folder.parent
    (parent / ".board.building-1").mkdir()
    for name, owner in {"2": b"livecut publishes other\n", "3": b"somebody\n", "4": b""}.items():
        left = parent / f".board.building-{name}"
        (left / "site").mkdir(parents=True)
        (left / "owner").write_bytes(owner)
    (parent / ".board.building-notes").mkdir()
    (parent / ".board.building-notes" / "notes.txt").write_text("mine")
    (parent / ".board.building-5").write_text("mine")
    elsewhere = parent.parent / "elsewhere"
    (elsewhere / "site").mkdir(parents=True)
    (elsewhere / "owner").write_bytes(b"livecut publishes board\n")
    (parent / ".board.building-7").symlink_to(elsewhere)
    ours = parent / ".board.building-6"
    (ours / "site" / "deep").mkdir(parents=True)
    (ours / "site" / "deep").chmod(0o500)
    (ours / "owner").write_bytes(b"livecut publishes board\n")
    write_site(folder, small_site("new"))
    assert sorted(os.listdir(parent)) == [
        ".board.building-2",
        ".board.building-3",
        ".board.building-4",
        ".board.building-5",
        ".board.building-7",
        ".board.building-notes",
        "board",
    ]
    assert sorted(os.listdir(elsewhere)) == ["owner", "site"]


def test_the_manifest_must_list_what_was_made(folder: Path) -> None:
    files = small_site("new")
    for wrong in (files[1:], [*files, File("more.json", b"")], [files[-1], *files[:-1]]):
        with pytest.raises(ValueError, match="the manifest is not last, or does not list"):
            write_site(folder, wrong)
    with pytest.raises(ValueError, match="no path of a file"):
        write_site(folder, [File("../out", b""), *files])
    assert edition_in(folder) == "old"


def test_a_check_of_what_is_up_to_date_says_nothing(folder: Path) -> None:
    add_own_things(folder)
    before = tree(folder.parent)
    assert faults(folder, "old") == []
    assert tree(folder.parent) == before


def test_a_check_names_all_that_is_wrong(folder: Path) -> None:
    put_site(folder, small_site("new", ["models.json"])[:1])
    (folder / "problems.json").write_text("by hand")
    (folder / "data" / "results.json").unlink()
    (folder / "data" / "notes.txt").write_text("mine")
    ids = [edition_called(name).build_id for name in ("new", "old")]
    assert faults(folder, "old") == [
        "missing: data/results.json",
        f"mixed: models.json (it is of edition new, build {ids[0]}, and not of build {ids[1]})",
        "mixed: problems.json (it is not what the manifest lists)",
        "foreign: data/notes.txt (it is not in the manifest)",
    ]


def test_a_check_of_an_older_edition_says_which_it_is(folder: Path) -> None:
    ids = [edition_called(name).build_id for name in ("old", "new")]
    why = f"it is of edition old, build {ids[0]}; to publish is new, build {ids[1]}"
    assert faults(folder, "new") == [f"stale: {folder} ({why})"]


def test_a_check_compares_with_what_would_be_made_now(folder: Path) -> None:
    """Another version of the program, or another title, makes other bytes of the same edition."""
    files = small_site("old", ["problems.json", "models.json", "data/results.json", "new.json"])
    other = [File("models.json", b"otherwise") if file.path == "models.json" else file for file in files]
    assert faults(folder, "old", other) == [
        "stale: models.json",
        "stale: new.json",
        "stale: manifest.json",
        "stale: data/deep/table.md (it is no longer made)",
    ]


def test_a_check_of_an_edition_below_the_root_knows_its_build(folder: Path) -> None:
    below = [File(f"editions/older/{file.path}", file.body) for file in small_site("older")]
    files = list(with_manifest(edition_called("old"), [*small_site("old")[:-1], *below]))
    write_site(folder, files)
    assert faults(folder, "old", files) == []
    stray = folder / "editions" / "older" / "models.json"
    stray.write_bytes(small_site("old")[1].body)
    ids = [edition_called(name).build_id for name in ("old", "older")]
    assert faults(folder, "old", files) == [
        f"mixed: editions/older/models.json (it is of edition old, build {ids[0]}, and not of build {ids[1]})"
    ]


def test_a_check_of_no_site(tmp_path: Path) -> None:
    assert faults(tmp_path / "none", "old") == [f"missing: {tmp_path / 'none'} (there is no site)"]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "page.html").write_text("mine")
    with pytest.raises(FolderRefused, match="no site of ours"):
        faults(tmp_path / "other", "old")
