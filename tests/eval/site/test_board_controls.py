"""The start page in a browser: its controls, its address, its order, and what it does with text that means harm."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from eval.publishing.publication import Published
from tests.eval.editions.built import edition_problem, edition_run
from tests.eval.facts import model, registry
from tests.eval.site.board_pages import View, order, shown, wait_for_view, write_page
from tests.eval.site.browser import Offline
from tests.eval.site.odd_boards import QUOTES, SCRIPT, Shape, edition_of, odd_edition, published_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

MODELS = ("ada", "bob", "cat", "dan", "abe")
MADE = "made before"
DEFAULT = "the default view"


def small() -> Published:
    """Five runs on 24 problems, one a month from 2023-01 on; "abe" has no cut-off, "ada" and "cat" are equally good.

    From 2024 on: ada and cat solve all, bob half, dan none.
    """
    problems = [
        edition_problem(
            place,
            exposed_at=f"{2023 + place // 12}-{1 + place % 12:02}-15",
            platform=("atcoder", "leetcode")[place % 2],
            difficulty=("easy", "hard")[place // 2 % 2],
        )
        for place in range(24)
    ]
    right = {"ada": 2, "bob": 1, "cat": 2, "dan": 0, "abe": 1}
    runs = [edition_run(name, [(place, 2, right[name]) for place in range(24)]) for name in reversed(MODELS)]
    models = registry(*(model(name, None if name == "abe" else "2023-06") for name in MODELS))
    return published_of(edition_of(problems, runs, models))


@pytest.fixture
def page(offline: Offline, tmp_path: Path) -> Page:
    opened = offline.page()
    opened.goto(write_page(tmp_path, small()))
    return opened


def said(page: Page) -> str:
    return page.inner_text("#view-said")


def fragment(page: Page) -> str:
    return page.url.partition("#")[2]


def choose(page: Page, **months: str) -> None:
    """Type months as a reader does, and wait for the tables."""
    for name, month in months.items():
        page.fill(f'[name="{name.rstrip("_")}"]', month)
        page.dispatch_event(f'[name="{name.rstrip("_")}"]', "change")
    wait_for_view(page)


def scores(page: Page, table: str = "common") -> dict[str, str]:
    return {name: cells["score"][0] for name, cells in shown(page)[0]["tables"][table].items()}


def press(page: Page, table: str, column: str) -> None:
    page.click(f"#{table} thead button:text-is('{column}')")


def sorting(page: Page, table: str) -> list[str]:
    """What the heads of a table say of their sorting, but for those that say none."""
    found = page.eval_on_selector_all(
        f"#{table} thead th", "(heads) => heads.map((head) => `${head.textContent.trim()} ${head.ariaSort}`)"
    )
    return [one for one in found if not one.endswith(" none")]


def test_without_scripts_the_tables_stand_as_they_were_made(offline: Offline, tmp_path: Path) -> None:
    page = offline.page(java_script_enabled=False)
    page.goto(f"{write_page(tmp_path, small())}#from=2024-01")
    assert not page.is_visible("#view")
    assert page.inner_text("#own tr[data-run=ada] td[data-column=score]") == MADE
    assert said(page) == DEFAULT


def test_the_data_are_read_once_and_only_when_another_view_is_asked_for(offline: Offline, tmp_path: Path) -> None:
    page = offline.page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    page.goto(write_page(tmp_path, small()))
    assert page.is_visible("#view")
    press(page, "own", "score")
    assert set(asked) == {"index.html", "intervals.js", "tables.js", "board.js"}
    choose(page, from_="2024-01")
    choose(page, to="2024-03")
    # The data's script is asked for with the build, the other one has the same name without it.
    assert asked.count(f"board.js?{small().build_id}") == 1
    assert scores(page) != {}


def test_a_window_is_counted_again_and_kept_in_the_address(page: Page) -> None:
    choose(page, from_="2024-01")
    assert fragment(page) == "from=2024-01"
    assert scores(page) == {"ada": "100.0 %", "bob": "50.0 %", "cat": "100.0 %", "dan": "0.0 %", "abe": "50.0 %"}
    assert scores(page, "own")["abe"] == "–"
    assert order(page, "common") == ["ada", "cat", "abe", "bob", "dan"]
    assert "live eval --after-cutoff --since 2024-01 --split public" in said(page)
    assert "live eval --table common --since 2024-01 --split public" in said(page)
    assert "5 runs on 12 problems of 12 contests; 12 eligible" in said(page)
    assert not page.is_visible("#own [data-default-view]")
    page.reload()
    wait_for_view(page)
    assert scores(page)["bob"] == "50.0 %"
    assert page.input_value('[name="from"]') == "2024-01"


def test_back_and_forward_lead_from_view_to_view(page: Page) -> None:
    choose(page, from_="2024-01")
    page.check('[value="leetcode"]')
    assert fragment(page) == "from=2024-01&platform=leetcode"
    assert scores(page)["bob"] == "3 of 6"
    page.go_back()
    assert scores(page)["bob"] == "50.0 %"
    assert not page.is_checked('[value="leetcode"]')
    page.go_back()
    assert set(scores(page).values()) == {MADE}
    assert (said(page), fragment(page)) == (DEFAULT, "")
    assert page.inner_html("#own tr[data-run=ada] td[data-column=problems]") == "made <b>before</b>"
    assert page.is_visible("#own [data-default-view]")
    page.go_forward()
    page.go_forward()
    assert scores(page)["bob"] == "3 of 6"
    assert page.is_checked('[value="leetcode"]')


def test_reset_leads_back_to_the_page_as_it_was(page: Page) -> None:
    choose(page, from_="2024-01")
    page.check('[value="hard"]')
    page.click("button[type=reset]")
    assert set(scores(page).values()) == {MADE}
    assert (said(page), fragment(page)) == (DEFAULT, "")
    assert order(page, "common") == ["abe", "dan", "cat", "bob", "ada"]
    assert page.input_value('[name="from"]') == ""
    assert not page.is_checked('[value="hard"]')


def test_a_window_that_ends_before_it_begins_leaves_the_tables(page: Page) -> None:
    choose(page, from_="2024-01", to="2024-06")
    before = scores(page)
    choose(page, from_="2024-07")
    assert said(page) == "the window would end with 2024-06, before 2024-07: the tables stay as they were"
    assert (scores(page), fragment(page)) == (before, "from=2024-01&to=2024-06")
    choose(page, from_="2024-01")
    assert "Shown: problems published from 2024-01 on to the end of 2024-06 (UTC)." in said(page)
    choose(page, from_="2024-06")
    assert fragment(page) == "from=2024-06&to=2024-06"
    assert "1 problem of 1 contest" in said(page)


def test_half_a_month_leaves_the_tables(page: Page) -> None:
    choose(page, from_="2024-01")
    before = scores(page)
    page.focus('[name="from"]')
    page.keyboard.press("Backspace")
    page.keyboard.press("Tab")
    assert said(page) == '"from" is no whole month yet: the tables stay as they were'
    assert (scores(page), fragment(page)) == (before, "from=2024-01")


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("from=2024-13", '"2024-13" is no month like 2024-08'),
        ("from=2024-00", '"2024-00" is no month like 2024-08'),
        ("to=9999-12", '"9999-12" is no month like 2024-08'),
        ("from=2024-1", '"2024-1" is no month like 2024-08'),
        ("to=2024-01-01", '"2024-01-01" is no month like 2024-08'),
        ("from=2024-05&to=2024-04", "the window would end with 2024-04, before 2024-05"),
        ("from=2024-05&from=2024-04", '"from" says nothing here'),
        ("platform=nowhere", 'no problem here has the platform "nowhere"'),
        ("platform=", 'no problem here has the platform ""'),
        ("difficulty=hard&difficulty=HARD", 'no problem here has the difficulty "HARD"'),
        ("from=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E", '"<img src=x onerror=alert(1)>" is no month'),
        ("platform=%3Cscript%3Ealert(1)%3C%2Fscript%3E", 'the platform "<script>alert(1)</script>"'),
        ("__proto__=1", '"__proto__" says nothing here'),
        ("constructor=x&toString=y", '"constructor" says nothing here'),
        ("%", '"%" says nothing here'),
        ("%E0%A4%A", "says nothing here"),
        ("x" * 10_000, f'"{"x" * 40}…" says nothing here'),
        ("&".join(f"platform={number}" for number in range(1000)), 'the platform "0"'),
        ("from=2024-01&utm_source=mail", '"utm_source" says nothing here'),
    ],
)
def test_a_broken_address_gives_a_sentence_and_the_default_view(page: Page, asked: str, why: str) -> None:
    page.goto(f"{page.url}#from=2024-01")
    wait_for_view(page)
    page.goto(f"{page.url.partition('#')[0]}#{asked}")
    assert why in said(page)
    assert said(page).endswith("This is the default view.")
    assert set(scores(page).values()) == {MADE}
    assert page.input_value('[name="from"]') == ""
    assert page.locator("#view-said img, #view-said script").count() == 0
    page.reload()
    assert why in said(page)


def test_a_link_within_the_page_leaves_the_view_alone(page: Page) -> None:
    choose(page, from_="2024-01")
    page.click("#own tr[data-run=ada] a")
    assert fragment(page) == "own"
    assert scores(page)["bob"] == "50.0 %"
    assert page.input_value('[name="from"]') == "2024-01"
    page.go_back()
    assert fragment(page) == "from=2024-01"


def test_numbers_begin_with_the_greatest_and_a_third_press_undoes_it(page: Page) -> None:
    choose(page, from_="2024-01")
    made = order(page, "own")
    press(page, "own", "score")
    assert order(page, "own") == ["ada", "cat", "bob", "dan", "abe"]
    assert sorting(page, "own") == ["score descending"]
    assert page.text_content("div[role=status]") == "Sorted by score, descending."
    press(page, "own", "score")
    # Equal ones stay in the order of their names, and what has no number stays last.
    assert order(page, "own") == ["dan", "bob", "ada", "cat", "abe"]
    assert sorting(page, "own") == ["score ascending"]
    press(page, "own", "score")
    assert order(page, "own") == made
    assert sorting(page, "own") == []
    assert page.text_content("div[role=status]") == "In the order of the page again."


def test_words_begin_with_the_alphabet(page: Page) -> None:
    press(page, "common", "model")
    assert order(page, "common") == ["abe", "ada", "bob", "cat", "dan"]
    press(page, "common", "model")
    assert order(page, "common") == ["dan", "cat", "bob", "ada", "abe"]
    assert sorting(page, "common") == ["model descending"]


def test_another_column_begins_anew_and_tables_are_sorted_apart(page: Page) -> None:
    choose(page, from_="2024-01")
    press(page, "own", "score")
    press(page, "own", "eligible")
    assert sorting(page, "own") == ["eligible descending"]
    assert sorting(page, "common") == []
    assert order(page, "common") == ["ada", "cat", "abe", "bob", "dan"]


def test_sorting_holds_when_the_view_changes(page: Page) -> None:
    press(page, "common", "score")
    press(page, "common", "score")
    choose(page, from_="2024-01")
    assert order(page, "common") == ["dan", "abe", "bob", "ada", "cat"]
    press(page, "common", "score")
    assert order(page, "common") == ["ada", "cat", "abe", "bob", "dan"]


def test_columns_can_be_sorted_from_the_keyboard(page: Page) -> None:
    page.focus("#own thead button:text-is('score')")
    page.keyboard.press("Enter")
    assert sorting(page, "own") == ["score descending"]
    page.keyboard.press("Space")
    assert sorting(page, "own") == ["score ascending"]
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert sorting(page, "own") == ["interval descending"]
    page.focus('[name="from"]')
    page.keyboard.press("Enter")  # sends no form away
    assert page.url.endswith("index.html")


def test_rows_stay_with_those_under_equal_settings(offline: Offline, tmp_path: Path) -> None:
    page = offline.page()
    site = published_of(odd_edition(Shape(1, 160, 2.5)))
    page.goto(f"{write_page(tmp_path, site)}#from=2023-05")
    wait_for_view(page)
    groups = "(table) => [...table.tBodies].map((body) => [...body.rows].map((row) => row.dataset.run ?? null))"
    before = page.eval_on_selector("#common", groups)
    assert len(before) > 2
    press(page, "common", "lacks")
    after = page.eval_on_selector("#common", groups)
    assert after != before
    assert [sorted(map(str, group)) for group in after] == [sorted(map(str, group)) for group in before]
    assert all(group[0] is None for group in after)  # the title of each group stays at its head


def test_hostile_names_are_text(offline: Offline, tmp_path: Path) -> None:
    page = offline.page()
    site = published_of(odd_edition(Shape(1, 160, 2.5)))
    view = View("2023-05", platforms=(SCRIPT,), difficulties=(QUOTES,))
    page.goto(f"{write_page(tmp_path, site)}#{view.fragment}")
    wait_for_view(page)
    assert SCRIPT in said(page)
    assert f"--platform {shlex.quote(SCRIPT)} --difficulty {shlex.quote(QUOTES)} --split public" in said(page)
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 4


def test_data_that_are_not_there_are_told(offline: Offline, tmp_path: Path) -> None:
    page = offline.page()
    page.goto(write_page(tmp_path, small()))
    (tmp_path / "data" / "board.js").unlink()
    choose(page, from_="2024-01")
    page.locator("#view-said").filter(has_text="cannot be read").wait_for()
    assert said(page) == "No other view can be shown: data/board.js cannot be read. The tables are as they were."
    assert set(scores(page).values()) == {MADE}
    page.click("button[type=reset]")
    assert said(page) == DEFAULT
    not_there(offline)


def test_data_that_could_not_be_read_are_read_when_a_control_is_used_again(offline: Offline, tmp_path: Path) -> None:
    page = offline.page()
    page.goto(write_page(tmp_path, small()))
    kept = (tmp_path / "data" / "board.js").rename(tmp_path / "kept.js")
    choose(page, from_="2024-01")
    page.locator("#view-said").filter(has_text="cannot be read").wait_for()
    kept.rename(tmp_path / "data" / "board.js")
    choose(page, to="2024-12")
    page.locator("#view-said").filter(has_text="Shown: problems published").wait_for()
    assert scores(page)["bob"] == "50.0 %"
    assert page.locator("script[src^='data/board.js']").count() == 1
    not_there(offline)


def not_there(offline: Offline) -> None:
    """Nothing but a missing file was reported: once for each time that it was asked for."""
    assert offline.errors
    assert all("ERR_FILE_NOT_FOUND" in error for error in offline.errors)
    offline.errors.clear()


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("window.LIVE_BOARD={build:'other',format:1};", "page and data are of different builds"),
        (f"window.LIVE_BOARD={{build:'{small().build_id}',format:3}};", "the data are of format 3"),
    ],
)
def test_data_of_another_build_or_form_are_not_shown(page: Page, tmp_path: Path, script: str, why: str) -> None:
    (tmp_path / "data" / "board.js").write_text(script)
    choose(page, from_="2024-01")
    assert why in said(page)
    assert set(scores(page).values()) == {MADE}
