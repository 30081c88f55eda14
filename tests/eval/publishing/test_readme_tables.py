"""Tables in a Markdown file: replaced between their marks, while every other byte of the file stays."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from eval.exports.markdown import table_markdown
from eval.publishing.readme_files import ReadmeRefused, read_readmes, write_readme
from eval.publishing.readme_tables import MarksUnreadable, rewrite
from tests.eval.editions.built import invented, published
from tests.without_rights import rights_count

TABLE = "| a |\n|---|\n| 1 |\n"


def table_of(which: str) -> str:
    return TABLE.replace("a", which)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["\ufeff", ""])
@pytest.mark.parametrize("last", ["", "end"])
def test_other_bytes_stay_and_the_files_own_line_endings_are_used(end: str, mark: str, last: str) -> None:
    before = f"{mark}# Titel ü\u2028{end}\t x  {end}<!-- live:own -->{end}old{end}{end}"
    after = f"<!-- /live -->{end}\x0b{end}{end}  <!--live:common-->{end}<!--/live-->"
    result = rewrite(f"{before}{after}{last and end}{last}".encode(), "README.md", table_of)
    own, common = (table_of(which).replace("\n", end) for which in ("own", "common"))
    assert result.body.decode() == (
        f"{mark}# Titel ü\u2028{end}\t x  {end}<!-- live:own -->{end}{end}{own}{end}"
        f"<!-- /live -->{end}\x0b{end}{end}  <!--live:common-->{end}{end}{common}{end}<!--/live-->{last and end}{last}"
    )
    assert [(one.which, one.line, one.is_stale) for one in result.tables] == [("own", 3, True), ("common", 9, True)]
    again = rewrite(result.body, "README.md", table_of)
    assert again.body == result.body
    assert not again.is_stale


WRONG = {
    "# nothing here\n": "f.md has no mark for a table",
    "a\n<!-- live:own -->\nb\n": "f.md:2: <!-- live:own --> has no <!-- /live --> after it",
    "a\n\n<!-- /live -->\n": "f.md:3: <!-- /live --> ends a table that begins nowhere",
    "<!-- live:own -->\n<!-- live:common -->\n<!-- /live -->\n<!-- /live -->\n": (
        "f.md:2: <!-- live:common --> stands inside the table of line 1, which has no <!-- /live --> before it"
    ),
    "<!-- live:own -->\n<!-- /live -->\n<!-- live:owned -->\n<!-- /live -->\n": (
        "f.md:3: no table is called so: <!-- live:owned -->"
    ),
    "<!-- live -->\n<!-- /live -->\n": "f.md:1: no table is called so: <!-- live -->",
    "<!-- live: -->\n": "f.md:1: no table is called so: <!-- live: -->",
    "<!-- live:own -->\n<!-- /live:own -->\n": "f.md:2: no table is called so: <!-- /live:own -->",
    "write <!-- live:own --> and <!-- /live -->\n": "f.md has no mark for a table",
}


@pytest.mark.parametrize("text", WRONG)
def test_marks_that_cannot_be_told_are_named_with_their_line(text: str) -> None:
    with pytest.raises(MarksUnreadable) as error:
        rewrite(text.encode(), "f.md", table_of)
    assert error.value.message == WRONG[text]
    assert (
        error.value.hint == "write <!-- live:own --> (or common, equated) and <!-- /live -->, each on a line of its own"
    )


def test_a_file_that_is_not_utf8_is_no_place_for_a_table() -> None:
    with pytest.raises(MarksUnreadable, match=r"f\.md:2: not UTF-8"):
        rewrite("<!-- live:own -->\nsüd\n<!-- /live -->\n".encode("latin-1"), "f.md", table_of)
    with pytest.raises(MarksUnreadable, match=r"f\.md:1: not UTF-8"):
        rewrite("<!-- live:own -->\n<!-- /live -->\n".encode("utf-16"), "f.md", table_of)


def test_marks_in_code_and_in_a_sentence_are_text() -> None:
    code = (
        "Write `<!-- live:own -->`, or <!-- livelier --> things:\n\n```md\n<!-- live:own -->\n<!-- /live -->\n```\n\n"
        "    <!-- live:nonsense -->\n\n~~~\n```\n<!-- /live -->\n~~~\n<!-- lively -->\n"
    )
    tables = "> <!-- live:no table in quotes -->\n\n<!-- live:equated -->\n<!-- /live -->\n"
    result = rewrite((code + tables).encode(), "f.md", table_of)
    assert result.body.decode().startswith(code)
    assert [one.which for one in result.tables] == ["equated"]


def test_tables_of_an_edition_with_hostile_names_stay_between_their_marks() -> None:
    shown = published(invented())
    marks = "".join(f"<!-- live:{which} -->\n<!-- /live -->\n" for which in ("own", "common", "equated"))
    result = rewrite(marks.encode(), "f.md", lambda which: table_markdown(shown, which))
    again = rewrite(result.body, "f.md", lambda which: table_markdown(shown, which))
    assert (len(result.tables), again.body, again.is_stale) == (3, result.body, False)
    assert result.body.count(shown.build_id.encode()) >= 3
    assert b"<script" not in result.body


def test_files_are_replaced_in_one_step_with_their_mode_and_links_are_followed(tmp_path: Path) -> None:
    target = tmp_path / "docs" / "README.md"
    target.parent.mkdir()
    target.write_text("<!-- live:own -->\n<!-- /live -->\n")
    target.chmod(0o640)
    (tmp_path / "README.md").symlink_to("docs/README.md")
    readmes = read_readmes([tmp_path / "README.md", target], table_of)
    assert [one.named for one in readmes] == [tmp_path / "README.md"]
    inode = target.stat().st_ino
    write_readme(readmes[0])
    assert (tmp_path / "README.md").is_symlink()
    assert target.read_text() == f"<!-- live:own -->\n\n{table_of('own')}\n<!-- /live -->\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert target.stat().st_ino != inode
    assert os.listdir(target.parent) == ["README.md"]


@pytest.mark.parametrize("which", ["file", "folder"])
def test_a_file_that_may_not_be_written_stays(tmp_path: Path, which: str) -> None:
    target = tmp_path / "README.md"
    target.write_text("<!-- live:own -->\n<!-- /live -->\n")
    readme = read_readmes([target], table_of)[0]
    locked = target if which == "file" else tmp_path
    before = locked.stat().st_mode
    locked.chmod(0o555)
    try:
        with rights_count(), pytest.raises(ReadmeRefused, match=r"README\.md: cannot be written"):
            write_readme(readme)
    finally:
        locked.chmod(before)
    assert target.read_text() == "<!-- live:own -->\n<!-- /live -->\n"
    assert os.listdir(tmp_path) == ["README.md"]


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    for path in (tmp_path / "none.md", tmp_path):
        with pytest.raises(ReadmeRefused, match="cannot be read"):
            read_readmes([path], table_of)
