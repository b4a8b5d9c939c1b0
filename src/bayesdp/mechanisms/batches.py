"""Many draws at once, from fair bits that OpenDP draws in one call.

A draw for each record, one by one, takes a call of OpenDP for each. Here one call makes fair bytes
for all records, by randomized response on bits that are flipped with probability 1/2, and the draws
are made of them. **The laws are exact**, as those of the calls one by one are:

* `bernoulli_each`: a uniform number U in [0, 1) is compared with the probability p byte by byte,
  from the largest on. It is below p with probability p exactly, because a double of at least 2^-11
  is a whole multiple of 2^-64.
* `uniform_each`: whole bytes, those too large for a whole number of rounds drawn again.
* `softmax_each`: let `C_i` be the exact sums of the first i probabilities. With U uniform in [0, 1)
  the place i with `C_(i-1) <= U < C_i` has the softmax law. U is drawn byte by byte: after b bits
  it lies in an interval of length 2^-b, and a place is chosen once that interval lies between
  bounds of `C_(i-1)` and `C_i` that hold whatever was rounded. So rounding delays decisions and
  changes none. What 48 bits and doubles leave open is decided in ball arithmetic, with more bits.

*Bounds.* A weight is `exp(d / scale)` with a whole d <= 0. Rounding d and dividing moves the
exponent x by at most 2^-51 |x|, so the weight by at most `2^-51 |x| e^x <= 2^-52`, and `exp` itself
by a few 2^-52. A sum of m weights is rounded by at most m 2^-53 of itself, and it is at least 1,
the largest weight. So all `C_i` are off by less than m 2^-48; `(m + 16) 2^-46` is allowed.

**Answers of all records at once.** They have the laws of a call for each, exactly. Randomized
response compares a uniform number of 64 fair bits with the probability of the true answer, a double
of at least `2^-11` and so a multiple of `2^-64`; other answers are drawn by rejection.
`per_record_exponential` inverts the distribution function: bits of `U` are drawn until `U` lies
between two neighbouring partial sums of the softmax, whatever these were rounded by (first in
doubles with a bound, then in balls). No bit decides anything that isn't certain, so rounding delays
a decision and changes no law (`mechanisms/batches.py`).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayesdp.arrays import Bools, Floats, Ints

MOST_PLACES = 2**16
"""The most places of a row: the sums of more are too rough to decide much."""

_BYTES = 6
"""Bytes of U that are compared in doubles, which hold them exactly."""
_CELLS = 2**22
"""The most weights that are held at a time."""


def fair_bytes(count: int) -> NDArray[np.uint8]:
    """So many independent uniform bytes, by one call of OpenDP; there is no seed."""
    return np.frombuffer(_coins()(bytes(count)), np.uint8) if count else np.zeros(0, np.uint8)


@lru_cache(maxsize=1)
def _coins() -> Any:
    """OpenDP's randomized response on bits, each flipped with probability 1/2."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.bitvector_domain(max_weight=2**20)
    return dp.m.make_randomized_response_bitvec(domain, dp.discrete_distance(), f=1.0)


def bernoulli_each(count: int, probability: float) -> Bools:
    """So many independent truth values, each true with this probability.

    Raises `ValueError` for one that is not a whole multiple of 2^-64: all of at least 2^-11 are.
    """
    exact = Fraction(probability) * 2**64
    if exact.denominator > 1:
        raise ValueError(f"{probability!r} is not a whole multiple of 2^-64")
    limit = int(exact)
    outcomes = np.full(count, limit >= 2**64)
    left = np.arange(0 if limit >= 2**64 else count)
    for digit in limit.to_bytes(9, "big")[1:]:
        random_bytes = fair_bytes(len(left))
        outcomes[left[random_bytes < digit]] = True
        left = left[random_bytes == digit]
    return outcomes


def uniform_each(count: int, many: int) -> Ints:
    """So many independent whole numbers from 0 to `many` - 1, each as likely.

    Raises `ValueError` unless `many` is between 1 and 2^16.
    """
    if not 1 <= many <= 2**16:
        raise ValueError(f"{many} is not between 1 and 2^16")
    width = 1 if many <= 2**8 else 2
    rounds = 256**width // many * many
    outcomes, left = np.zeros(count, np.int64), np.arange(count)
    while len(left):
        random_bytes = fair_bytes(width * len(left)).reshape(len(left), width).astype(np.int64)
        values = random_bytes @ np.asarray([256**power for power in range(width)], np.int64)
        outcomes[left] = values % many
        left = left[values >= rounds]
    return outcomes


