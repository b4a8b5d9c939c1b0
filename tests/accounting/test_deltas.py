"""Mechanisms with a delta of their own: sums, what a reading sets aside, and adaptive attacks."""

from __future__ import annotations

import io
import json
import math
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from bayesdp.accounting import Filter, Odometer, Reading, Spend, total_cost
from bayesdp.accounting.costs.composition import dp_bound, level, zcdp_cost
from bayesdp.accounting.costs.deltas import UnreadDeltaError
from bayesdp.accounting.costs.rounded import spent
from bayesdp.errors import (
    BudgetExceededError,
    InputError,
    LedgerError,
    Refusal,
    UnsupportedError,
)
from bayesdp.notions import Cost
from bayesdp.populations import Clusters
from bayesdp.release import Study
from bayesdp.report.ledgers import show_ledger
from bayesdp.theorems import Question, best_bound, leakage, report
from bayesdp.theorems.with_delta import dp_bounds, report_with_delta
from tests.accounting.helpers import factor, ledger

DELTA, ASIDE = 1e-6, 4e-7
READING = Reading("dp", 1.0, delta=DELTA, mechanism_delta=ASIDE)
BAYESIAN = Reading("bdp", 9.0, {"model": "clusters", "size": 2}, delta=DELTA)


def spend(epsilon: float, delta: float = 0.0, *values: str, rho: float = 0.0) -> Spend:
    block = {"column": "region", "values": list(values)} if values else None
    return Spend("d", "row", "q", "any", epsilon, dp_delta=delta, rho=rho, block=block)


def test_deltas_add_up_exactly_and_are_rounded_up() -> None:
    ten = [spend(0.1, 0.1 * DELTA)] * 10
    total = total_cost(ten)
    assert Fraction(total.dp_delta) >= 10 * Fraction(0.1 * DELTA)
    assert total.dp_delta <= math.nextafter(10 * (0.1 * DELTA), 1.0)
    thirds = [spend(0.1, 2.0**-60), spend(0.1, 0.1), spend(0.1, 0.2)]
    exact = sum(Fraction(item.dp_delta) for item in thirds)
    assert math.nextafter(total_cost(thirds).dp_delta, 0.0) < exact <= total_cost(thirds).dp_delta


def test_of_deltas_on_disjoint_blocks_the_largest_counts() -> None:
    parts = [spend(0.25, 1e-7, "north"), spend(0.5, 3e-7, "south"), spend(0.125, 1e-8)]
    cost = total_cost(parts)
    assert cost.dp_epsilon == 0.625
    assert cost.dp_delta == pytest.approx(3.1e-7, rel=1e-12)


def test_a_reading_keeps_what_it_sets_aside_and_the_rest() -> None:
    assert Reading.from_dict(json.loads(json.dumps(READING.to_dict()))) == READING
    plain = Reading("dp", 1.0, delta=DELTA)
    assert "mechanism_delta" not in plain.to_dict()  # old texts and keys are as they were
    assert READING.key() != plain.key()
    assert READING.subject_key() != plain.subject_key()
    assert Fraction(READING.rest) <= Fraction(DELTA) - Fraction(ASIDE)
    assert READING.rest == pytest.approx(6e-7)
    for part in (1e-9, 3e-11, 7e-13):
        split = Reading("dp", 1.0, delta=DELTA, mechanism_delta=part)
        assert Fraction(split.rest) + Fraction(part) <= Fraction(DELTA)
        above = Fraction(math.nextafter(split.rest, 1.0))
        assert above + Fraction(part) > Fraction(DELTA)
    assert "4e-07 for mechanisms" in READING.words()
    for wrong in (-1e-9, 2e-6, math.nextafter(DELTA, 1.0), math.nan):
        with pytest.raises(InputError, match=r"reading\.mechanism_delta"):
            Reading("dp", 1.0, delta=DELTA, mechanism_delta=wrong)
    with pytest.raises(InputError, match=r"reading\.mechanism_delta"):
        Reading("dp", 1.0, delta=2e-30, mechanism_delta=1.5e-30)
    with pytest.raises(UnsupportedError, match="Bayesian DP"):
        Reading("bdp", 1.0, {"model": "independent"}, delta=DELTA, mechanism_delta=1e-7)


def test_the_level_is_the_sum_and_gaussian_noise_has_the_rest() -> None:
    pure = dp_bound(READING, [spend(0.5, ASIDE)])
    assert (pure.epsilon, pure.delta, pure.source) == (0.5, ASIDE, "theory 2.6b")
    noise, both = [spend(0.0, rho=1e-3)], [spend(0.25, ASIDE), spend(0.0, rho=1e-3)]
    for fixed in (False, True):
        bound = dp_bound(READING, both, fixed=fixed)
        least = dp_bounds(total_cost(both), READING.rest, total=None if fixed else READING.total)
        assert bound.epsilon == min(item.epsilon for item in least)
        assert bound.delta == DELTA
        alone = dp_bound(READING, noise, fixed=fixed)
        plain = dp_bound(Reading("dp", 1.0, delta=DELTA), noise, fixed=fixed)
        assert alone.epsilon > plain.epsilon  # it has less delta, whoever uses the other part
        assert bound.epsilon > alone.epsilon + 0.2499
    whole = Reading("dp", 1.0, delta=DELTA, mechanism_delta=DELTA)
    assert level(whole, [spend(0.5, DELTA)]) == 0.5
    with pytest.raises(Refusal, match="Gaussian noise"):
        level(whole, both)


