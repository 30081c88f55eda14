"""Measures of memorisation, read from a file."""

from __future__ import annotations

import pytest

from eval.measures import Measured, MeasuresError, read_measures, read_problem_measures


def test_columns_by_default_and_by_name() -> None:
    text = "model,measure,gap,origin\na,1.5,2,us\nb,,-10,\n"
    found = read_measures(text, "f")
    assert found.rows == (Measured("a", 1.5, 0.02, "us"), Measured("b", None, -0.1, ""))
    assert (found.measure, found.gap) == ("measure", "gap")
    other = read_measures("model,loglik,d\na,-1,50\n", "f", "loglik", "d")
    assert other.rows == (Measured("a", -1.0, 0.5, ""),)
    assert read_measures("model,loglik\na,-1\n", "f", "loglik").gap is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "f: has no column model, measure"),
        ("model,loglik\na,1\n", "f: has no column measure"),
        ("model,measure\n,1\n", "f, line 2: names no model"),
        ("model,measure\na,1\nA,2\n", "f, line 3: A is on line 2 already"),
        ("model,measure\na,x\n", "f, line 2, measure: 'x' is no number"),
        ("model,measure\na,nan\n", "'nan' is no number"),
        ("model,measure,gap\na,1,inf\n", "f, line 2, gap: 'inf' is no number"),
        ("model,measure,gap\na,1,3\nb,1,-101\n", "f, line 3, gap: a gap cannot be -101 percentage points"),
        ("model,measure,gap\na,1,0.034\nb,1,-1\nc,2,\n", "f: no gap is wider than 1: these look like shares"),
    ],
)
def test_what_cannot_be_used(text: str, said: str) -> None:
    with pytest.raises(MeasuresError) as caught:
        read_measures(text, "f")
    assert said in caught.value.message
    assert caught.value.hint


def test_small_gaps_in_points_are_taken_where_the_column_says_so_or_they_cannot_be_shares() -> None:
    text = "model,measure,d (points)\na,1,0.4\nb,2,-0.2\n"
    gaps = [one.gap for one in read_measures(text, "f", gap="d (points)").rows]
    assert gaps == pytest.approx([0.004, -0.002])
    mixed = read_measures("model,measure,gap\na,1,0.4\nb,2,3.4\n", "f")
    assert [one.gap for one in mixed.rows] == pytest.approx([0.004, 0.034])
    assert read_measures("model,measure,gap\na,1,0\n", "f").rows[0].gap == 0.0


def test_what_is_no_csv_is_named_by_its_line() -> None:
    with pytest.raises(MeasuresError, match=r"m\.csv, after line 1: not CSV"):
        read_measures('model,measure\na,"1"2\n', "m.csv")


def test_a_cell_of_any_length_gives_a_short_line() -> None:
    with pytest.raises(MeasuresError) as error:
        read_measures("model,measure\na," + "1x" * 50_000 + "\n", "m.csv")
    assert len(error.value.message) < 200


def test_measures_of_problems_are_averaged_for_each_model() -> None:
    text = "model,problem,measure,origin\na,p1,1,x\nb,p1,5,\nA,p2,2,y\na,p3,,x\nc,p1,,\n"
    found = read_measures(text, "m.csv")
    assert [(one.model, one.measure, one.origin) for one in found.rows] == [
        ("a", 1.5, "x, y"),
        ("b", 5, ""),
        ("c", None, ""),
    ]
    assert (found.n_problems, found.gap) == (2, None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model,problem,measure\na,p,1\nA,p,2\n", "m.csv, line 3: A on p is on line 2 already"),
        ("model,problem,measure\na,,1\n", "m.csv, line 2: names no problem"),
        ("model,problem,measure,gap\na,p,1,3\n", "a file of problems has no gap of its own"),
    ],
)
def test_a_file_of_problems_that_cannot_be_used(text: str, said: str) -> None:
    with pytest.raises(MeasuresError) as error:
        read_measures(text, "m.csv")
    assert said in error.value.message


def test_measures_of_problems_without_models() -> None:
    text = "problem,stars,origin\natcoder:a,3,code search\nb,0,\nc,,x\n"
    found = read_problem_measures(text, "m.csv", "stars")
    assert found is not None
    assert (dict(found.values), found.measure, found.origin) == ({"atcoder:a": 3.0, "b": 0.0}, "stars", "code search")
    assert found.lines["b"] == "m.csv, line 3"
    assert read_problem_measures("model,problem,measure\na,p,1\n", "m.csv") is None
    assert read_problem_measures("measure\n1\n", "m.csv") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("problem,measure\np,1\nP,2\n", "m.csv, line 3: P is on line 2 already"),
        ("problem,measure\n,1\n", "m.csv, line 2: names no problem"),
        ("problem,measure\np,-0.5\n", "m.csv, line 2, measure: -0.5 is negative"),
        ("problem,measure\np,few\n", "m.csv, line 2, measure: 'few' is no number"),
        ("problem,count\np,1\n", "m.csv: has no column measure"),
        ("problem,measure,gap\np,1,3\n", "a file of problems has no gap of its own"),
        ('problem,measure\np,"1"2\n', "m.csv, after line 1: not CSV"),
    ],
)
def test_measures_of_problems_that_cannot_be_used(text: str, said: str) -> None:
    with pytest.raises(MeasuresError) as error:
        read_problem_measures(text, "m.csv")
    assert said in error.value.message
    assert error.value.hint
