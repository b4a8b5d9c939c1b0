"""What does not follow: small models, computed exactly, that refute what one might think.

Each is a law and one or more mechanisms on a few records, and the levels that refute the claim
(theory 5.2 f). docs/counterexamples.md shows them all.

#### f. What does not follow

The [gallery](counterexamples.md) computes a model against each: DP gives no BDP; uninformed gives
no level for others; the least informed is not the worst; BDP levels don't add up, and their maximum
is not that of disjoint records (2.2, 2.3); independence given the others is not enough; BDP without
full support gives no DP; membership privacy for correlated beliefs, or for one belief.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesdp.leakage.tensor import tensor_leakage
from bayesdp.notions.catalogue import NotionKey

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A model that refutes a claim.

    `claim` is what one might think, `model` the law and the mechanism in words; `levels` computes
    the numbers that stand against it, in nats. `refutes` says whether they do. `missing` is the
    arrow between notions that is not there (or not without its hypothesis), where there is one.
    """

    name: str
    claim: str
    model: str
    why: str
    source: str
    levels: Callable[[], Mapping[str, float]]
    refutes: Callable[[Mapping[str, float]], bool]
    missing: tuple[NotionKey, NotionKey] | None = None


# -- the models ---------------------------------------------------------------------------------


def law(shape: tuple[int, ...], weights: Mapping[tuple[int, ...], float]) -> Floats:
    """A law from the weights of its possible databases."""
    joint = np.zeros(shape)
    for cell, weight in weights.items():
        joint[cell] = weight
    out: Floats = joint / joint.sum()
    return out


def fair(records: int) -> Floats:
    """Independent fair bits."""
    return np.full((2,) * records, 0.5**records)


def identical(records: int) -> Floats:
    """One fair bit, in every record."""
    return law((2,) * records, {(0,) * records: 1.0, (1,) * records: 1.0})


def channel(records: int, answer: Callable[[tuple[int, ...]], Any]) -> Floats:
    """The mechanism that answers a database of bits with this law."""
    cells = list(product((0, 1), repeat=records))
    rows = np.array([answer(cell) for cell in cells], dtype=float)
    return rows.reshape(*(2,) * records, -1)


def randomized(bit: int, epsilon: float) -> list[float]:
    """Randomized response on one bit."""
    kept = 1.0 / (1.0 + math.exp(-epsilon))
    return [1.0 - kept, kept] if bit else [kept, 1.0 - kept]


def one_bit(records: int, record: int, epsilon: float) -> Floats:
    """Randomized response on one record."""
    return channel(records, lambda x: randomized(x[record], epsilon))


def hit(chance: float) -> list[float]:
    """One of two outcomes, with this probability of the second."""
    return [1.0 - chance, chance]


def noisy_count(records: int, epsilon: float) -> Floats:
    """The count with discrete Laplace noise, moved into the range of counts."""
    a = math.exp(-epsilon)

    def answer(cell: tuple[int, ...]) -> list[float]:
        count = sum(cell)
        inner = [(1 - a) / (1 + a) * a ** abs(y - count) for y in range(1, records)]
        return [a**count / (1 + a), *inner, a ** (records - count) / (1 + a)]

    return channel(records, answer)


def both(first: Floats, second: Floats) -> Floats:
    """Two mechanisms with independent noise, both answers shown."""
    pairs = first[..., :, None] * second[..., None, :]
    out: Floats = pairs.reshape(*first.shape[:-1], -1)
    return out


def each(records: int, epsilon: float) -> Floats:
    """Randomized response on every record, all answers shown."""
    joined = one_bit(records, 0, epsilon)
    for j in range(1, records):
        joined = both(joined, one_bit(records, j, epsilon))
    return joined


def bdp(joint: Floats, mechanism: Floats, adversary: Any = "any") -> float:
    """The exact BDP level."""
    return tensor_leakage(joint, mechanism).levels[adversary].bdp


def dp(mechanism: Floats) -> float:
    """The exact DP level, on all databases."""
    return tensor_leakage(np.full(mechanism.shape[:-1], 1.0), mechanism).dp


