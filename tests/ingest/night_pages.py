"""Pages in the shape of the three sites, written from the problems of ``data/night/problems.toml``. Pure.

What surrounds a list or a statement is taken from the pages that the tests of each source have.
"""

from __future__ import annotations

import html
import json
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from tests.ingest import atcoder_site, codeforces_site, leetcode_pages

TEXTS: dict[str, dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "data" / "night" / "problems.toml").read_text(encoding="utf-8")
)
_TOKYO = timezone(timedelta(hours=9))
_MATH = re.compile("<m>(.*?)</m>")
_CODE = r"<code>\1</code>"
_BODY = re.compile("<tbody>.*?</tbody>", re.DOTALL)


@dataclass(frozen=True)
class Listed:
    """A problem as a contest lists it: its letter, its id and the name of its text. LeetCode calls it by ``slug``."""

    index: str
    native_id: str
    text: str

    @property
    def title(self) -> str:
        return str(TEXTS[self.text]["title"])

    @property
    def slug(self) -> str:
        return re.sub("[^a-z]+", "-", self.title.lower())


@dataclass
class Contest:
    """A contest, as its site announces it."""

    native_id: str
    title: str
    starts_at: datetime
    minutes: int
    problems: tuple[Listed, ...] = ()

    @property
    def ends_at(self) -> datetime:
        return self.starts_at + timedelta(minutes=self.minutes)

    @property
    def start_s(self) -> int:
        return int(self.starts_at.timestamp())


def codeforces_contest(contest: Contest, now: datetime) -> dict[str, Any]:
    """A contest object of the API."""
    return {
        "id": int(contest.native_id),
        "name": contest.title,
        "type": "ICPC" if contest.title.startswith("Educational") else "CF",
        "phase": "FINISHED" if contest.ends_at <= now else "BEFORE",
        "frozen": False,
        "durationSeconds": contest.minutes * 60,
        "startTimeSeconds": contest.start_s,
    }


def codeforces_problem(contest: Contest, listed: Listed) -> dict[str, Any]:
    """A problem object of the API."""
    return {
        "contestId": int(contest.native_id),
        "index": listed.index,
        "name": listed.title,
        "type": "PROGRAMMING",
        "points": 500.0,
        "tags": [],
    }


def codeforces_statement(listed: Listed) -> str:
    """A problem as a complete problem set and its own page hold it."""
    text = TEXTS[listed.text]
    parts = [f'<div class="title">{listed.index}. {listed.title}</div>']
    for name, label, value in (
        ("time-limit", "time limit per test", text["time_limit"]),
        ("memory-limit", "memory limit per test", text["memory_limit"]),
        ("input-file input-standard", "input", "standard input"),
        ("output-file output-standard", "output", "standard output"),
    ):
        parts.append(f'<div class="{name}"><div class="property-title">{label}</div>{value}</div>')
    sections = [f'<div class="header">{"".join(parts)}</div>', f"<div>{_dollars(text['legend'])}</div>"]
    for part, name, title in (
        ("input", "input-specification", "Input"),
        ("output", "output-specification", "Output"),
        ("interaction", "", "Interaction"),
    ):
        if part in text:
            opening = f'<div class="{name}">' if name else "<div>"
            sections.append(f'{opening}<div class="section-title">{title}</div>{_dollars(text[part])}</div>')
    samples = "".join(
        f'<div class="input"><div class="title">Input</div><pre>\n{html.escape(given)}</pre></div>'
        f'<div class="output"><div class="title">Output</div><pre>\n{html.escape(answer)}</pre></div>'
        for given, answer in text["samples"]
    )
    sections.append(
        '<div class="sample-tests"><div class="section-title">Examples</div>'
        f'<div class="sample-test">{samples}</div></div>'
    )
    return _holder(listed, f'<div class="problem-statement">{"".join(sections)}</div>')


def codeforces_gap(listed: Listed) -> str:
    """The place of a problem in a complete problem set that lacks its statement."""
    return _holder(listed, "")


def _holder(listed: Listed, statement: str) -> str:
    uuid = f"ps_{listed.native_id}"
    return (
        f'<div class="problemindexholder" problemindex="{listed.index}" data-uuid="{uuid}">'
        f'<div class="ttypography">{statement}<p>  </p></div></div>'
    )


def _dollars(text: str) -> str:
    return _MATH.sub(lambda match: f"$$${match[1]}$$$", text)