def test_costs_with_a_delta_are_not_counted_as_zcdp() -> None:
    """(eps, delta) is no zCDP: what has probability delta may tell all."""
    small = zcdp_cost([spend(0.1, 1e-9)] * 3 + [spend(0.1)])
    assert (small.dp_epsilon, small.rho) == (pytest.approx(0.3), pytest.approx(0.005))


def test_no_other_reading_takes_them() -> None:
    step = spend(0.25, 1e-9)
    for reading in (Reading("dp", 1.0), Reading("dp", 1.0, delta=0.5), BAYESIAN):
        with pytest.raises(UnreadDeltaError, match="1e-09"):
            level(reading, [step])
        kept = Filter("d", reading)
        assert not kept.allows(step)
        with pytest.raises(BudgetExceededError, match="deltas of their own"):
            kept.add(step)
        assert kept.spends == ()
        odometer = Odometer("d")
        odometer.add(step)
        assert not odometer.within(reading)
    exactly = Filter("d", READING)
    exactly.add(spend(0.25, ASIDE))
    assert not exactly.allows(spend(0.25, 5e-324))
    with pytest.raises(BudgetExceededError, match="sets aside 4e-07"):
        exactly.add(spend(0.25, 5e-324))
    exactly.add(spend(0.75))


def test_theorems_refuse_costs_with_a_delta() -> None:
    """Whoever asks them directly must not lose it."""
    question, cost = Question(Clusters(size=2)), Cost(any=0.5, dp_delta=1e-9)
    for ask in (report, best_bound, lambda q, c: report_with_delta(q, c, DELTA)):
        with pytest.raises(Refusal, match="deltas of their own"):
            ask(question, cost)
    with pytest.raises(Refusal, match="deltas of their own"):
        report_with_delta(question, Cost(any=0.5, rho_any=0.1, dp_delta=1e-9), DELTA)
    assert leakage(Clusters(size=2), 0.5).best.epsilon == pytest.approx(1.0)


def test_a_ledger_keeps_deltas(tmp_path: Path) -> None:
    book = ledger(tmp_path / "ledger.db", level=level)
    book.register("d", "row", READING)
    made = {"study": "s", "request": {}}
    book.debit("d", "row", [spend(0.25, 3e-7)], **made)
    assert book.spends("d") == [spend(0.25, 3e-7)]
    (shown,) = book.show()
    assert (shown["spent_delta"], shown["analysts"][0]["dp_delta"]) == (3e-7, 3e-7)
    assert "own deltas of 3e-07" in shown["counted"]
    assert book._repr_html_().count("own deltas of 3e-07") == 4  # twice in the title
    printed = io.StringIO()
    show_ledger(Console(file=printed, width=100), book.show(), book.refusals())
    assert printed.getvalue().count("own deltas of 3e-07") >= 2
    assert "deltas of mechanisms" in printed.getvalue()
    with pytest.raises(UnreadDeltaError, match="5e-07"):
        book.debit("d", "row", [spend(0.25, 2e-7)], **made)
    with pytest.raises(UnreadDeltaError):
        book.register("d", "row", Reading("dp", 2.0))
    with pytest.raises(BudgetExceededError, match="rise to"):
        book.debit("d", "row", [spend(0.8, 1e-8)], **made)
    assert len(book.spends("d")) == 1
    again = ledger(tmp_path / "ledger.db", level=level)
    again.debit("d", "row", [spend(0.25, 1e-7)], **made)
    assert again.show()[0]["spent_delta"] == pytest.approx(4e-7)


def test_whatever_level_a_ledger_reads_deltas_count(tmp_path: Path) -> None:
    """A level function that knows nothing of deltas doesn't lose them."""
    book = ledger(tmp_path / "ledger.db", level=factor)
    book.register("d", "row", Reading("dp", 1.0))
    with pytest.raises(UnreadDeltaError):
        book.debit("d", "row", [spend(0.25, 3e-7)], study="s", request={})


def test_costs_in_words() -> None:
    assert spent(Cost(any=0.5, dp_delta=1e-9)) == "0.5 with own deltas of 1e-09"
    assert spent(Cost(any=0.5, rho_any=0.25, dp_delta=1e-9)).endswith("and 0.25 of zCDP")


# --- attacks ------------------------------------------------------------------------------------


def worst_pair(epsilon: float, delta: float) -> tuple[np.ndarray, np.ndarray]:
    """The laws of the dearest (epsilon, delta)-DP mechanism (Kairouz, Oh & Viswanath, 2.1)."""
    high = (1.0 - delta) / (1.0 + math.exp(-epsilon))
    low = (1.0 - delta) - high
    return np.array([delta, high, low, 0.0]), np.array([0.0, low, high, delta])