def setting(joint: Floats, mechanism: Floats, record: int = 0) -> float:
    """How far setting one record moves log-probabilities, the others drawn as before."""
    others = joint.sum(axis=record, keepdims=True)[..., None]
    axes = tuple(j for j in range(joint.ndim) if j != record)
    effects = (others * mechanism).sum(axis=axes)
    return float(np.max(np.ptp(np.log(effects), axis=0)))


# -- the levels ---------------------------------------------------------------------------------


def _dp_and_bdp() -> dict[str, float]:
    mechanism = each(2, 1.0)
    return {"dp": dp(mechanism), "bdp": bdp(identical(2), mechanism)}


def _uninformed() -> dict[str, float]:
    mechanism = channel(2, lambda x: randomized(x[0] ^ x[1], 3.0))
    return {
        "uninformed": bdp(fair(2), mechanism, "uninformed"),
        "any": bdp(fair(2), mechanism),
    }


FLIP, RESPONSE_FLIP, KNOWN_AT = 0.1, 0.313112, 8


def _least_informed() -> dict[str, float]:
    """Randomized response along a symmetric chain: forward and backward messages (theory 3.9 c)."""
    from tests.oracles.exact_chain import LocalChain

    rows = [[1.0 - FLIP, FLIP], [FLIP, 1.0 - FLIP]]
    answers = [[1.0 - RESPONSE_FLIP, RESPONSE_FLIP], [RESPONSE_FLIP, 1.0 - RESPONSE_FLIP]]
    chain = LocalChain(rows, [0.5, 0.5], answers, 1001)
    nobody, known = chain.level("uninformed"), chain.between(KNOWN_AT, KNOWN_AT)
    assert nobody is not None
    assert known is not None
    return {"uninformed": nobody.upper, "knows two": known.lower}


def _adding() -> dict[str, float]:
    joint = law((2, 2), {(0, 0): 9.0, (0, 1): 9.0, (1, 1): 1.0})
    run = channel(2, lambda x: hit(11.0 ** sum(x) / 242.0))
    return {"one": bdp(joint, run), "two": bdp(joint, both(run, run))}


def _adding_small() -> dict[str, float]:
    a, mu = 0.2, 0.9
    joint = law((2, 2), {(0, 0): 1 - mu, (0, 1): mu, (1, 1): mu * a / (1 - a)})
    run = channel(2, lambda x: hit(1.5 ** sum(x) / 4.5))
    return {"one": bdp(joint, run), "two": bdp(joint, both(run, run))}


def _adding_uninformed() -> dict[str, float]:
    first = channel(2, lambda x: randomized(x[0] ^ x[1], 3.0))
    second = each(2, 1.0)
    return {
        "first": bdp(fair(2), first, "uninformed"),
        "second": bdp(fair(2), second, "uninformed"),
        "together": bdp(fair(2), both(first, second), "uninformed"),
    }


def _parallel() -> dict[str, float]:
    parts = [one_bit(2, j, 1.0) for j in (0, 1)]
    return {
        "first": bdp(identical(2), parts[0]),
        "second": bdp(identical(2), parts[1]),
        "together": bdp(identical(2), both(*parts)),
    }


def _degenerate() -> dict[str, float]:
    count = noisy_count(3, 1.0)
    return {"dp": dp(count), "seen": bdp(identical(3), count, "uninformed")}


def _no_full_support() -> dict[str, float]:
    mechanism = channel(2, lambda x: randomized(x[0] ^ x[1], 5.0))
    return {"bdp": bdp(identical(2), mechanism), "dp": dp(mechanism)}


RARE = 0.01


def _correlated_belief() -> dict[str, float]:
    """A belief that both records are 1 together, rarely: its posterior against its prior."""
    mechanism = each(2, 1.0)
    belief = law((2, 2), {(0, 0): 1.0 - RARE, (1, 1): RARE})
    after = belief[..., None] * mechanism
    seen = after[1].sum(axis=0) / after.sum(axis=(0, 1))
    return {"bdp": bdp(fair(2), mechanism), "mp": float(np.max(np.log(seen / RARE)))}


