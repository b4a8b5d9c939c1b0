"""Compositions: what each rule costs, by hand, and everything that no theorem justifies."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bayesdp.accounting.costs.blocks import Block, heaviest, usable_axes
from bayesdp.accounting.costs.composition import cost_for, level
from bayesdp.accounting.costs.readings import Reading
from bayesdp.accounting.costs.spend import Spend, total_cost
from bayesdp.accounting.expressions.expression import (
    ADDING_LEVELS,
    BLOCKS_LEAK_SIZES,
    COUNTEREXAMPLES,
    PARALLEL_MAX,
    CompositionNode,
    CompositionRefusal,
    Indexed,
    Mechanism,
    Parallel,
    PostProcessing,
    Private,
    Public,
    Sequential,
)
from bayesdp.accounting.expressions.independence import dependence
from bayesdp.accounting.expressions.levels import composed_level
from bayesdp.accounting.expressions.prices import price
from bayesdp.errors import InputError
from bayesdp.populations import (
    Clusters,
    Family,
    Finite,
    Gaussian,
    Graph,
    Independent,
    MarkovChain,
    Population,
    Unknown,
)
from bayesdp.theorems.markov_count import count_mechanism
from tests.oracles import counterexamples, finite
from tests.oracles.mechanisms import randomized_response

CHAIN = MarkovChain(transition=((0.9, 0.1), (0.3, 0.7)), length=5)


def dp(eps: float, name: str = "m", **other: object) -> Mechanism:
    return Mechanism(name, eps, **other)


def known(level: float, *records: object, history: bool = True) -> Mechanism:
    """A mechanism of which only a Bayesian level is known."""
    covered = frozenset(records) if records else None
    return Mechanism("known", bdp_epsilon=level, records=covered, any_history=history)


# -- prices, by hand -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("node", "cost"),
    [
        (dp(0.3), 0.3),
        (Sequential(dp(0.5), dp(0.25)), 0.75),
        (PostProcessing(Sequential(dp(0.5), dp(0.25))), 0.75),
        (Parallel(Indexed({0, 1}, {2}), dp(0.5), dp(0.25)), 0.5),
        (Parallel(Public("region", ["north"], ["south"]), dp(0.25), dp(0.75)), 0.75),
        # What reads one record only costs the others nothing.
        (Sequential(dp(1.0, records={0}), dp(0.5, records={1}), dp(0.25)), 1.25),
        # Rounds on the same blocks: a record pays for its own block in every round.
        (
            Sequential(
                Parallel(Indexed({0}, {1}), dp(1.0), dp(0.25)),
                Parallel(Indexed({0}, {1}), dp(0.25), dp(0.5)),
            ),
            1.25,
        ),
        (
            Sequential(
                Parallel(Public("region", ["n"], ["s"]), dp(1.0), dp(0.25)),
                Parallel(Public("region", ["s"], ["w"]), dp(0.5), dp(2.0)),
            ),
            2.0,
        ),
        # Two public columns: somebody may lie in the dearest cell of both.
        (
            Sequential(
                Parallel(Public("region", ["n"], ["s"]), dp(1.0), dp(0.25)),
                Parallel(Public("sex", ["f"], ["m"]), dp(0.5), dp(0.125)),
            ),
            1.5,
        ),
        (Parallel(Private("ill"), dp(1.0, add_remove=1.0), dp(1.0, add_remove=1.0)), 2.0),
        (Parallel(Private("ill"), *[dp(1.0, add_remove=0.5)] * 3), 1.0),
        (Parallel(Private("ill"), *[dp(1.0, add_remove=a) for a in (0.75, 0.25, 0.5)]), 1.25),
        # Blocks inside blocks: entering the outer one means entering one of the inner ones.
        (
            Parallel(
                Private("ill"),
                Parallel(Private("age"), *[dp(1.0, add_remove=a) for a in (0.5, 0.25)]),
                dp(1.0, add_remove=1.0),
            ),
            1.5,
        ),
        (
            Parallel(
                Private("ill"),
                Sequential(*[dp(0.5, add_remove=0.5)] * 2),
                PostProcessing(dp(0.25, add_remove=0.25)),
            ),
            1.25,
        ),
    ],
)
def test_prices(node: CompositionNode, cost: float) -> None:
    assert price(node).dp_epsilon == cost
    assert price(node).step.dp_epsilon == cost


def test_mistakes_with_private_blocks() -> None:
    """Theory 2.3 c: neither the width of the interval, nor the add-or-remove costs alone."""
    low, high, width = 100.0, 110.0, 10.0
    total = dp(1.0, add_remove=max(abs(low), abs(high)) / width)
    assert price(Parallel(Private("ill"), total)).dp_epsilon == 11.0
    assert composed_level(Parallel(Private("ill"), total), Independent()).bdp_epsilon == 11.0
    # Sums clipped to [-1, 1], add-or-remove costs 1 and 0.1: -1 becomes 1 inside the first block.
    sums = [dp(2.0, add_remove=1.0), dp(0.2, add_remove=0.1)]
    assert price(Parallel(Private("ill"), *sums)).dp_epsilon == 2.0


def test_zcdp_costs_compose_in_the_same_way() -> None:
    rho = [Mechanism("m", rho=cost, add_remove=cost) for cost in (0.5, 0.25)]
    assert price(Sequential(*rho)).rho == 0.75
    assert price(Parallel(Indexed({0}, {1}), *rho)).rho == 0.5
    assert price(Parallel(Private("ill"), *rho)).rho == 0.75
    both = price(Sequential(rho[0], dp(1.0)))
    assert (both.rho, both.dp_epsilon) == (0.5, 1.0)
    assert (both.cost.rho_any, both.cost.any) == (0.5, 1.0)
    with pytest.raises(InputError, match="zCDP"):
        composed_level(rho[0], CHAIN)


def test_sums_are_exact_and_rounded_up() -> None:
    cost = price(Sequential(*[dp(0.1)] * 3)).dp_epsilon
    assert cost >= 3 * 0.1
    assert cost == pytest.approx(0.3, rel=1e-15)
    tiny = price(Sequential(dp(1.0), dp(1e-30))).dp_epsilon
    assert tiny == math.nextafter(1.0, 2.0)


def test_every_step_says_why() -> None:
    node = PostProcessing(
        Sequential(
            Parallel(Indexed({0}, {1}), dp(1.0, "a"), dp(0.5, "b")),
            Parallel(Public("region", ["n"], ["s"]), dp(1.0, "c"), dp(0.5, "d")),
            Parallel(Private("ill"), dp(1.0, "e", add_remove=1.0)),
        )
    )
    said = "\n".join(price(node).step.lines())
    for words in ("computed from the answers alone", "add up", "public column 'region'", "'e'"):
        assert words in said
    for words in ("replacing one record changes one block", "leaves one and enters another"):
        assert words in said


# -- what is refused -----------------------------------------------------------------------------


def test_adding_levels_is_refused() -> None:
    twice = Sequential(known(math.log(22)), known(math.log(22)))
    for population in (Clusters(size=2), CHAIN, Unknown(records=3)):
        with pytest.raises(CompositionRefusal, match=r"ln 22 = 3.0910.*ln 1573") as refusal:
            composed_level(twice, population)
        assert refusal.value.counterexample == ADDING_LEVELS
    with pytest.raises(CompositionRefusal):
        composed_level(Sequential(known(1.0), dp(1.0)), CHAIN)
    with pytest.raises(CompositionRefusal):
        composed_level(twice, Independent(), adversary="uninformed")
    with pytest.raises(CompositionRefusal) as refusal:
        price(twice)
    assert refusal.value.counterexample == ADDING_LEVELS


def test_adding_levels_where_a_theorem_says_so() -> None:
    twice = Sequential(known(1.0), known(0.5))
    assert composed_level(twice, Independent()).bdp_epsilon == 1.5
    assert composed_level(twice, CHAIN, adversary="informed").bdp_epsilon == 1.5
    with pytest.raises(InputError, match="any_history"):
        composed_level(Sequential(known(1.0), known(1.0, history=False)), Independent())
    assert composed_level(known(0.5, history=False), CHAIN).bdp_epsilon == 0.5


def test_several_rounds_in_independent_blocks_are_one_mechanism() -> None:
    blocks = Indexed([("a", 0), ("a", 1)], [("b", 0), ("b", 1)])
    one_round = Parallel(blocks, known(1.0), known(0.75))
    assert composed_level(one_round, Clusters(size=2)).bdp_epsilon == 1.0
    for rounds in (
        Sequential(one_round, one_round),
        Parallel(blocks, Sequential(known(1.0), known(1.0)), known(0.75)),
    ):
        with pytest.raises(CompositionRefusal) as refusal:
            composed_level(rounds, Clusters(size=2))
        assert refusal.value.counterexample == ADDING_LEVELS


def test_the_largest_level_is_refused_under_dependence() -> None:
    parts = (known(1.0), known(1.0))
    for population in (Clusters(size=2), CHAIN, Unknown(records=2)):
        with pytest.raises(CompositionRefusal, match="one fair bit in two records") as refusal:
            composed_level(Parallel(Indexed({0}, {1}), *parts), population)
        assert refusal.value.counterexample == PARALLEL_MAX
    with pytest.raises(CompositionRefusal) as refusal:
        composed_level(Parallel(Public("region", ["n"], ["s"]), *parts), Independent())
    assert refusal.value.counterexample == PARALLEL_MAX
    with pytest.raises(CompositionRefusal) as refusal:
        composed_level(Parallel(Private("ill"), *parts), Independent())
    assert refusal.value.counterexample == BLOCKS_LEAK_SIZES
    with pytest.raises(CompositionRefusal):
        composed_level(Parallel(Private("ill"), known(1.0)), Independent())


def test_a_level_beside_others_must_hold_for_every_history() -> None:
    blocks = Indexed({0}, {1})
    with pytest.raises(InputError, match="any_history"):
        composed_level(Parallel(blocks, known(1.0), known(1.0, history=False)), Independent())
    # A DP cost holds for every history: the stated level, which need not, is left aside.
    costly = Mechanism("m", 2.0, bdp_epsilon=0.5)
    assert composed_level(Parallel(blocks, costly, known(1.0)), Independent()).bdp_epsilon == 2.0
    assert composed_level(costly, Independent()).bdp_epsilon == 0.5


def test_private_blocks_need_the_cost_of_entering() -> None:
    with pytest.raises(CompositionRefusal, match=r"\[100, 110\]") as refusal:
        price(Parallel(Private("ill"), dp(1.0), dp(1.0)))
    assert refusal.value.counterexample == BLOCKS_LEAK_SIZES
    inside = Parallel(Indexed({0}, {1}), dp(1.0), dp(1.0))
    with pytest.raises(CompositionRefusal):  # nobody enters a block of numbers
        price(Parallel(Private("ill"), inside, dp(1.0, add_remove=1.0)))


@pytest.mark.parametrize(
    "build",
    [
        lambda: Parallel(Indexed({0, 1}, {1}), dp(1.0), dp(1.0)),
        lambda: Parallel(Public("region", ["n", "s"], ["s"]), dp(1.0), dp(1.0)),
        lambda: Parallel(Public("region", ["North"], ["north "]), dp(1.0), dp(1.0)),
        lambda: Parallel(Public("region", ["1"], [1]), dp(1.0), dp(1.0)),
        lambda: Parallel(Public("region", [1], [1.0]), dp(1.0), dp(1.0)),
        lambda: Parallel(Indexed({0}), dp(1.0), dp(1.0)),
        lambda: price(Parallel(Indexed({0}, {1}), dp(1.0, records={0, 1}), dp(1.0))),
        lambda: price(
            Parallel(
                Indexed({0}, {1}),
                Sequential(dp(1.0), PostProcessing(dp(1.0, records={1}))),
                dp(1.0),
            )
        ),
        lambda: price(
            Parallel(
                Public("region", ["n"], ["s"]),
                Parallel(Public("region", ["s"]), dp(9.0)),
                dp(1.0),
            )
        ),
        lambda: composed_level(
            Parallel(Indexed({0}, {1}), known(1.0, 0, 1), known(1.0, 1)), Independent()
        ),
        lambda: Sequential(),
        lambda: Parallel(Private("ill")),
        lambda: Sequential(1.0),
        lambda: Mechanism("m"),
        lambda: Mechanism("m", -1.0),
        lambda: Mechanism("m", math.nan),
        lambda: Mechanism("m", 1.0, rho=1.0),
        lambda: composed_level(dp(1.0), CHAIN, adversary="nobody"),
        lambda: dependence(CHAIN, [frozenset({0}), frozenset({5})]),
    ],
)
def test_malformed(build: object) -> None:
    with pytest.raises(InputError):
        build()


def test_the_named_counterexamples_hold() -> None:
    """The names are of things that happen."""
    assert set(COUNTEREXAMPLES) == {ADDING_LEVELS, PARALLEL_MAX, BLOCKS_LEAK_SIZES}
    assert {ADDING_LEVELS, PARALLEL_MAX} <= {
        counterexample.name for counterexample in counterexamples.COUNTEREXAMPLES
    }
    law = np.array([[0.5, 0.0], [0.0, 0.5]])
    item = [randomized_response((2, 2), eps) for eps in ((1.0, 0.0), (0.0, 1.0))]
    levels = [finite.leakage(law, channel)[0] for channel in item]
    assert levels == pytest.approx([1.0, 1.0])
    assert finite.leakage(law, finite.product_channel(*item))[0] == pytest.approx(2.0)
    blocks = Parallel(Indexed({0}, {1}), dp(1.0), dp(1.0))
    assert composed_level(blocks, Clusters(size=2)).bdp_epsilon == pytest.approx(2.0)
    uniform = np.full((2, 2), 0.25)
    parity = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])
    noisy = parity @ randomized_response((2,), 3.0)
    together = finite.product_channel(noisy, randomized_response((2, 2), 1.0))
    assert finite.leakage(uniform, noisy, "uninformed")[0] == pytest.approx(0.0, abs=1e-12)
    assert finite.leakage(uniform, together, "uninformed")[0] == pytest.approx(1.8912, abs=1e-4)


# -- which records are independent -----------------------------------------------------------------

PAIRS = Graph(
    records=4,
    states=2,
    factors=[{"between": [k, k + 1], "table": [[2.0, 1.0], [1.0, 2.0]]} for k in (0, 2)],
)
DIAGONAL = Gaussian(covariance=[[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize(
    ("population", "first", "second", "independent"),
    [
        (Independent(), {0}, {1}, True),
        (Independent(), {0, 1}, {1}, False),
        (Clusters(size=2), {0}, {1}, False),
        (Clusters(size=2), {("a", 0)}, {("b", 0)}, True),
        (Clusters(size=2), {("a", 0), ("b", 0)}, {("b", 1)}, False),
        (CHAIN, {0}, {4}, False),
        (CHAIN, {("first", 4)}, {("second", 0)}, True),
        (Unknown(records=4), {("a", 0)}, {("b", 0)}, False),
        (PAIRS, {0, 1}, {2, 3}, True),
        (PAIRS, {0}, {1}, False),
        (PAIRS, {("a", 0)}, {("b", 1)}, False),
        (DIAGONAL, {0, 1}, {2}, True),
        (DIAGONAL, {0, 2}, {1}, False),
        (DIAGONAL, {("a", 0)}, {("b", 0)}, True),
        # It factorises, and nothing in the spec says that it does.
        (Finite(probabilities=[[0.25, 0.25], [0.25, 0.25]]), {0}, {1}, False),
        (Family(members=[Independent(), Clusters(size=2)]), {0}, {1}, False),
        (Family(members=[Independent(), Clusters(size=2)]), {("a", 0)}, {("b", 1)}, True),
    ],
)
def test_independence_is_read_from_the_spec(
    population: Population, first: set, second: set, independent: bool
) -> None:
    blocks = [frozenset(first), frozenset(second)]
    assert (dependence(population, blocks) is None) is independent
    assert (dependence(population, blocks[::-1]) is None) is independent


# -- public blocks of spends -----------------------------------------------------------------------


def spend(eps: float, *values: object, by: str = "region", **other: object) -> Spend:
    block = Block(by, values) if values else None
    made: dict = {"kind": "any", "reads": ("x",)} | other
    return Spend("d", "row", "q", dp_epsilon=eps, block=block, **made)


def test_spends_on_disjoint_blocks_cost_the_largest() -> None:
    north, south, both = spend(0.5, "north"), spend(0.25, "south"), spend(0.125)
    assert total_cost([north, south]).dp_epsilon == 0.5
    assert total_cost([north, south, both]).dp_epsilon == 0.625
    assert total_cost([north, south, spend(0.5, "south", "west")]).dp_epsilon == 0.75
    assert total_cost([north, spend(1.0, "f", by="sex")]).dp_epsilon == 1.5
    assert total_cost([north, spend(0.5, "NORTH"), spend(0.5, " north")]).dp_epsilon == 1.5
    # Read as text and as a number it may be the same cell.
    assert total_cost([spend(0.5, "1"), spend(0.5, 2)]).dp_epsilon == 1.0
    assert total_cost([spend(0.5, True), spend(0.5, 0)]).dp_epsilon == 1.0
    # Read as a time and as the text that stands there it may be the same cell.
    assert total_cost([spend(0.5, "2026-02-01"), spend(0.5, "01/02/2026")]).dp_epsilon == 1.0
    assert total_cost([spend(0.5, "2026-02-01"), spend(0.5, "2026-02-02")]).dp_epsilon == 0.5
    assert total_cost([spend(0.5, 1), spend(0.5, 2)]).dp_epsilon == 0.5


def test_blocks_are_converted_once() -> None:
    spends = [spend(0.5, "north"), spend(0.25, "south")]
    reading = Reading("bdp", 9.0, {"model": "clusters", "size": 3}, covers=("x",))
    assert level(reading, spends) == pytest.approx(1.5)
    assert level(Reading("dp", 1.0), spends) == 0.5


def test_kinds_on_different_blocks() -> None:
    """Under DP the largest counts whatever the kinds; under a Gaussian law each has its factor."""
    moved = {"kind": "lipschitz", "column": "x", "interval": (0.0, 1.0)}
    spends = [spend(0.5, "north", **moved), spend(0.25, "south")]
    assert total_cost(spends).dp_epsilon == 0.5
    pair = {"model": "gaussian", "covariance": [[1.0, 0.1], [0.1, 1.0]]}
    reading = Reading("bdp", 9.0, pair, covers=("x",), interval=(0.0, 1.0))
    assert cost_for(reading, spends).lipschitz == 0.5
    # Somebody in the north: 0.5 themselves, 0.05 by what moves with them, and two counted in all.
    assert level(reading, spends) == pytest.approx(1.1 * 0.5 + 2 * 0.25)
    twice = [*spends, spend(0.5, "west", **moved)]
    assert level(reading, twice) == pytest.approx(1.1 * 0.5 + 2 * 0.25)


def test_what_is_known_of_a_count_needs_the_whole_series() -> None:
    chain = {"model": "markov", "transition": [[0.1, 0.9], [0.9, 0.1]], "length": 6}
    reading = Reading("bdp", 9.0, chain | {"complete": True}, covers=("x",))
    counted = {"mechanism": count_mechanism(6)}
    whole, part = (
        level(reading, [spend(0.5, **counted)]),
        level(reading, [spend(0.5, "a", **counted)]),
    )
    assert whole < part == level(reading, [spend(0.5)])


def test_blocks_and_their_words() -> None:
    block = Block("region", ["south", "north", "south"])
    assert block.values == ("north", "south")
    assert block.words() == "region in ['north', 'south']"
    assert Block.from_dict(block.to_dict()) == block
    assert Block("year", [1, 1.0]).cells == Block("year", [1]).cells
    assert Block("flag", [True]).cells != Block("flag", [1]).cells
    assert usable_axes([None, block, Block("year", [1])]) == {"region", "year"}
    assert usable_axes([block, Block("region", [1])]) == set()
    assert heaviest([], lambda item: item) == 0
    kept = spend(0.5, "north")
    assert Spend.from_dict(kept.to_dict()) == kept
    for wrong in ([], ["a", None], [math.nan], [2**53 + 2], "north", [[1]]):
        with pytest.raises(InputError):
            Block("region", wrong)
    for wrong in ({"column": "region"}, {"column": "", "values": [1]}, "region", 7):
        with pytest.raises(InputError):
            Block.from_dict(wrong)


def test_rows_of_a_record_may_lie_in_several_blocks() -> None:
    with pytest.raises(InputError, match="several rows"):
        Spend("d", "person", "q", "any", 0.5, block=Block("day", ["monday"]))


def test_names_of_different_kinds_may_be_the_same_record() -> None:
    """`0` and `("the only one", 0)` are one record: neither blocks nor lists mix them."""
    alias = ("the only one", 0)
    with pytest.raises(InputError, match="by cluster and number"):
        Indexed({0}, {alias})
    with pytest.raises(InputError, match="by cluster and number"):
        Mechanism("a", 1.0, records=frozenset({0, alias}))
    item, other = (Mechanism("a", 1.0, records=frozenset({r})) for r in (0, alias))
    with pytest.raises(InputError, match="by cluster and number"):
        price(Sequential(item, other))


def test_values_of_different_kinds_may_be_the_same_cell() -> None:
    text, number = (Parallel(Public("code", [value]), Mechanism("a", 1.0)) for value in ("1", 1))
    with pytest.raises(InputError, match="of one kind"):
        price(Sequential(text, number))
    assert price(Sequential(number, number)).dp_epsilon == 2.0
