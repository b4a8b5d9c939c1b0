"""Intervals of columns with cuts, and of bins: one wording everywhere, and errors of each group."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesdp import Study, explain
from bayesdp.errors import TableMismatchError, UnknownNameError
from bayesdp.release.queries.histogram_cells import intervals_sentence
from bayesdp.statements.queries import cut_labels

SCORES = np.array([-20.0, 0.0, 49.9, 50.0, 60.0, 75.0, 80.0, 99.0, 100.0, 130.0])
STAGES = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]
CLIPPED = "; values are clipped to [0, 100] first."


def study(tmp_path: Path, *, epsilon: float = 4000.0, **changes: Any) -> Study:
    ages = [7, 8, 9, 9, 10, 11, 12, 12, 13, 14]
    parts: dict[str, Any] = {
        "columns": {
            "age": {"public": True},
            "stage": {"from": "age", "cuts": [10, 13]},
            "score": {"bounds": [0, 100], "unit": "points"},
            "grade": {"from": "score", "cuts": [50, 75]},
        },
        "queries": [
            {"name": "grades", "kind": "histogram", "column": "grade", "by": "stage"},
            {"name": "scores", "kind": "histogram", "column": "score", "bins": [0, 50, 80, 90]},
            {"name": "means", "kind": "mean", "column": "score", "by": "stage"},
        ],
    }
    made = {"n": 10, "population": {"model": "independent", "covers": ["score"]}} | changes
    return Study(
        made.pop("source", pd.DataFrame({"age": ages, "score": SCORES})),
        dataset="school",
        budget={"epsilon": epsilon},
        ledger=str(tmp_path / "ledger.db"),
        **parts | made,
    )


def holds(label: str, value: float) -> bool:
    """Whether a value is in the interval that a label spells."""
    if label.startswith("below "):
        return value < float(label.removeprefix("below "))
    if label.endswith(" and above"):
        return value >= float(label.removesuffix(" and above"))
    low, high, closed = re.fullmatch(r"\[(\S+), (\S+)([\])])", label).groups()  # type: ignore[union-attr]
    return float(low) <= value < float(high) or (closed == "]" and value == float(high))


@pytest.mark.parametrize("bounds", [None, (0.0, 100.0), (0.0, 75.0), (50.0, 100.0), (60.0, 70.0)])
def test_a_label_holds_the_values_of_its_state_and_no_others(
    bounds: tuple[float, float] | None,
) -> None:
    cuts = (50.0, 75.0)
    labels = cut_labels(cuts, bounds)
    for score in SCORES:
        value = score if bounds is None else min(max(score, bounds[0]), bounds[1])
        state = sum(value >= cut for cut in cuts)
        assert [holds(label, value) for label in labels] == [i == state for i in range(3)]


@pytest.mark.parametrize("bounds", [(0.0, 60.0), (0.0, 75.0), (50.0, 100.0)])
def test_ends_that_are_not_beyond_the_cuts_are_left_open(bounds: tuple[float, float]) -> None:
    assert cut_labels((50.0, 75.0), bounds) == ("below 50", "[50, 75)", "75 and above")


def test_released_numbers_are_those_of_their_labels(tmp_path: Path) -> None:
    made = study(tmp_path)
    release = made.release()
    clipped = np.clip(SCORES, 0, 100)
    ages = np.array([7, 8, 9, 9, 10, 11, 12, 12, 13, 14])
    for result in release["grades"]:
        stage, grade = result.places
        want = sum(holds(stage, a) and holds(grade, s) for a, s in zip(ages, clipped, strict=True))
        assert result.value == want
    for result in release["scores"]:
        assert result.value == sum(holds(result.places[0], score) for score in clipped)
    assert [result.places[0] for result in release["means"]] == [
        "below 10",
        "[10, 13)",
        "13 and above",
    ]
    same = [release["grades", 1, 2], release["grades", "[10, 13)", "[75, 100]"]]
    assert same[0] is same[1] is release["grades", "1"]["2"]
    with pytest.raises(UnknownNameError, match=r"Known: 13 and above, \[10, 13\), below 10"):
        release["means", "young"]
    cells = release.to_pandas()["cell"].dropna().unique().tolist()
    assert cells == ["[0, 50)", "[50, 75)", "[75, 100]", "[50, 80)", "80 and above"]
    # The certificate has the states, which the kernel counts.
    stated = release.certificate.body["results"][0]
    assert (stated["group"], stated["cell"]) == (0, 0)


def test_the_same_words_stand_everywhere(tmp_path: Path) -> None:
    made = study(tmp_path, epsilon=3.0)
    wanted = [f"grades counts [0, 50), [50, 75), [75, 100]{CLIPPED}"]
    wanted.append(f"scores counts [0, 50), [50, 80), 80 and above{CLIPPED}")
    check = made.check()
    assert check.groups_and_cells() == wanted
    release = made.release()
    assert list(release.cells) == wanted
    for sentence in wanted:
        assert sentence in str(check)
        assert sentence in str(release)
        assert sentence in check._repr_html_()
        assert sentence in release._repr_html_()
    explained = " ".join(explain(release.certificate).text().split())
    assert f"'grade' is 'score' in the intervals [0, 50), [50, 75), [75, 100]{CLIPPED}" in explained
    assert "'stage' is 'age' in the intervals below 10, [10, 13), 13 and above." in explained
    # A column that is read from a covered one is spoken of with it.
    assert "does not speak of: 'grade'" not in explained


def test_many_intervals_are_shortened() -> None:
    labels = cut_labels(tuple(float(cut) for cut in range(10, 100, 10)))
    assert (
        intervals_sentence(labels, None)
        == "below 10, [10, 20), [20, 30), [30, 40), ..., 90 and above."
    )


@pytest.mark.parametrize("cells", [{"column": "grade"}, {"column": "score", "bins": [0, 50, 75]}])
def test_clipping_to_the_bounds_is_said_where_they_are_inside_the_cells(
    cells: dict[str, Any], tmp_path: Path
) -> None:
    columns = {
        "age": {"public": True},
        "score": {"bounds": [60, 70]},
        "grade": {"from": "score", "cuts": [50, 75]},
    }
    query = {"name": "asked", "kind": "histogram", **cells}
    made = study(tmp_path, columns=columns, queries=[query])
    (sentence,) = made.check().groups_and_cells()
    assert sentence.endswith("; values are clipped to [60, 70] first.")
    counted = {result.places[0]: result.value for result in made.release()["asked"]}
    inside = [counted[label] for label in counted if holds(label, 60.0) and holds(label, 70.0)]
    assert inside == [len(SCORES)]  # also those below 50, and above 75


def test_errors_of_every_group_before_and_after(tmp_path: Path) -> None:
    sizes = {"0": 4, "1": 4, "2": 2}
    queries = [
        {"name": "means", "kind": "mean", "column": "score", "by": "stage", "group_sizes": sizes},
        {"name": "unsized", "kind": "mean", "column": "score", "by": "stage"},
        {"name": "good", "kind": "count", "where": "grade == 2", "by": "stage"},
        {"name": "all", "kind": "mean", "column": "score"},
    ]
    made = study(tmp_path, epsilon=40.0, queries=queries)
    check = made.check()
    assert [query.name for query in check.plan.queries] == ["means", "unsized", "good", "all"]
    means, unsized, good, whole = check.plan.queries
    before = means.group_errors()
    assert list(before) == [", ".join(words) for words in means.asked.group_words.values()]
    below, middle, above = before
    assert before[above] == means.error(0.95, 2)
    assert before[below] == before[middle] == means.error(0.95, 4)
    assert unsized.group_errors() == dict.fromkeys(before)
    assert set(good.group_errors(0.9).values()) == {good.error(0.9, None)}
    assert whole.group_errors() == {}
    shown = "means, error in each group: below 10 "
    assert shown in str(check)
    release = made.release()
    after = release["means"].errors(0.95)
    assert list(after) == ["below 10", "[10, 13)", "13 and above"]
    for known, error in zip(before.values(), after.values(), strict=True):
        assert known is not None
        assert error <= known == pytest.approx(error)
    # Before the release the sizes of the groups of 'unsized' are not known; after it they are.
    assert release["unsized"].errors()["13 and above"] == release["unsized", 2].error(0.95)


def test_a_mean_of_no_rows_has_a_remedy_that_works(tmp_path: Path) -> None:
    mean = {"name": "means", "kind": "mean", "column": "score", "by": "stage"}
    columns = {
        "age": {"public": True},
        "stage": {"from": "age", "cuts": [10, 20]},
        "score": {"bounds": [0, 100]},
    }
    with pytest.raises(TableMismatchError) as cut:
        study(tmp_path, columns=columns, queries=[mean]).release()
    assert "no rows in the group '20 and above' of 'stage'" in str(cut.value)
    assert "or cut 'stage' where every group has rows." in str(cut.value)
    with pytest.raises(TableMismatchError) as narrowed:
        study(tmp_path, queries=[mean | {"where": "age < 13"}]).release()
    assert "of 'stage' where age < 13" in str(narrowed.value)
    assert "or leave out by or where." in str(narrowed.value)
    for place, changed in enumerate(({"where": "age < 13", "by": None}, {})):
        (tmp_path / f"{place}").mkdir()
        asked = {key: value for key, value in (mean | changed).items() if value is not None}
        assert len(study(tmp_path / f"{place}", queries=[asked]).release()) > 0


def test_a_number_names_a_group_of_numbers_and_never_a_position(tmp_path: Path) -> None:
    columns = {
        "week": {"states": [1, 2, 3], "public": True},
        "site": {"states": ["north", "south"], "public": True},
        "ill": {"states": [0, 1]},
    }
    table = pd.DataFrame(
        {"week": [1, 2, 2, 3, 3, 3], "site": ["north", "south"] * 3, "ill": [0, 1, 1, 0, 1, 1]}
    )
    release = study(
        tmp_path,
        source=table,
        n=6,
        columns=columns,
        population={"model": "independent", "covers": ["ill"]},
        queries=[
            {"name": "by week", "kind": "count", "where": "ill == 1", "by": "week"},
            {"name": "by site", "kind": "count", "where": "ill == 1", "by": "site"},
        ],
    ).release()
    weeks, sites = release["by week"], release["by site"]
    for week in (1, 2, 3):
        assert weeks[week].group == week
        assert weeks[week].value == release["by week", week].value
    for missing in (0, -1, 4, 26):
        with pytest.raises(UnknownNameError):
            weeks[missing]
    assert [result.group for result in weeks[1:]] == [2, 3]
    assert sites[0].group == "north"
    assert sites[-1].group == "south"
    with pytest.raises(UnknownNameError):
        sites[2]
    assert list(weeks.errors()) == ["1", "2", "3"]
