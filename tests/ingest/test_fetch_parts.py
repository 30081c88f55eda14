"""The pure parts of fetching: addresses, mirrors, logins, pauses, rules of robots."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.web.addresses import Mirrors, is_loopback, leads_to_login, normal_url, place_of, without_language
from ingest.web.retries import backoff_s, retry_after
from ingest.web.robots import read_robots

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
UNUSABLE = [
    "٣",
    "²",
    "Sun, 99 Mar 2026 12:02:00 GMT",
    "Fri, 31 Dec 9999 23:59:59 -1200",
    "Fri, 01 Jan 0001 00:00:00 +1200",
    "Fri, 31 Dec 2026 23:59:59 +99999999999999",
    "Fri, 31 Dec 2026 23:59:59 -2400",
    f"Fri, 31 Dec {'9' * 30} 23:59:59 GMT",
    f"Fri, {'9' * 5000} Dec 2026 23:59:59 GMT",
]


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("https://Site.Example", "https://site.example/"),
        ("HTTPS://site.example:443/A?b=C#d", "https://site.example/A?b=C"),
        ("http://site.example:80/a", "http://site.example/a"),
        ("http://site.example:8080/a", "http://site.example:8080/a"),
        (" https://site.example/a b ", "https://site.example/a%20b"),
        ("https://site.example/日?q=[1]&r=%20", "https://site.example/%E6%97%A5?q=[1]&r=%20"),
        ("https://site.example/a\r\nX: 1", "https://site.example/a%0D%0AX:%201"),
        ("http://[::1]:9000/a", "http://[::1]:9000/a"),
    ],
)
def test_one_spelling_of_each_address(written: str, normal: str) -> None:
    assert normal_url(written) == normal
    assert normal_url(normal) == normal


@pytest.mark.parametrize(
    "written",
    ["", "a", "/a", "//site.example/a", "ftp://x/a", "https:///a", "https://u@x/a", "https://x:99999/", "file:///a"],
)
def test_what_is_no_address_is_refused(written: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        normal_url(written)


@given(st.text(max_size=30))
def test_any_text_has_one_spelling_or_none(written: str) -> None:
    try:
        normal = normal_url(f"https://site.example/{written}")
    except ValueError:
        return
    assert normal_url(normal) == normal
    assert normal.isascii()
    assert normal.isprintable()
    assert place_of(normal) == "site.example"


@pytest.mark.parametrize(
    ("query", "is_language"),
    [("?lang=en", True), ("?locale=en&lang=", True), ("", False), ("?page=2", False), ("?lang=en&page=2", False)],
)
def test_addresses_that_say_nothing_more_but_a_language(query: str, is_language: bool) -> None:
    assert without_language(f"https://x.example/a{query}") == ("https://x.example/a" if is_language else None)


def test_loopback_is_this_machine() -> None:
    assert all(map(is_loopback, ["http://127.0.0.1:9/", "http://127.8.8.8/", "http://[::1]/", "http://localhost/"]))
    assert not any(map(is_loopback, ["http://10.0.0.1/", "http://localhost.example/", "http://127.0.0.1.example/"]))


@pytest.mark.parametrize(
    ("target", "is_login"),
    [
        ("/login", True),
        ("/login/", True),
        ("/Enter?back=/x", True),
        ("/accounts/login/?next=/x", True),
        ("/users/sign_in", True),
        ("/contests/login-fest/tasks", False),
        ("/contests/enterprise", False),
        ("/authors", False),
        ("/contests?login=1", False),
    ],
)
def test_paths_of_logins(target: str, is_login: bool) -> None:
    assert leads_to_login("https://site.example/x", f"https://site.example{target}") == is_login


def test_a_path_that_was_asked_for_is_no_login() -> None:
    assert not leads_to_login("https://site.example/contests/login", "https://site.example/contests/login/tasks")


MIRRORS = Mirrors({
    "https://site.example": "http://127.0.0.1:9000/site",
    "https://site.example/api": "http://127.0.0.1:9001",
    "https://plain.example/": "http://127.0.0.1:9002/",
})  # fmt: skip


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("https://site.example/contests?page=2", "http://127.0.0.1:9000/site/contests?page=2"),
        ("https://site.example/", "http://127.0.0.1:9000/site/"),
        ("https://site.example/api/list", "http://127.0.0.1:9001/list"),
        ("https://site.example/apis", "http://127.0.0.1:9000/site/apis"),
        ("https://plain.example/x", "http://127.0.0.1:9002/x"),
        ("https://site.example.evil/x", "https://site.example.evil/x"),
        ("http://site.example/x", "http://site.example/x"),
    ],
)
def test_a_mirror_stands_for_a_prefix(url: str, asked: str) -> None:
    assert MIRRORS.asked(url) == asked


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/site/new", "https://site.example/new"),
        ("http://127.0.0.1:9000/site/new", "https://site.example/new"),
        ("/new", "https://site.example/new"),
        ("new", "https://site.example/new"),
        ("https://site.example/new", "https://site.example/new"),
        ("https://else.example/new", "https://else.example/new"),
    ],
)
def test_redirects_of_a_mirror_name_the_sites_own_addresses(location: str, target: str) -> None:
    assert MIRRORS.redirected("https://site.example/old", location) == target


def test_redirects_without_a_mirror() -> None:
    assert MIRRORS.redirected("https://a.example/x/y?z", "../w#f") == "https://a.example/w"
    with pytest.raises(ValueError, match="no address"):
        MIRRORS.redirected("https://a.example/x", "mailto:me@a.example")


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("0", 0),
        ("120", 120),
        (" 3 ", 3),
        ("Sun, 01 Mar 2026 12:02:00 GMT", 120),
        ("Sunday, 01-Mar-26 12:02:00 GMT", 120),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0),
        ("Sun, 01 Mar 2026 12:02:00 -0000", 120),
        ("Sun, 01 Mar 2036 12:02:00 GMT", 3600),
        ("9" * 400, 3600),
        ("9" * 50_000, 3600),
    ],
)
def test_retry_after_is_read(written: str, seconds: float) -> None:
    assert retry_after({"retry-after": written}, NOW, 3600) == NOW + timedelta(seconds=seconds)


@pytest.mark.parametrize("written", ["", "soon", "-5", "1.5", *UNUSABLE])
def test_a_retry_after_that_says_nothing(written: str) -> None:
    assert retry_after({"retry-after": written}, NOW, 3600) == NOW
    assert retry_after({}, NOW, 3600) == NOW


@given(st.from_regex(r"[A-Za-z]{3}, [0-9]{1,5} [A-Z][a-z]{2} [0-9]{1,22} [0-9]{2}:[0-9]{2}(:[0-9]{2})? [-+]?[A-Z0-9]*"))
def test_no_date_of_a_host_ends_a_run(written: str) -> None:
    assert NOW <= retry_after({"retry-after": written}, NOW, 3600) <= NOW + timedelta(hours=1)


@given(st.integers(1, 2000), st.integers(0, 10**6))
def test_pauses_stay_below_their_ceiling(attempt: int, seed: int) -> None:
    assert 0 <= backoff_s(attempt, 2.0, 60.0, random.Random(seed)) <= min(60.0, 2.0 * 2 ** min(attempt - 1, 10))


def test_rules_of_robots() -> None:
    rules = read_robots(200, b"\xef\xbb\xbfUser-agent: *\nDisallow: /a\nAllow: /a/b$\nCrawl-delay: 2.5\n")
    assert [rules.allows(f"https://x.example{path}") for path in ("/", "/a", "/a/b", "/a/bc")] == [
        True,
        False,
        True,
        False,
    ]
    assert rules.delay_s == 2.5
    for status, body in ((404, b"User-agent: *\nDisallow: /"), (200, b""), (200, b"\xff\x00"), (200, b"Disallow: /")):
        assert read_robots(status, body).allows("https://x.example/a")
        assert read_robots(status, body).delay_s == 0
    late = b"User-agent: *\n" + b"# x\n" * 200_000 + b"Disallow: /\n"
    assert read_robots(200, late).allows("https://x.example/a"), "rules beyond 500 KiB are not looked at"


@pytest.mark.parametrize(
    ("written", "delay_s"),
    [("1e300", 1e300), ("nan", 0), ("-1", 0), ("-1e300", 0), ("soon", 0), ("60", 60), ("9" * 5000, None)],
)
def test_every_crawl_delay_is_a_number_of_seconds(written: str, delay_s: float | None) -> None:
    found = read_robots(200, f"User-agent: *\nCrawl-delay: {written}\n".encode()).delay_s
    assert found >= 0
    assert delay_s in (None, found)


def test_rules_for_many_others_cost_nothing() -> None:
    """Each of 15,000 rules would be kept for each of 15,000 agents."""
    agents = "".join(f"User-agent: {number}\nUser agent a{number}\n" for number in range(8_000))
    rules = "".join(f"Allow: /{number}\n" for number in range(15_000))
    others = read_robots(200, f"{agents}{rules}Disallow: /".encode())
    assert others.allows("https://x.example/a")
    for name in ("*", "LiveCut", "live", "Live*cut # us"):
        ours = read_robots(200, f"User-agent: 1\nDisallow: /a\n\n{agents}User-agent: {name}\nDisallow: /b\n".encode())
        assert [ours.allows(f"https://x.example/{path}") for path in "ab"] == [True, False]