def respond_each(places: Sequence[int], states: int, keep_probability: float) -> list[int]:
    """Each of `places` is `kept` with that probability, or replaced by another one.

    All others of the `states` are as likely. The answers are in the order of `places`.
    """
    true_places = np.asarray(places, dtype=np.int64)
    moved = np.flatnonzero(~bernoulli_each(len(true_places), keep_probability))
    others = uniform_each(len(moved), states - 1)
    true_places[moved] = others + (others >= true_places[moved])
    answers: list[int] = true_places.tolist()
    return answers


def softmax_each(scores: Ints, scale: float) -> Ints:
    """For each row of whole scores a place, drawn with probability proportional to e^(score/scale).

    Raises `ValueError` where `scores` has more than `MOST_PLACES` columns, or scores of a row
    differ by 2^63 or more.
    """
    rows, places = scores.shape
    if places > MOST_PLACES or (rows and np.ptp(scores.astype(float), axis=1).max() >= 2.0**63):
        raise ValueError("too many scores in a row, or too far from each other")
    choices, step = np.zeros(rows, np.int64), max(_CELLS // places, 1)
    for start in range(0, rows, step):
        part = scores[start : start + step]
        choices[start : start + step] = _chosen(part - part.max(axis=1, keepdims=True), scale)
    return choices


def _chosen(scores: Ints, scale: float) -> Ints:
    """A place for each row; the largest score of a row is 0."""
    sums = np.cumsum(np.exp(scores / scale), axis=1)
    ends = sums[:, :-1] / sums[:, -1:]
    off = _off(scores.shape[1])
    choices, left = np.zeros(len(scores), np.int64), np.arange(len(scores))
    prefix, bits = np.zeros(len(scores), np.int64), 0
    for _ in range(_BYTES):
        prefix, bits = prefix * 256 + fair_bytes(len(left)), bits + 8
        place, decided = _between(ends[left], prefix, bits, off)
        choices[left[decided]] = place[decided]
        left, prefix = left[~decided], prefix[~decided]
    for row, number in zip(left.tolist(), prefix.tolist(), strict=True):
        choices[row] = _settled(scores[row].tolist(), scale, number, bits)
    return choices


def _off(places: int) -> float:
    """How far sums of doubles are allowed to be off: see the module's bounds."""
    return (places + 16) * 2.0**-46


def _between(ends: Floats, prefix: Ints, bits: int, off: float) -> tuple[Ints, Bools]:
    """The place of U in each row, given its first bits, and whether it is decided."""
    low, high = prefix * 2.0**-bits, (prefix + 1) * 2.0**-bits
    place = (ends <= low[:, None]).sum(axis=1)
    rows = np.arange(len(ends))
    walls = np.concatenate([np.full((len(ends), 1), -1.0), ends, np.full((len(ends), 1), 2.0)], 1)
    decided = (low >= walls[rows, place] + off) & (high <= walls[rows, place + 1] - off)
    return place, decided


def _settled(scores: list[int], scale: float, prefix: int, bits: int) -> int:
    """The place of U, of which `bits` bits are known: in ball arithmetic, with as many as it takes.

    `shown` are those bits, as a whole number.
    """
    import flint

    before = flint.ctx.prec
    exponents = [Fraction(score) / Fraction(scale) for score in scores]
    try:
        while True:
            prefix = (prefix << 64) + int.from_bytes(fair_bytes(8).tobytes(), "big")
            bits += 64
            flint.ctx.prec = 2 * bits
            sums, total = [], flint.arb(0)
            for x in exponents:
                total += flint.arb(flint.fmpq(x.numerator, x.denominator)).exp()
                sums.append(total)
            low = total * flint.arb(prefix) / flint.arb(2) ** bits
            high = total * flint.arb(prefix + 1) / flint.arb(2) ** bits
            for place, end in enumerate(sums[:-1]):
                if high <= end:
                    return place
                if not low >= end:
                    break
            else:
                return len(scores) - 1
    finally:
        flint.ctx.prec = before
