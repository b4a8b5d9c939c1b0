"""Coefficients from released moments: those of least squares, and how often intervals hold."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesdp.errors import InputError
from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace
from bayesdp.release import Study
from bayesdp.release.derived.regressions import Regression, regression
from bayesdp.release.queries.products import Design
from tests.effort import in_full, runs

Numbers = np.ndarray[Any, Any]
COLUMNS: dict[str, Any] = {
    "x": {"bounds": [0.0, 10.0], "unit": "kg"},
    "z": {"from": "s", "where": "s == 'f'"},
    "s": {"states": ["f", "m"]},
    "y": {"bounds": [-20.0, 40.0], "unit": "cm"},
    "g": {"public": True, "states": ["a", "b"]},
}


def table(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    x, s = rng.uniform(1, 9, rows), rng.choice(["f", "m"], rows)
    y = 3.0 + 2.0 * x - 5.0 * (s == "f") + rng.normal(0, 1.5, rows)
    return pd.DataFrame({"x": x, "s": s, "y": y, "g": np.resize(["a", "b"], rows)})


def study(folder: Path, epsilon: float, rows: int = 400, **query: Any) -> Study:
    folder.mkdir(exist_ok=True)
    asked = {"name": "r", "kind": "regression", "outcome": "y", "on": ["x", "z"]} | query
    return Study(
        table(rows),
        dataset="d",
        n=rows,
        columns=COLUMNS,
        population={"model": "independent", "covers": ["x", "s", "y"], "source": "us"},
        budget={"epsilon": epsilon},
        ledger=str(folder / "ledger.db"),
        queries=[asked],
    )


def least_squares(frame: pd.DataFrame) -> Numbers:
    design = np.column_stack([np.ones(len(frame)), frame.x, frame.s == "f"])
    return np.linalg.lstsq(design, frame.y, rcond=None)[0]


def test_they_are_those_of_least_squares(tmp_path: Path) -> None:
    release = study(tmp_path, 1e6, by="g").release()
    for group, rows in table(400).groupby("g"):
        fit = release.regression("r", group)
        intercept, x, z = least_squares(rows)
        assert fit.intercept.value == pytest.approx(intercept, rel=1e-3)
        assert fit.coefficients["x"].value == pytest.approx(x, rel=1e-3)
        assert fit.coefficients["z"].value == pytest.approx(z, rel=1e-3)
        assert fit.predict({"x": 2.0, "z": 1}) == pytest.approx(intercept + 2 * x + z, rel=1e-3)
        line = intercept + x * rows.x + z * (rows.s == "f")
        assert fit.residual_sd == pytest.approx(np.sqrt(((rows.y - line) ** 2).mean()), rel=1e-2)
        assert fit.rows == len(rows)
        assert fit.group == (group,)
        units = [fit.intercept.unit, *(c.unit for c in fit.coefficients.values())]
        assert units == ["cm", "cm per kg", "cm"]
    assert "r, a: y = intercept" in str(release)
    plain = release.to_dict()["regressions"]
    assert [fit["group"] for fit in plain] == [["a"], ["b"]]
    assert plain[0]["coefficients"]["x"]["value"] == pytest.approx(2.0, abs=0.2)
    with pytest.raises(InputError, match="all moments of one group"):
        release.regression("r")
    with pytest.raises(InputError, match="a number for each of"):
        fit.predict({"x": 2.0})


def test_noise_that_swamps_the_design_is_said(tmp_path: Path) -> None:
    release = study(tmp_path, 0.05).release()
    assert "no coefficients of 'y' on 'x', 'z' are shown" in str(release)
    assert release.to_dict()["regressions"] == []
    with pytest.raises(InputError, match="Spend more on it"):
        release.regression("r")


def test_a_column_without_spread_has_no_coefficient(tmp_path: Path) -> None:
    """The moments of x are those of a constant: whatever is spent, nothing tells them apart.

    Rarely noise alone looks like spread, but not six times.
    """

    def released(place: str) -> str:
        made = study(tmp_path / place, 50.0, on="x", where="g == 'a'")
        made._data.source["x"] = 7.0
        return str(made.release())

    assert any("no coefficients" in released(place) for place in "abcdef")


def test_few_rows_have_no_sampling(tmp_path: Path) -> None:
    release = study(tmp_path, 1e6, rows=4).release()
    assert release.regression("r", sampling=True).sampling
    release = study(tmp_path / "three", 1e6, rows=3, on="x").release()
    assert release.regression("r", sampling=True).rows == 3
    release = study(tmp_path / "two", 1e6, rows=2, on="x").release()
    with pytest.raises(InputError, match="more than 2 rows"):
        release.regression("r", sampling=True)


# -- how often intervals hold ----------------------------------------------------------------------


@dataclass(frozen=True)
class Moment:
    value: float
    noise: Any
    noise_unit: float
    rows: int
    design: Design
    query: str = "r"
    group: None = None
    group_words: tuple[str, ...] = ()


BOUNDS = ((0.0, 10.0), (-1.0, 1.0), (-20.0, 40.0))


def released(
    rng: np.random.Generator, exact: Numbers, scale: float, law: Any, rows: int
) -> list[Moment]:
    """Moments of these columns, of about the `exact` ones with noise of this scale."""
    many = 2 if len(exact) == 5 else 3
    names, bounds = ("x", "w", "y")[3 - many :], BOUNDS[3 - many :]
    design = Design(names, bounds, ("",) * many)
    draw = rng.laplace if law is DiscreteLaplace else rng.normal
    unit = scale / 2.0**20
    return [
        Moment(float(value), law(2.0**20), unit, rows, design)
        for value in exact + draw(0.0, scale, len(exact))
    ]


def moments_of(columns: Numbers) -> Numbers:
    """The means of the scaled columns, a row each, and of their products."""
    pairs = combinations_with_replacement(columns, 2)
    return np.array([*columns.mean(axis=1), *((a * b).mean() for a, b in pairs)])


def sample(rng: np.random.Generator, many: int, rows: int) -> Numbers:
    """Scaled columns, the outcome last, whose line has the coefficients of `LINES`."""
    x = 0.2 + 0.45 * rng.uniform(-1, 1, (many - 1, rows))
    x[-1] += 0.4 * x[0] * (many > 2)
    line = LINES[many]
    return np.vstack([x, line[0] + line[1:] @ x + 0.1 * rng.normal(size=rows)])


LINES = {2: np.array([0.1, 0.5]), 3: np.array([0.1, 0.5, -0.3])}


def in_units(line: Numbers, many: int) -> Numbers:
    bounds = BOUNDS[3 - many :]
    half = np.array([(high - low) / 2 for low, high in bounds])
    middle = np.array([(high + low) / 2 for low, high in bounds])
    slopes = line[1:] * half[-1] / half[:-1]
    return np.array([middle[-1] + half[-1] * line[0] - slopes @ middle[:-1], *slopes])


def solved(columns: Numbers) -> Numbers:
    design = np.vstack([np.ones(columns.shape[1]), columns[:-1]])
    return np.linalg.lstsq(design.T, columns[-1], rcond=None)[0]


def held(fit: Regression, line: Numbers) -> Numbers:
    each = [fit.intercept, *fit.coefficients.values()]
    return np.array([c.low <= value <= c.high for c, value in zip(each, line, strict=True)])


@pytest.mark.prove
@pytest.mark.parametrize(
    ("explains", "outcome"),
    [
        ([0.0, 1e-150], [0.0, 1e60]),  # a slope of 1e210
        ([0.0, 1e-50], [0.0, 1e160]),
        ([1e120, 1e120 + 1e105], [0.0, 1e190]),  # an intercept of 1e205
    ],
)
def test_coefficients_that_are_no_doubles_are_refused(explains: Any, outcome: Any) -> None:
    def made(x: list[float], y: list[float]) -> Study:
        return Study(
            dataset="d",
            n=9,
            columns={"x": {"bounds": x}, "y": {"bounds": y}},
            population={"model": "independent", "covers": ["x", "y"]},
            budget={"epsilon": 1.0},
            queries=[{"name": "r", "kind": "regression", "outcome": "y", "on": ["x"]}],
        )

    with pytest.raises(InputError, match=r"query\[0\]\.on .*coefficients are doubles"):
        made(explains, outcome)
    made(explains, [0.0, outcome[1] / 1e15])


@pytest.mark.parametrize("law", [DiscreteLaplace, DiscreteGaussian])
@pytest.mark.parametrize(("many", "scale"), [(2, 1e-4), (2, 0.01), (3, 0.001), (3, 0.004)])
def test_intervals_hold_as_often_as_they_say(law: Any, many: int, scale: float) -> None:
    """Over the noise alone: from next to none to where one in some hundred designs is refused."""
    rng = np.random.default_rng(many)
    columns = sample(rng, many, 300)
    exact, line = moments_of(columns), in_units(solved(columns), many)
    hits, shown, repeats = np.zeros(many), 0, runs(10_000) if in_full() else 200
    for _ in range(repeats):
        try:
            fit = regression(released(rng, exact, scale, law, 300))
        except InputError:
            continue
        hits, shown = hits + held(fit, line), shown + 1
    assert shown >= 0.9 * repeats
    assert (hits / shown >= (0.945 if in_full() else 0.91)).all(), hits / shown
    assert (hits / shown <= (0.985 if in_full() else 1.0)).all(), hits / shown


@pytest.mark.prove
@pytest.mark.parametrize("scale", [1e-5, 0.0005])
def test_intervals_of_sampling_hold_as_often_as_they_say(scale: float) -> None:
    """About the line of the law, over samples and noise; without sampling they hold less often."""
    rng, line = np.random.default_rng(8), in_units(LINES[3], 3)
    hits, alone, repeats = np.zeros(3), np.zeros(3), runs(10_000) if in_full() else 200
    for _ in range(repeats):
        moments = released(rng, moments_of(sample(rng, 3, 60)), scale, DiscreteLaplace, 60)
        hits += held(regression(moments, sampling=True), line)
        alone += held(regression(moments), line)
    assert (hits / repeats >= (0.935 if in_full() else 0.9)).all(), hits / repeats
    assert scale > 1e-5 or (alone / repeats < 0.1).all()


def test_the_law_of_the_noise_is_that_of_the_moments() -> None:
    """Intervals are as wide as the noise, by the first order: of a slope, scale / variance."""
    rng = np.random.default_rng(1)
    columns = sample(rng, 2, 300)
    exact, widths = moments_of(columns), []
    for scale in (1e-6, 2e-6):
        fit = regression(released(rng, exact, scale, DiscreteGaussian, 300))
        slope = fit.coefficients["w"]
        widths.append((slope.high - slope.low) / 2.0)
    x, line = columns[0], solved(columns)
    # e_xy - a e_x - b e_xx - mean (e_y - b e_x), over the variance of x
    mean, variance = x.mean(), x.var()
    factors = [1.0, -line[0] + mean * line[1], -line[1], -mean]
    sd = 1e-6 * np.sqrt(np.square(factors).sum()) / variance * 30.0
    assert widths[0] == pytest.approx(1.96 * sd, rel=0.06)
    assert widths[1] == pytest.approx(2.0 * widths[0], rel=0.02)