def _one_belief() -> dict[str, float]:
    belief = law((2,), {(1,): 1.0, (0,): math.e})  # P[1] = 1 / (1 + e)
    mechanism = channel(1, lambda x: hit(math.e ** (2 * x[0]) / 100.0))
    after = belief[:, None] * mechanism / (belief[:, None] * mechanism).sum(axis=0)
    ratios = np.abs(np.log(after / belief[:, None]))
    return {"mp": float(ratios.max()), "bdp": bdp(belief, mechanism)}


def _one_population_do() -> dict[str, float]:
    mechanism = channel(2, lambda x: randomized(x[0] ^ x[1], 3.0))
    return {"do": setting(fair(2), mechanism), "dp": dp(mechanism)}


def _seeing() -> dict[str, float]:
    count = noisy_count(3, 1.0)
    return {
        "do": setting(identical(3), count),
        "see": bdp(identical(3), count, "uninformed"),
    }


def _edge() -> dict[str, float]:
    """The second record copies the first, but for a flip: setting the first sets both."""
    mechanism = channel(2, lambda x: hit(math.e ** sum(x) / 20.0))
    copied = np.array([[1.0 - FLIP, FLIP], [FLIP, 1.0 - FLIP]])
    effects = (copied[..., None] * mechanism).sum(axis=1)
    return {"dp": dp(mechanism), "do": float(np.max(np.ptp(np.log(effects), axis=0)))}


def _household() -> dict[str, float]:
    mechanism = noisy_count(2, 1.0)
    secret = np.log(mechanism[1, 1] / mechanism[0, 0])
    return {"bdp": bdp(fair(2), mechanism), "household": float(np.max(np.abs(secret)))}


def _more(low: str, high: str, factor: float = 1.0) -> Callable[[Mapping[str, float]], bool]:
    return lambda actual: actual[high] > factor * actual[low] + 1e-6