def gaussian_pair(rho: float) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian noise of this zCDP cost on 0 or 1; what is far away is one outcome."""
    sigma = math.sqrt(1.0 / (2.0 * rho))
    reach = math.ceil(7.0 * sigma)
    places = np.arange(-reach, reach + 2)
    weights = [np.exp(-((places - shift) ** 2) / (2.0 * sigma**2)) for shift in (1, 0)]
    here, there = (weight / weight.sum() for weight in weights)
    return here, there


def exceeds(reading: Reading, moves: list[Spend], depth: int) -> float:
    """The most that `P(S) - e^total Q(S)` can be for who chooses each step after all answers.

    Backward induction over the losses so far, with a filter that lets through what the reading has
    room for. The state is what was spent, and how much mass P and Q have: values are positively
    homogeneous and convex in the pair, so the loss ratio is enough.
    """
    kept = Filter("d", reading)

    @cache
    def allowed(taken: tuple[int, ...]) -> bool:
        return kept.allows(*(moves[number] for number in taken))

    pairs = [
        gaussian_pair(move.rho) if move.rho else worst_pair(move.dp_epsilon, move.dp_delta)
        for move in moves
    ]

    def value(p: float, q: float, taken: tuple[int, ...]) -> float:
        best = max(p - math.exp(reading.total) * q, 0.0)
        if len(taken) == depth or p == 0.0:
            return best
        if q == 0.0:
            return p
        for number, (here, there) in enumerate(pairs):
            after = tuple(sorted((*taken, number)))
            if allowed(after):
                steps = zip(here, there, strict=True)
                best = max(best, math.fsum(value(p * a, q * b, after) for a, b in steps))
        return best

    return value(1.0, 1.0, ())


@pytest.mark.parametrize("aside", [0.004, 0.01, 0.02])
def test_who_chooses_after_every_answer_gains_no_more_than_delta(aside: float) -> None:
    """Steps with deltas, pure ones and Gaussian ones, chosen with all answers in view."""
    reading = Reading("dp", 1.0, delta=0.02, mechanism_delta=aside)
    moves = [spend(1.0, aside), spend(0.5, aside / 2), spend(0.5)]
    if aside < 0.02:
        moves.append(spend(0.0, rho=0.02))
    gained = exceeds(reading, moves, depth=3)
    assert aside * (1 - 1e-9) <= gained <= 0.02 * (1 + 1e-9)


def test_the_attack_finds_what_a_wrong_rule_would_lose() -> None:
    """With all of delta for Gaussian noise and again for deltas, it would gain more than delta."""
    reading = Reading("dp", 1.0, delta=0.02, mechanism_delta=0.02)
    assert exceeds(reading, [spend(1.0, 0.03)], depth=2) == 0.0
    twice = worst_pair(0.5, 0.02), worst_pair(0.5, 0.02)
    here, there = (np.outer(*pair).ravel() for pair in zip(*twice, strict=True))
    assert np.maximum(here - math.e * there, 0.0).sum() > 0.039


# --- studies ------------------------------------------------------------------------------------


STUDY = """
[data]
source = "t.csv"
dataset = "d"
n = 4
unit = "row"
[data.columns]
x = { bounds = [0, 1] }
[budget]
notion = "dp"
epsilon = 1.0
delta = 1e-6
ledger = "sqlite:///ledger.db"
[[query]]
name = "mean"
kind = "mean"
column = "x"
"""


def test_no_study_releases_from_a_data_set_with_deltas(tmp_path: Path) -> None:
    """Certificates don't state them: nothing is drawn, and nothing is spent."""
    (tmp_path / "t.csv").write_text("x\n0\n1\n0\n1\n")
    (tmp_path / "s.toml").write_text(STUDY)
    study = Study.load(tmp_path / "s.toml")
    book = ledger(tmp_path / "ledger.db", level=level)
    book.register("d", "row", READING)
    book.debit("d", "row", [spend(0.25, 3e-7)], study="s", request={})
    with pytest.raises(LedgerError, match="the delta set aside for mechanisms"):
        study.release()
    with pytest.raises(UnreadDeltaError, match="3e-07"):
        study.register()
    assert len(book.spends("d")) == 1


def test_a_preview_says_that_a_delta_is_used_up(tmp_path: Path) -> None:
    """It is an answer, not an error; and the debit is refused."""
    reading = Reading("dp", 3.0, delta=1e-6, mechanism_delta=5e-7)
    book = ledger(tmp_path / "ledger.db", level=level)
    book.ensure("d", "row", reading)
    asked = [Spend("d", "row", "q", "any", 0.5, dp_delta=3e-7)]
    assert book.preview("d", "row", reading, asked).refusal is None
    book.debit("d", "row", asked, study="s", request={})
    preview = book.preview("d", "row", reading, asked)
    assert preview.refusal is not None
    assert "sets aside 5e-07" in preview.refusal
    assert (preview.fits, preview.reason) == (0.0, "budget")
    (line,) = preview.readings
    assert (line["level"], line["level_after"], line["holds"]) == (0.5, None, False)
    with pytest.raises(UnreadDeltaError):
        book.debit("d", "row", asked, study="s", request={})
