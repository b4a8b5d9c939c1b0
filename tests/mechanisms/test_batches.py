"""Many draws at once: every law by exhaustion or against exact sums, and the bits themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

import flint
import numpy as np
import pytest

from bayesdp.mechanisms import RandomizedResponse, batches
from bayesdp.programs.run.draws.noise import OpenDP
from tests.chance import Chance

Feed = Callable[[Iterable[int]], None]


@pytest.fixture
def feed(monkeypatch: pytest.MonkeyPatch) -> Feed:
    """Puts given bytes in the place of fair ones; asking for more is an error."""

    def given(values: Iterable[int]) -> None:
        stream = iter(values)

        def taken(count: int) -> np.ndarray:
            return np.asarray([next(stream) for _ in range(count)], np.uint8)

        monkeypatch.setattr(batches, "fair_bytes", taken)

    return given


def test_bytes_are_fair_and_independent(chance: Chance) -> None:
    """Every bit, in every place of a byte and of a call, and pairs of neighbours."""
    drawn = np.unpackbits(batches.fair_bytes(200_000)).reshape(-1, 8)
    for place in range(8):
        chance.expect_law(drawn[:, place].tolist(), {0: 0.5, 1: 0.5})
        pairs = (2 * drawn[:, place] + drawn[:, (place + 1) % 8]).tolist()
        chance.expect_law(pairs, dict.fromkeys(range(4), 0.25))
    ends = np.concatenate([np.unpackbits(batches.fair_bytes(3)) for _ in range(4000)])
    chance.expect_law(ends.reshape(-1, 24)[:, [0, 7, 16, 23]].ravel().tolist(), {0: 0.5, 1: 0.5})
    assert len(batches.fair_bytes(0)) == 0
    assert len(batches.fair_bytes(70_001)) == 70_001


@pytest.mark.parametrize("p", [0.5, 1 / 3, 0.75, 2.0**-10, 1 - 2.0**-53, 0.6224593312018546, 1.0])
def test_bernoulli_is_exact(feed: Feed, p: float) -> None:
    """A uniform number of 64 bits is below p or not, at p and on both sides of it."""
    limit = int(Fraction(p) * 2**64)
    assert Fraction(limit, 2**64) == Fraction(p)
    for number in {0, limit - 1, limit, limit + 1, limit // 3, 2**64 - 1}:
        if not 0 <= number < 2**64:
            continue
        feed(number.to_bytes(8, "big"))
        assert batches.bernoulli_each(1, p).tolist() == [number < limit]


def test_one_byte_decides_most(feed: Feed) -> None:
    feed([*range(256), *[7] * 8])
    drawn = batches.bernoulli_each(256, 0.375)
    assert drawn.tolist() == [byte < 96 for byte in range(256)]


@pytest.mark.parametrize("many", [1, 2, 3, 7, 200, 255, 256])
def test_uniform_numbers_are_exact(feed: Feed, many: int) -> None:
    """Of the 256 bytes as many give each number, and what is left is drawn again."""
    whole = 256 // many * many
    again = many - 1  # not what the bytes that are drawn again would give
    feed([*range(256), *[again] * (256 - whole)])
    drawn = batches.uniform_each(256, many)
    assert np.bincount(drawn[:whole], minlength=many).tolist() == [256 // many] * many
    assert drawn[whole:].tolist() == [again] * (256 - whole)


def test_uniform_numbers_of_two_bytes(feed: Feed) -> None:
    every = [byte for number in range(2**16) for byte in divmod(number, 256)[::-1]]
    feed([*every, *[1, 2] * (2**16 % 999)])
    drawn, whole = batches.uniform_each(2**16, 999), 2**16 // 999 * 999
    assert np.bincount(drawn[:whole], minlength=999).tolist() == [65] * 999
    assert set(drawn[whole:].tolist()) == {513}


def exact_place(scores: list[int], scale: float, bits: int, number: int) -> int:
    """The place of the number, a fraction of 2^bits, by sums of 400 bits."""
    before, flint.ctx.prec = flint.ctx.prec, 400
    try:
        weights = []
        for score in scores:
            x = Fraction(score) / Fraction(scale)
            weights.append(flint.arb(flint.fmpq(x.numerator, x.denominator)).exp())
        total, sums = sum(weights, flint.arb(0)), flint.arb(0)
        for place, weight in enumerate(weights[:-1]):
            sums += weight
            if flint.arb(number) / flint.arb(2) ** bits * total < sums:
                return place
        return len(scores) - 1
    finally:
        flint.ctx.prec = before


ROWS = [
    [0, 0],
    [0, -3, -1],
    [-7, 0, -(2**40), -1],
    [-1, -2, -3, 0],
    [-900, -800, -10, 0, -900],
    list(range(-40, 1)),
]


@pytest.mark.parametrize("scores", ROWS)
@pytest.mark.parametrize("scale", [1.0, 3.7, 0.001, 2.0**50])
def test_the_place_is_that_of_exact_sums(feed: Feed, scores: list[int], scale: float) -> None:
    """At random numbers, and right at and beside every end, where doubles can't decide."""
    rng = np.random.default_rng(3)
    weights = np.exp(np.asarray(scores) / scale)
    ends = np.cumsum(weights) / weights.sum()
    numbers = [int(rng.integers(2**56)) for _ in range(60)]
    for end in ends[:-1].tolist():
        near = int(Fraction(end) * 2**56)
        numbers += [near + off for off in (-(2**20), -300, -1, 0, 1, 300, 2**20)]
    for number in numbers:
        held = min(max(number, 0), 2**56 - 1)
        tail = int(rng.integers(2**56))
        wide = (held << 56) + tail
        feed(wide.to_bytes(14, "big"))
        (place,) = batches.softmax_each(np.asarray([scores], np.int64), scale).tolist()
        assert place == exact_place(scores, scale, 112, wide)


