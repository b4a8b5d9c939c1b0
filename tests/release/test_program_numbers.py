"""Numbers that programs return carry the noise's error, a name and a unit, wherever they are."""

from __future__ import annotations

import json
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from bayesdp import kernel
from bayesdp.errors import UnsupportedError
from bayesdp.mechanisms import DiscreteLaplace
from bayesdp.release.programs.answers import ProgramAnswer
from bayesdp.report.programs import program_row, results_html, show_answers
from tests.release.program_studies import asks, study

TEXT = """@record
class Person:
    height: Real[100, 230]
    smokes: Bool
    region: Public[Category["north", "south"]]


@program
def smokers(people: Database[Person]) -> Private[Int]:
    return laplace(count(p for p in people if p.smokes), epsilon=1 / 2)


@program
def mean_height(people: Database[Person]) -> Private[Real]:
    total = laplace(sum(clip(p.height, 150, 190) for p in people), epsilon=1 / 2)
    return clip(total / people.size, 150, 190)


@program
def in_metres(people: Database[Person]) -> Private[Real]:
    total = laplace(sum(clip(p.height, 150, 190) for p in people), epsilon=1 / 2)
    return 200 - total / people.size / 100


@program
def spread_out(people: Database[Person]) -> Private[tuple[Vector, Real, Int, Real]]:
    cells = laplace(sum((p.smokes, 2 * p.smokes) for p in people), epsilon=1 / 2)
    n = laplace(count(p for p in people if p.smokes), epsilon=1 / 4)
    if n > 10000:
        much = n * 10
    else:
        much = n + 3
    return cells, cells[1] / max(n, 1), much, cells[0] - n


@program
def likeliest(
    people: Database[Person],
) -> Private[tuple[Category["north", "south"], Bool, Int]]:
    region = exponential(
        score=lambda c: count(p for p in people if p.region == c and p.smokes),
        candidates=("north", "south"),
        epsilon=1 / 4,
    )
    return region, people.size > 3, people.size


@program
def few(people: Database[Person]) -> Private[tuple[Int, Int]]:
    n = laplace(count(p for p in people if p.smokes), epsilon=1 / 4)
    if n > 10000:
        more = laplace(count(p for p in people if p.height > 170), epsilon=1 / 2)
    else:
        more = 0
    return n, more


@program
def chosen_by_itself(people: Database[Person]) -> Private[tuple[Int, Int, Int, Int]]:
    n = laplace(count(p for p in people if p.smokes), epsilon=1 / 4)
    if n > -10000:
        k = laplace(count(p for p in people if p.height > 170), epsilon=1 / 2)
        much = k + n
    else:
        much = n
    rate = beta(1 + clip(n, 0, 10), 1)
    tall = laplace(count(p for p in people if p.height > 160 + clip(n, 0, 10)), epsilon=1 / 2)
    through_a_side = n + 100 if much > 5 else n - 100
    through_a_law = n + 100 if rate.mean > 1 / 2 else n - 100
    through_a_query = n + 100 if tall > 5 else n - 100
    return through_a_side, through_a_law, through_a_query, tall if n > 0 else tall + 1


@program
def women(people: Database[Person]) -> Private[tuple[Int, Int]]:
    n = laplace(count(p for p in people if p.smokes), epsilon=1 / 4)
    if n > -10000:
        more = laplace(count(p for p in people if p.height > 170), epsilon=1 / 2)
    else:
        more = 0
    return n, more


@program
def by_region(people: Database[Person]) -> Private[tuple[Beta, Real, Beta, Real]]:
    found = ()
    for region, group in partition(people, by="region"):
        model = observe((p.smokes for p in group), bernoulli, prior=beta(1, 1))
        heights = laplace(sum(clip(p.height, 150, 190) for p in group), epsilon=1 / 8)
        found = found + (noise_aware(laplace(statistics(model), epsilon=1 / 8)), heights)
    return found


@program
def height(people: Database[Person]) -> Private[Normal]:
    heights = (clip(p.height, 150, 190) for p in people)
    return noise_aware(laplace(statistics(observe(heights, normal(sd=8), prior=normal(170, sd=20))),
                               epsilon=1 / 4))
"""


def released(folder: Path, name: str) -> Any:
    folder.mkdir(exist_ok=True)
    return study(folder, asks(name), text=TEXT).release()


def test_a_count_carries_the_error_of_its_noise(tmp_path: Path) -> None:
    done = released(tmp_path, "smokers")
    answer = done["smokers"]
    law = DiscreteLaplace(2.0)  # a count moves by 1, at epsilon 1/2
    assert (answer.error(0.95), answer.error(0.5)) == (law.quantile(0.95), law.quantile(0.5))
    assert answer.interval(0.95) == (answer.value - answer.error(), answer.value + answer.error())
    assert str(answer) == f"smokers: {answer.value} +- {law.quantile(0.95)} (95 %)"
    (row,) = done.to_pandas().to_dict("records")
    assert row == {
        "query": "smokers", "group": None, "cell": None, "value": answer.value,
        "error_95": law.quantile(0.95), "low_95": answer.interval()[0],
        "high_95": answer.interval()[1], "unit": "",
    }  # fmt: skip
    (output,) = done.to_dict()["results"][0]["outputs"]
    assert output["error"] == {"confidence": 0.95, "value": law.quantile(0.95)}
    assert kernel.check(json.loads(done.certificate.to_json())).verdict == "VALID ASSUMING"