COUNTEREXAMPLES: tuple[Counterexample, ...] = (
    Counterexample(
        "dp-without-bdp",
        "eps-DP is eps-BDP, whoever depends on whom",
        "two copies of one fair bit; randomized response with epsilon 1 on each",
        "DP counts one record at a time; who learns a bit twice learns twice as much",
        "Yang, Sato & Nakagawa 2015; Tschantz, Sen & Datta 2020",
        _dp_and_bdp,
        _more("dp", "bdp"),
        ("dp", "bdp"),
    ),
    Counterexample(
        "uninformed-without-any",
        "who knows nothing learns as much as who knows something",
        "two independent fair bits; randomized response with epsilon 3 on whether they differ",
        "the answer tells nothing about either bit alone, and everything to who knows the other",
        "theory 5.2 f",
        _uninformed,
        _more("uninformed", "any"),
        ("bdp-uninformed", "bdp"),
    ),
    Counterexample(
        "least-informed-is-not-worst",
        "on a chain, the adversary with the least prior knowledge is the worst",
        "a chain of two symmetric states with flip .1; every record answers with flip .313112",
        "knowing the records 8 steps away on both sides sharpens what answers between them tell",
        "claimed in the literature on correlated data; theory 3.9 c",
        _least_informed,
        _more("uninformed", "knows two"),
    ),
    Counterexample(
        "levels-do-not-add",
        "BDP levels of two mechanisms add up",
        "weights 9, 9, 1, 0 on (0,0), (0,1), (1,1), (1,0); "
        "P[Y = 1 | x] = 11^(x1 + x2) / 242; twice",
        "both answers depend on the same unknown record: they are not independent given the secret",
        "claimed by Zhao 2017, Theorem 1; theory 2.2",
        _adding,
        _more("one", "two", 2.0),
    ),
    Counterexample(
        "small-levels-do-not-add",
        "small BDP levels of two mechanisms add up",
        "weights .1, .9, .225, 0 on (0,0), (0,1), (1,1), (1,0); "
        "P[Y = 1 | x] = 1.5^(x1 + x2) / 4.5; twice",
        "the same at about half a nat",
        "claimed by Zhao 2017, Theorem 1; theory 2.2",
        _adding_small,
        _more("one", "two", 2.0),
    ),
    Counterexample(
        "uninformed-levels-do-not-add",
        "against adversaries who know nothing levels add up, at least for independent records",
        "two independent fair bits; randomized response with epsilon 3 on whether they differ, and "
        "with epsilon 1 on each bit",
        "the second answers are the knowledge that the first lacked",
        "theory 2.2",
        _adding_uninformed,
        lambda actual: actual["together"] > actual["first"] + actual["second"] + 1e-6,
    ),
    Counterexample(
        "parallel-is-not-the-maximum",
        "mechanisms on disjoint records cost the largest of their BDP levels",
        "two copies of one fair bit; randomized response with epsilon 1 on the first, and on the "
        "second",
        "disjoint records are not disjoint information",
        "claimed by Zhao 2017, Theorem 2; theory 2.3",
        _parallel,
        lambda actual: actual["together"] > max(actual["first"], actual["second"]) + 1e-6,
    ),
    Counterexample(
        "independent-given-the-others",
        "it is enough that any two records are independent given all others",
        "three copies of one fair bit, a count with discrete Laplace noise of DP cost 1",
        "given the third record the first two are constants, and constants are independent",
        "Tschantz, Sen & Datta 2020, Definition 4; theory 5.2 a",
        _degenerate,
        _more("dp", "seen"),
        ("dp", "bdp-uninformed"),
    ),
    Counterexample(
        "bdp-without-dp",
        "BDP is at least as strong as DP under every population",
        "two copies of one fair bit; randomized response with epsilon 5 on whether they differ",
        "databases that the population excludes are never compared: full support is needed",
        "theory 5.2 a",
        _no_full_support,
        _more("bdp", "dp"),
        ("bdp", "dp"),
    ),
    Counterexample(
        "correlated-beliefs",
        "BDP under a population bounds membership privacy for every belief on several records",
        "independent fair bits, randomized response with epsilon 1 on each; a belief that "
        "both are 1 together, with probability 1 %",
        "such a belief is another population: membership privacy follows where x_S is known",
        "theory 5.2 d",
        _correlated_belief,
        _more("bdp", "mp"),
    ),
    Counterexample(
        "one-belief",
        "membership privacy for one prior belief is BDP",
        "one bit that is 1 with probability 1 / (1 + e); outcomes whose chances differ by e^2",
        "from that prior the probability can't grow by more than e: beliefs must be scaled down",
        "Zhao 2019, Lemma 1; theory 5.2 d",
        _one_belief,
        _more("mp", "bdp"),
        ("mp", "bdp"),
    ),
    Counterexample(
        "effects-in-one-population",
        "bounded effects of setting a record, in one population, are DP",
        "two independent fair bits; randomized response with epsilon 3 on whether they differ",
        "averaged over the other record, setting one changes nothing: every population is needed",
        "Tschantz, Sen & Datta 2020; theory 5.2 e",
        _one_population_do,
        _more("do", "dp"),
        ("causal-do", "dp"),
    ),
    Counterexample(
        "seeing-is-not-doing",
        "what a record's value causes bounds what seeing it tells",
        "three copies of one fair bit, a count with discrete Laplace noise of DP cost 1",
        "seeing one record shows the others too, setting it leaves them as they are",
        "Tschantz, Sen & Datta 2020; theory 5.3",
        _seeing,
        _more("do", "see"),
        ("causal-do", "bdp-uninformed"),
    ),
    Counterexample(
        "an-edge-between-records",
        "eps-DP bounds the effect of setting one record, whatever causes what",
        "the second bit copies the first with flip .1; P[Y = 1 | x] = e^(x1 + x2) / 20",
        "setting the first record sets the second: records must not cause records",
        "theory 5.2 e",
        _edge,
        _more("dp", "do"),
        ("dp", "causal-do"),
    ),
    Counterexample(
        "a-secret-of-two-records",
        "BDP protects facts about a household as it does facts about a person",
        "two independent fair bits, a count with discrete Laplace noise of DP cost 1; the secret "
        "is whether both are ill or none",
        "such a secret changes two records: declare it as a Pufferfish secret, or a group",
        "theory 5.1 h",
        _household,
        _more("bdp", "household"),
        ("bdp", "pufferfish"),
    ),
)
"""All of them, in the order of docs/counterexamples.md."""