def codeforces_set(contest: Contest, parts: Iterable[str]) -> str:
    """The complete problem set of a contest."""
    page = codeforces_site.data("problems_9001.html").decode()
    head, _, rest = page.partition('<div class="problem-frames">')
    foot = rest[rest.index("\n</div>\n<br></div>") :]
    head = head.replace("Codeforces Round 2001 (Div. 1)", contest.title)
    frames = "".join(f"\n<div>\n{part}\n</div>" for part in parts)
    return f'{head}<div class="problem-frames">{frames}{foot}'


def codeforces_page(listed: Listed) -> str:
    """A problem's own page."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta http-equiv="content-type" content="text/html; charset=UTF-8">'
        f"<title>Problem - {listed.index} - Codeforces</title></head>\n"
        f'<body><div id="pageContent" class="content-with-sidebar">{codeforces_statement(listed)}</div></body>\n</html>'
    )


def atcoder_archive(contests: Iterable[Contest]) -> str:
    """The only page of an archive, or of a category of it."""
    page = atcoder_site.text_of("archive_weekday.html").replace("category=20&amp;", "")
    return _with_rows(page, ["".join(_atcoder_row(contest) for contest in contests)])


def atcoder_overview(upcoming: Iterable[Contest], recent: Iterable[Contest]) -> str:
    """The page of current contests: none is running, and one is permanent."""
    permanent = '<tr><td><a href="/contests/zpractice">practice contest</a></td><td class="text-center">-</td></tr>'
    rows = ["", permanent, *("".join(_atcoder_row(contest) for contest in some) for some in (upcoming, recent))]
    return _with_rows(atcoder_site.text_of("overview.html"), rows)


def _atcoder_row(contest: Contest) -> str:
    start = contest.starts_at.astimezone(_TOKYO)
    shown = f"<time class='fixtime fixtime-full'>{start:%Y-%m-%d %H:%M:%S%z}</time>"
    return f"""
			<tr>
				<td class="text-center"><a href='http://www.timeanddate.com/worldclock/fixedtime.html?iso=\
{start:%Y%m%dT%H%M}&p1=248' target='blank'>{shown}</a></td>
				<td ><span aria-hidden='true' title="Algorithm">Ⓐ</span><span class="user-blue">◉</span> \