def test_what_is_exact_scales_the_error_and_keeps_the_unit(tmp_path: Path) -> None:
    mean = released(tmp_path / "a", "mean_height")["mean_height"]
    # The sum moves by 40 (and a little for the steps), at epsilon 1/2, over eight people.
    assert mean.error(0.95) == pytest.approx(80 * 2.9957 / 8, rel=1e-3)
    assert mean.each()[0].unit == "cm"
    metres = released(tmp_path / "b", "in_metres")["in_metres"]
    assert metres.error(0.95) == pytest.approx(mean.error(0.95) / 100, rel=1e-6)
    assert metres.each()[0].unit == ""  # scaled by a number: whatever it is now


def test_what_is_made_of_two_noisy_numbers_has_no_error(tmp_path: Path) -> None:
    answer = released(tmp_path, "spread_out")["spread_out"]
    cells, share, much, difference = answer.error(0.95)
    item = DiscreteLaplace(6.0).quantile(0.95)  # l1 3, at epsilon 1/2
    assert (cells, share, difference) == ((item, item), None, None)
    assert much is None  # which side was taken depends on its own noise
    with pytest.raises(UnsupportedError, match="outputs"):
        answer.interval()
    frame = study_frame(answer)
    assert [row["cell"] for row in frame] == ["1", "2", "", "", ""]


def test_a_number_that_a_noisy_one_chose_has_no_error(tmp_path: Path) -> None:
    counted, more = released(tmp_path, "few")["few"].error()
    assert (counted, more) == (DiscreteLaplace(4.0).quantile(0.95), None)


def test_what_its_own_noise_chose_has_no_error_through_whatever_it_did(tmp_path: Path) -> None:
    """A side of a branch, a law or a later query may stand between a number and what it decides."""
    *through, apart = released(tmp_path, "chosen_by_itself")["chosen_by_itself"].error()
    assert through == [None, None, None]
    assert apart == DiscreteLaplace(2.0).quantile(0.95)


def test_labels_and_truth_values_have_no_error(tmp_path: Path) -> None:
    """A certificate with one would be refused, after all has been paid for."""
    done = released(tmp_path, "likeliest")
    assert done["likeliest"].error() == (None, None, 0.0)
    assert kernel.check(json.loads(done.certificate.to_json())).verdict == "VALID ASSUMING"


def test_a_release_in_a_branch_keeps_its_error(tmp_path: Path) -> None:
    answer = released(tmp_path, "women")["women"]
    laws = DiscreteLaplace(4.0), DiscreteLaplace(2.0)
    assert answer.error(0.9) == tuple(law.quantile(0.9) for law in laws)


def study_frame(answer: ProgramAnswer) -> list[dict[str, Any]]:
    return [
        {"name": case.name, "cell": cell, "value": value, "error": error}
        for case in answer.each()
        for cell, value, error, _ in case.rows()
    ]


def test_pieces_are_named_by_their_labels(tmp_path: Path) -> None:
    done = released(tmp_path, "by_region")
    answer = done["by_region"]
    assert [case.name for case in answer.each()] == [
        "by_region, north, 1",
        "by_region, north, 2",
        "by_region, south, 1",
        "by_region, south, 2",
    ]
    assert [case.unit for case in answer.each()] == ["", "cm", "", "cm"]
    rows = done.to_pandas()
    assert rows["group"].tolist() == ["north, 1", "north, 2", "south, 1", "south, 2"]
    numbers = rows["error_95"].notna()  # the others are posteriors
    assert numbers.tolist() == [False, True, False, True]
    assert rows["error_95"][numbers].tolist() == pytest.approx([320 * 2.9957] * 2, rel=1e-3)
    assert rows["value"][~numbers].tolist() == [output.mean for output in answer.outputs[::2]]
    assert [item["name"] for item in answer.to_dict()["outputs"]] == [
        case.name for case in answer.each()
    ]


def test_error_and_unit_are_at_the_terminal_and_in_the_report(tmp_path: Path) -> None:
    mean = released(tmp_path / "a", "mean_height")["mean_height"]
    normal = released(tmp_path / "b", "height")["height"]
    assert normal.each()[0].unit == "cm"
    out = StringIO()
    show_answers(Console(file=out, width=140), [mean, normal])
    page = results_html([program_row(mean), program_row(normal)])
    error = program_row(mean).outputs[0].interval
    assert error.startswith("\xb1 ")
    assert (
        float(error[2:]) >= mean.error(0.95) > Fraction(float(error[2:])) * Fraction(99999, 10**5)
    )
    for text in (out.getvalue(), page):
        assert error in text
        assert "cm" in text
    with pytest.raises(UnsupportedError, match="interval"):
        normal.error()