def test_nothing_is_decided_beside_an_end() -> None:
    """With ends that may be off by 1/64: nor where the interval only touches what they may be."""
    ends, off = np.asarray([[0.25, 0.75]] * 256), 1 / 64
    place, decided = batches._between(ends, np.arange(256), 8, off)
    for byte in range(256):
        low, high = byte / 256, (byte + 1) / 256
        sure = [
            high <= 0.25 - off, low >= 0.25 + off and high <= 0.75 - off, low >= 0.75 + off
        ]  # fmt: skip
        assert decided[byte] == any(sure)
        if any(sure):
            assert place[byte] == sure.index(True)


def test_choices_for_each_row_are_softmax_draws(chance: Chance) -> None:
    scores, scale = [0, 40, 25, 90, 60], 30.0
    table = np.asarray([scores, [5, 5, 5, 5, 5]] * 16_000, np.int64)
    drawn = OpenDP().choose_each(table, scale)
    weights = np.exp(np.asarray(scores) / scale)
    law = dict(enumerate((weights / weights.sum()).tolist()))
    chance.expect_law(list(drawn[::2]), law)
    chance.expect_law(list(drawn[1::2]), dict.fromkeys(range(5), 0.2))
    for factor in (0.7, 1.3):
        other = np.exp(np.asarray(scores) / scale / factor)
        chance.expect_other(list(drawn[::2]), dict(enumerate(other / other.sum())), law)


def test_what_doubles_leave_open_has_the_same_law(
    chance: Chance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every row is decided in ball arithmetic here."""
    monkeypatch.setattr(batches, "_off", lambda _: 2.0)
    scores, scale = [0, 3, -2], 2.0
    drawn = batches.softmax_each(np.asarray([scores] * 4000, np.int64), scale)
    weights = np.exp(np.asarray(scores) / scale)
    chance.expect_law(drawn.tolist(), dict(enumerate((weights / weights.sum()).tolist())))


def test_bounds_of_sums_hold() -> None:
    """Far from used up: the largest error of many random rows against sums of 200 bits."""
    rng, worst = np.random.default_rng(11), 0.0
    before, flint.ctx.prec = flint.ctx.prec, 200
    try:
        for places in (2, 5, 40, 300):
            for _ in range(4):
                scores = rng.integers(-(2**40), 1, size=places)
                scores[rng.integers(places)] = 0
                scale = float(2.0 ** rng.uniform(30, 45))
                sums = np.cumsum(np.exp(scores / scale))
                total = flint.arb(0)
                exact = []
                for score in scores.tolist():
                    x = Fraction(score) / Fraction(scale)
                    total += flint.arb(flint.fmpq(x.numerator, x.denominator)).exp()
                    exact.append(total)
                for mine, end in zip((sums / sums[-1]).tolist(), exact, strict=True):
                    worst = max(
                        worst, float(abs(flint.arb(mine) - end / total)) / batches._off(places)
                    )
    finally:
        flint.ctx.prec = before
    assert worst < 0.05


def test_what_would_not_be_exact_is_refused() -> None:
    assert len(batches.bernoulli_each(9, 2.0**-11)) == len(batches.uniform_each(9, 2**16)) == 9
    for probability in (2.0**-65, 1e-5, 0.001 * 2.0**-12):
        with pytest.raises(ValueError, match="not a whole multiple"):
            batches.bernoulli_each(9, probability)
    for many in (0, 2**16 + 1):
        with pytest.raises(ValueError, match="is not between"):
            batches.uniform_each(9, many)
    far = np.asarray([[0, 0], [-(2**62), 2**62]], np.int64)
    assert batches.softmax_each(far // 2, 1.0)[1] == 1
    for scores in (far, np.zeros((1, batches.MOST_PLACES + 1), np.int64)):
        with pytest.raises(ValueError, match="too many scores"):
            batches.softmax_each(scores, 1.0)
    assert len(batches.softmax_each(np.zeros((0, 3), np.int64), 1.0)) == 0


def test_rows_are_drawn_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_CELLS", 10)
    table = np.asarray([[0, -(10**6), -(10**6)], [-(10**6), -(10**6), 0]] * 50, np.int64)
    assert batches.softmax_each(table, 1.0).tolist() == [0, 2] * 50


def test_answers_of_three_and_more_states(chance: Chance) -> None:
    for states, epsilon in ((3, 0.2), (3, 2.0), (5, 1.0), (300, 4.0)):
        response = RandomizedResponse.for_cost(tuple(range(states)), epsilon)
        law = response.channel()
        for true in (0, states - 1):
            drawn = response.release([true] * 14_000)
            chance.expect_law(drawn, dict(enumerate(law[true])))