<a href='/contests/{contest.native_id}'>{contest.title}</a></td>
				<td class="text-center">{contest.minutes // 60:02}:{contest.minutes % 60:02}</td>
				<td class="text-center"> ~ 1999</td>
			</tr>"""


def _with_rows(page: str, bodies: list[str]) -> str:
    """A page with other rows in its tables, one text for each table."""
    assert len(_BODY.findall(page)) == len(bodies)
    rows = iter(bodies)
    return _BODY.sub(lambda _: f"<tbody>{next(rows)}</tbody>", page)


def atcoder_tasks(contest: Contest) -> str:
    """The tasks of a contest."""
    links = [f"/contests/{contest.native_id}/tasks/{listed.native_id}" for listed in contest.problems]
    rows = "".join(
        f'<tr><td class="text-center no-break"><a href="{link}">{listed.index}</a></td>'
        f'<td><a href="{link}">{html.escape(listed.title)}</a></td>'
        f'<td class="text-right">{TEXTS[listed.text]["time_limit"]}</td>'
        f'<td class="text-right">{TEXTS[listed.text]["memory_limit"]}</td></tr>'
        for link, listed in zip(links, contest.problems, strict=True)
    )
    return _in_contest(_with_rows(atcoder_site.text_of("tasks.html"), [rows]), contest)


def atcoder_task(contest: Contest, listed: Listed) -> str:
    """A task's own page, in English and, where its text has it, in Japanese before that."""
    text = TEXTS[listed.text]
    languages = [_atcoder_statement(text, language) for language in ("ja", "en") if _legend(language) in text]
    page = atcoder_site.statement_page(f'\n\t\t\t<span class="lang">\n{"".join(languages)}</span>')
    page = page.replace("Time Limit: 2 sec", f"Time Limit: {text['time_limit']}")
    page = page.replace("Memory Limit: 1024 MiB", f"Memory Limit: {text['memory_limit']}")
    page = page.replace("A - Two Lamps", f"{listed.index} - {listed.title}").replace("zbc412_a", listed.native_id)
    return _in_contest(page, contest)


def _legend(language: str) -> str:
    return "legend" if language == "en" else f"legend_{language}"


def _atcoder_statement(text: dict[str, Any], language: str) -> str:
    names = {"en": ("Problem Statement", "Input", "Output", "Sample Input", "Sample Output")}
    names["ja"] = ("問題文", "入力", "出力", "入力例", "出力例")
    task, given, wanted, sample_input, sample_output = names[language]
    sections = [(task, _vars(text[_legend(language)])), (given, _vars(text["input"])), (wanted, _vars(text["output"]))]
    for number, (sample, answer) in enumerate(text["samples"], start=1):
        sections.append((f"{sample_input} {number}", f"<pre>{html.escape(sample)}</pre>\n"))
        sections.append((f"{sample_output} {number}", f"<pre>{html.escape(answer)}</pre>\n"))
    parts = "".join(
        f'<div class="part">\n<section>\n<h3>{name}</h3>{part}\n</section>\n</div>\n' for name, part in sections
    )
    return f'<span class="lang-{language}">\n<p>Score : <var>100</var> points</p>\n{parts}</span>\n'


def _vars(text: str) -> str:
    return _MATH.sub(r"<var>\1</var>", text)


def _in_contest(page: str, contest: Contest) -> str:
    """A page of the contest that the data has, as one of another contest."""
    page = page.replace("2026-03-07T21:00:00+09:00", contest.starts_at.astimezone(_TOKYO).isoformat())
    page = page.replace("2026-03-07T22:40:00+09:00", contest.ends_at.astimezone(_TOKYO).isoformat())
    return page.replace("Lamp Beginner Contest 412", contest.title).replace("zbc412", contest.native_id)


def leetcode_contest(contest: Contest) -> dict[str, Any]:
    """A contest in the list of all."""
    return {
        "title": contest.title,
        "titleSlug": contest.native_id,
        "startTime": contest.start_s,
        "duration": contest.minutes * 60,
        "originStartTime": contest.start_s,
        "isVirtual": False,
        "containsPremium": False,
    }


def leetcode_info(contest: Contest, now: datetime) -> dict[str, Any]:
    """A contest's own answer: its questions are there from its start on."""
    answer: dict[str, Any] = leetcode_pages.load("contest_info.json")
    answer["contest"] |= {
        "title": contest.title,
        "title_slug": contest.native_id,
        "duration": contest.minutes * 60,
        "start_time": contest.start_s,
        "origin_start_time": contest.start_s,
    }
    listed = contest.problems if contest.starts_at <= now else ()
    answer["questions"] = [
        {"id": 1, "question_id": int(one.native_id), "credit": 3, "title": one.title, "title_slug": one.slug}
        for one in listed
    ]
    return answer


def leetcode_question(listed: Listed) -> dict[str, Any]:
    """The answer for one question; one without a function is locked."""
    text = TEXTS[listed.text]
    named = {"questionId": listed.native_id, "title": listed.title, "titleSlug": listed.slug}
    if "function" not in text:
        locked = dict.fromkeys(("content", "metaData", "exampleTestcases", "sampleTestCase"))
        return leetcode_pages.question(
            **named, **locked, isPaidOnly=True, exampleTestcaseList=[], codeSnippets=None, difficulty=text["difficulty"]
        )
    examples = "".join(
        f'<p><strong class="example">Example {number}:</strong></p>\n<pre>\n<strong>Input:</strong> {shown}\n'
        f"<strong>Output:</strong> {answer}\n</pre>\n"
        for number, (_, shown, answer) in enumerate(text["samples"], start=1)
    )
    inputs = [given for given, _, _ in text["samples"]]
    parameters = [{"name": name, "type": kind} for name, kind in text["parameters"]]
    names = "".join(f", {name}" for name, _ in text["parameters"])
    code = f"class Solution:\n    def {text['function']}(self{names}):\n        "
    return leetcode_pages.question(
        **named,
        content=f"{_MATH.sub(_CODE, text['legend'])}\n{examples}",
        difficulty=text["difficulty"],
        exampleTestcases="\n".join(inputs),
        exampleTestcaseList=inputs,
        sampleTestCase=inputs[0],
        metaData=json.dumps(
            {"name": text["function"], "params": parameters, "return": {"type": text["returns"]}}, indent=2
        ),
        codeSnippets=[{"langSlug": "python3", "code": code}],
    )


def leetcode_newest(listed: Iterable[Listed]) -> dict[str, Any]:
    """The newest questions of the problem list."""
    questions = [
        {"questionId": one.native_id, "questionFrontendId": "4711", "title": one.title, "titleSlug": one.slug}
        for one in listed
    ]
    return {"data": {"problemsetQuestionList": {"total": 4711, "questions": questions}}}
