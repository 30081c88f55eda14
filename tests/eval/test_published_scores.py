"""Published scores: our own CSV, and EvalPlus's file as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.published_scores import Published, PublishedError, read_published

EVALPLUS = '{"A": {"pass@1": {"humaneval": 81.7, "mbpp": null}}, "B": {"pass@1": {"mbpp": 50}}}'


def test_csv() -> None:
    text = "n,model,score,link\n164, GPT-4 ,90.2,x\n100,b,0,\n"
    assert read_published(text, "f") == [Published("GPT-4", 0.902, 164), Published("b", 0.0, 100)]


def test_evalplus() -> None:
    (one,) = read_published(EVALPLUS, "f", "humaneval")
    assert (one.model, one.n) == ("A", 164)
    assert one.share == pytest.approx(0.817)
    assert read_published(EVALPLUS, "f", "mbpp") == [Published("B", 0.5, 378)]


@pytest.mark.shared
@pytest.mark.parametrize(("benchmark", "n"), [("humaneval", 125), ("humaneval+", 125), ("mbpp", 89), ("mbpp+", 89)])
def test_the_recorded_leaderboard(shared_data: Path, benchmark: str, n: int) -> None:
    path = shared_data / "saturated" / "evalplus_leaderboard.json"
    found = read_published(path.read_text(encoding="utf-8"), "f", benchmark)
    assert len(found) == n
    if benchmark == "humaneval":
        assert found[0].model == "OpenCoder-8B-Instruct"
        assert found[0].share == pytest.approx(0.817)


@pytest.mark.parametrize(
    ("text", "benchmark", "said"),
    [
        ("model,score\na,1\n", None, "has no column n"),
        ("", None, "has no column model, score, n"),
        ("model,score,n\n", None, "holds no score"),
        ("model,score,n\n,1,1\n", None, "line 2: names no model"),
        ("model,score,n\na,101,1\n", None, "line 2: the score cannot be '101'"),
        ("model,score,n\na,x,1\n", None, "the score cannot be 'x'"),
        ("model,score,n\na,0.88,164\nb,0,164\nc,1,164\n", None, "no score is above 1 %: these look like shares"),
        ('{"A": {"pass@1": {"mbpp": 0.5}}}', "mbpp", "these look like shares, and percent is wanted"),
        ("model,score,n\na,1,0\n", None, 'the number of problems cannot be "0"'),
        ("model,score,n\na,1,1\nA,2,1\n", None, "A is there twice"),
        ("model,score,n\na,1,1\n", "humaneval", "is no EvalPlus file"),
        (EVALPLUS, None, "which of EvalPlus's benchmarks?"),
        (EVALPLUS, "gsm8k", "EvalPlus has no gsm8k"),
        (EVALPLUS, "mbpp+", "holds no score"),
        ("{", "mbpp", "not valid JSON"),
        ('{"A": 3}', "mbpp", '"A" has no "pass@1"'),
        ('{"A": {"pass@1": {"mbpp": true}}}', "mbpp", "the score cannot be True"),
    ],
)
def test_what_cannot_be_used(text: str, benchmark: str | None, said: str) -> None:
    with pytest.raises(PublishedError) as caught:
        read_published(text, "f.csv", benchmark)
    assert said in caught.value.message
    assert caught.value.hint
