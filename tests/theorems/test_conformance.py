"""Every theorem in the registry, held to what `conformance` asks of all."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import numpy as np
import pytest

from bayesdp.notions import ColumnCost, Cost
from bayesdp.populations import (
    Autoregressive,
    Family,
    Finite,
    Gaussian,
    Graph,
    MarkovChain,
    Panel,
    Tree,
    parse,
)
from bayesdp.theorems import REGISTRY
from tests.oracles import chains, gaussian
from tests.oracles.populations import Normal, a_law
from tests.theorems.conformance import (
    Case,
    Failed,
    TheoremConformance,
    discrete,
    normal,
    theorems_held,
)

LIPSCHITZ = Cost(lipschitz=1.0)
# The mistakes that change nothing where a theorem takes no notice of signs, sizes or knowledge.
NO_SIGN = "another sign of a coupling"
ALL_SIZES = "a smaller population"
SAME_FOR_UNINFORMED = "taken for uninformed"

STICKY = [[0.9, 0.1], [0.2, 0.8]]
THREE = [[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]]
WEAK = [[0.501, 0.499], [0.5, 0.5]]
LUMPED = [[0.9, 0.05, 0.05], [0.2, 0.4, 0.4], [0.2, 0.4, 0.4]]
WEAK_SECOND_ORDER = [[[0.5, 0.5], [0.499, 0.501]], [[0.5, 0.5], [0.5, 0.5]]]
LAG_TWO = [[[0.61, 0.39], [0.58, 0.42]], [[0.36, 0.64], [0.37, 0.63]]]
SECOND_ORDER = [[[0.8, 0.2], [0.6, 0.4]], [[0.5, 0.5], [0.3, 0.7]]]
THIRD_ORDER = [[[[0.7, 0.3], [0.6, 0.4]], [[0.5, 0.5], [0.4, 0.6]]]] * 2
LOWER, UPPER = [[0.6, 0.2], [0.3, 0.4]], [[0.8, 0.4], [0.6, 0.7]]
BETWEEN = MarkovChain(transition_lower=LOWER, transition_upper=UPPER, length=3)
LARGEST_ONLY = Gaussian(size=3, max_correlation=0.2)
PAIR = [[1.0, 0.4], [0.4, 1.0]]
CLUSTER = [[1.0, 0.3, -0.2], [0.3, 1.0, 0.1], [-0.2, 0.1, 1.0]]
UNEQUAL = [[1.0, 0.9], [0.9, 4.0]]
SIGNED = [
    [10.5, -9.0, 2.0, -4.0],
    [-9.0, 10.5, 2.0, 1.0],
    [2.0, 2.0, 13.5, -3.0],
    [-4.0, 1.0, -3.0, 10.5],
]
"""Records move farther together when some are known: with the signs that these have."""
FRUSTRATED = [[1.0, 0.7, 0.7], [0.7, 1.0, 0.7], [0.7, 0.7, 1.0]]
TABLE = [[2.0, 1.0], [1.0, 2.0]]
TRIANGLE = {
    "model": "graph",
    "records": 3,
    "states": 2,
    "factors": [{"between": pair, "table": TABLE} for pair in ([0, 1], [1, 2], [2, 0])],
}
NODES = [
    {"name": "a", "law": [0.3, 0.7]},
    {"name": "b", "parent": "a", "transition": STICKY},
    {"name": "c", "parent": "a", "transition": [[0.6, 0.4], [0.1, 0.9]]},
]


def chain(transition, length=3, **more) -> Case:
    table = np.asarray(transition).tolist()
    return discrete(model="markov", transition=table, length=length, **more)


def reversed_names(transition) -> list:
    """The same chain with the numbers of its states turned round."""
    return np.flip(np.asarray(transition)).tolist()


def two_names(transition, length=3, **more) -> tuple[MarkovChain, MarkovChain]:
    return (
        MarkovChain(transition=transition, length=length, **more),
        MarkovChain(transition=reversed_names(transition), length=length, **more),
    )


def pairs(strength: float) -> dict:
    """Four records around a square, two of them with a table of their own."""
    table = [[np.exp(strength), 1.0], [1.0, np.exp(strength)]]
    lopsided = [[2.0, 1.0], [1.0, 1.5]]
    factors = [
        {"between": between, "table": table if position % 2 else lopsided}
        for position, between in enumerate([[0, 1], [1, 2], [2, 3], [3, 0]])
    ]
    return {"model": "graph", "records": 4, "states": 2, "factors": factors}


def turned(spec: dict) -> dict:
    """The same graph with record `i` called `(i + 1) % records`."""
    factors = [
        {
            "between": [(i + 1) % spec["records"] for i in factor["between"]],
            "table": factor["table"],
        }
        for factor in spec["factors"]
    ]
    return spec | {"factors": factors}


def permuted(covariance, order) -> list:
    return np.asarray(covariance)[np.ix_(order, order)].tolist()


def test_every_theorem_is_held_to_it() -> None:
    assert theorems_held() == {theorem.name for theorem in REGISTRY}


class TestIndependent(TheoremConformance):
    name = "independent"
    unchanged_by = frozenset(
        {
            "taken for informed",
            SAME_FOR_UNINFORMED,
            ALL_SIZES,
            NO_SIGN,
            "dependence counted with a minus",
        }
    )

    def cases(self):
        joint = chains.product(np.array([0.2, 0.8]), np.array([0.5, 0.3, 0.2]))
        return [discrete(joint, model="independent")]


class TestClusterSize(TheoremConformance):
    name = "cluster-size"
    unchanged_by = frozenset({NO_SIGN, SAME_FOR_UNINFORMED})

    def cases(self):
        identical = np.zeros((2, 2, 2))
        identical[0, 0, 0] = identical[1, 1, 1] = 0.5
        return [
            discrete(identical, model="clusters", size=3),
            discrete(identical, model="unknown", records=3),
            chain(STICKY),
        ]


class TestMarkovRatio(TheoremConformance):
    name = "markov-ratio"
    unchanged_by = frozenset({ALL_SIZES, NO_SIGN, SAME_FOR_UNINFORMED})
    speaks_of_small_costs = False

    def cases(self):
        return [chain(STICKY), chain(THREE), chain(WEAK)]

    def renamed(self):
        return [two_names(STICKY), two_names(THREE)]

    def failures(self):
        return [
            Failed("intervals", BETWEEN),
            Failed("order 1", MarkovChain(transition=SECOND_ORDER, order=2, length=4)),
            Failed("stationary law", MarkovChain(transition=STICKY, length=3, initial=[0.5, 0.5])),
            Failed("is 0", MarkovChain(transition=[[0.5, 0.5], [1.0, 0.0]], length=3)),
        ]


class TestMarkovContraction(TheoremConformance):
    name = "markov-contraction"
    unchanged_by = frozenset({ALL_SIZES, NO_SIGN, SAME_FOR_UNINFORMED})

    def cases(self):
        inside = chains.joint([[0.7, 0.3], [0.4, 0.6]], "stationary", 3)
        interval = {"transition_lower": LOWER, "transition_upper": UPPER}
        return [
            chain(STICKY),
            chain(THREE),
            chain(WEAK),
            chain(SECOND_ORDER, order=2),
            discrete(inside, model="markov", length=3, **interval),
        ]

    def renamed(self):
        return [two_names(STICKY), two_names(THREE), two_names(SECOND_ORDER, order=2)]

    def failures(self):
        return [Failed("R is infinite", MarkovChain(transition=[[0.5, 0.5], [1, 0]], length=3))]


class TestMarkovThreshold(TheoremConformance):
    name = "markov-threshold"

    def cases(self):
        return [chain(THREE), chain(THREE, initial=[0.2, 0.2, 0.6]), chain(LUMPED, 4)]

    def renamed(self):
        return [two_names(THREE, length=30)]

    def failures(self):
        lower, upper = np.full((3, 3), 0.2).tolist(), np.full((3, 3), 0.5).tolist()
        between = MarkovChain(transition_lower=lower, transition_upper=upper, length=3)
        turning = MarkovChain(
            transition=np.roll(np.eye(3), 1, axis=1).tolist(), length=10**6, initial=[0.2, 0.3, 0.5]
        )
        long = MarkovChain(transition=THREE, length=10**6)
        return [
            Failed("intervals", between),
            Failed("does not forget", turning, options=(("seconds", 60.0),)),
            Failed("allow more with --seconds", long, options=(("seconds", 1e-9),)),
        ]


class TestMarkovRecursion(TheoremConformance):
    name = "markov-recursion"

    def cases(self):
        return [
            chain(STICKY, 4),
            chain(STICKY, initial=[0.0, 1.0]),
            chain([[0.5, 0.5], [1.0, 0.0]]),
            chain(THREE),
            chain(SECOND_ORDER, order=2),
        ]

    def renamed(self):
        return [two_names(STICKY, length=50), two_names(THREE)]

    def failures(self):
        ordered = MarkovChain(transition=SECOND_ORDER, order=2, length=4)
        started = MarkovChain(
            transition=SECOND_ORDER, order=2, length=4, initial=[[0.25, 0.25], [0.25, 0.25]]
        )
        frozen = MarkovChain(transition=[[1, 0], [0, 1]], length=10**6, initial=[0.5, 0.5])
        return [
            Failed("intervals", BETWEEN),
            Failed("uninformed adversaries only", ordered),
            Failed("stationary chains only", started, adversary="uninformed"),
            Failed("does not forget", frozen),
        ]


class TestMarkovIntervals(TheoremConformance):
    name = "markov-intervals"
    unchanged_by = frozenset({ALL_SIZES, NO_SIGN})

    def cases(self):
        members = [([[0.8, 0.2], [0.3, 0.7]], LOWER, UPPER)]
        members.append(
            ([[0.2, 0.8], [0.9, 0.1]], [[0.2, 0.7], [0.8, 0.1]], [[0.3, 0.8], [0.9, 0.2]])
        )
        members.append(([[0.505, 0.495], [0.495, 0.505]], *[[[0.505, 0.495], [0.495, 0.505]]] * 2))
        return [
            discrete(
                chains.joint(inside, "stationary", 4),
                model="markov",
                length=4,
                transition_lower=lower,
                transition_upper=upper,
            )
            for inside, lower, upper in members
        ]

    def renamed(self):
        other = MarkovChain(
            transition_lower=reversed_names(LOWER), transition_upper=reversed_names(UPPER), length=3
        )
        return [(BETWEEN, other)]

    def failures(self):
        def between(lower, upper, **more):
            return MarkovChain(
                transition_lower=lower, transition_upper=upper, **({"length": 3} | more)
            )

        thirds = [np.full((3, 3), 0.2).tolist(), np.full((3, 3), 0.5).tolist()]
        pairs_ = [np.full((2, 2, 2), 0.4).tolist(), np.full((2, 2, 2), 0.6).tolist()]
        zero = [[0.6, 0.0], [0.3, 0.4]], [[1.0, 0.4], [0.6, 0.7]]
        frozen = [[1 - 2e-7, 1e-7], [1e-7, 1 - 2e-7]], [[1 - 1e-7, 2e-7], [2e-7, 1 - 1e-7]]
        return [
            Failed("two states", between(*thirds)),
            Failed("order 1", between(*pairs_, order=2)),
            Failed("stationary law", between(LOWER, UPPER, initial=[0.5, 0.5])),
            Failed("below 1e-08", between(*zero)),
            Failed("above 300", BETWEEN, cost=Cost(any=301.0)),
            Failed("fades too slowly", between(*frozen), cost=Cost(any=1e-3)),
        ]


class TestMarkovInfluence(TheoremConformance):
    name = "markov-influence"
    unchanged_by = frozenset({NO_SIGN, SAME_FOR_UNINFORMED})

    def cases(self):
        return [chain(table, order=2) for table in (SECOND_ORDER, WEAK_SECOND_ORDER, LAG_TWO)]

    def renamed(self):
        return [two_names(SECOND_ORDER, order=2, length=20)]

    def failures(self):
        zero = [[[0.8, 0.2], [0.6, 0.4]], [[1.0, 0.0], [0.5, 0.5]]]
        strong = [[[0.99, 0.01], [0.5, 0.5]], [[0.5, 0.5], [0.01, 0.99]]]
        return [
            Failed("zero", MarkovChain(transition=zero, order=2, length=4)),
            Failed("do not die out", MarkovChain(transition=strong, order=2, length=40)),
        ]


class TestMarkovWindow(TheoremConformance):
    name = "markov-window"
    unchanged_by = frozenset({ALL_SIZES, NO_SIGN, SAME_FOR_UNINFORMED})

    def cases(self):
        return [chain(SECOND_ORDER, order=2), chain(WEAK_SECOND_ORDER, order=2)]

    def renamed(self):
        return [two_names(SECOND_ORDER, order=2, length=20)]

    def failures(self):
        zero = [[[0.8, 0.2], [0.6, 0.4]], [[1.0, 0.0], [0.5, 0.5]]]
        start = [[0.25, 0.25], [0.25, 0.25]]
        started = MarkovChain(transition=SECOND_ORDER, order=2, length=4, initial=start)
        return [
            Failed("is 0", MarkovChain(transition=zero, order=2, length=4)),
            Failed("stationary law", started),
        ]


@pytest.mark.usefixtures("few_contexts")
class TestMarkovContexts(TheoremConformance):
    name = "markov-contexts"
    unchanged_by = frozenset({ALL_SIZES, NO_SIGN, SAME_FOR_UNINFORMED})

    def cases(self):
        weak = [[[0.505, 0.495], [0.495, 0.505]], [[0.5, 0.5], [0.49, 0.51]]]
        return [
            chain(SECOND_ORDER, order=2),
            chain(THIRD_ORDER, order=3),
            chain(weak, 5, order=2),
        ]

    def renamed(self):
        return [two_names(SECOND_ORDER, order=2, length=20)]

    def failures(self):
        zero = [[[0.8, 0.2], [0.6, 0.4]], [[1.0, 0.0], [0.5, 0.5]]]
        start = [[0.25, 0.25], [0.25, 0.25]]
        started = MarkovChain(transition=SECOND_ORDER, order=2, length=4, initial=start)
        rare = [[[1 - 1e-9, 1e-9], [0.6, 0.4]], [[0.5, 0.5], [0.1, 0.9]]]
        thirds = [[[1 / 3] * 3] * 3] * 3
        deep = np.full((2,) * 6, 0.5).tolist()
        second = MarkovChain(transition=SECOND_ORDER, order=2, length=4)
        return [
            Failed("is 0", MarkovChain(transition=zero, order=2, length=4)),
            Failed("stationary law", started),
            Failed("two states", MarkovChain(transition=thirds, order=2, length=4)),
            Failed("order 4", MarkovChain(transition=deep, order=5, length=4)),
            Failed("above 50", second, cost=Cost(any=25.1)),
            Failed("below 1e-08", MarkovChain(transition=rare, order=2, length=4)),
        ]


class TestTreeRecursion(TheoremConformance):
    name = "tree-recursion"
    unchanged_by = frozenset({NO_SIGN})

    def cases(self):
        network = [
            {"name": "a", "states": 2, "table": [0.3, 0.7]},
            {"name": "b", "states": 2, "parents": ["a"], "table": STICKY},
        ]
        return [discrete(model="tree", nodes=NODES), discrete(model="network", nodes=network)]

    def renamed(self):
        return [(Tree(nodes=NODES), Tree(nodes=[NODES[0], NODES[2], NODES[1]]))]

    def failures(self):
        return [Failed("uninformed", Tree(nodes=NODES))]


def panel(**spec) -> Case:
    """A panel, and some law of it."""
    spec = {"model": "panel"} | spec
    return discrete(a_law(np.random.default_rng(5), spec).joint, **spec)


def even_panel(now: float | None = None, **spec) -> Case:
    """A panel, and the law of it in which no record favours a value. `now` is for `others_now`."""
    law = panel_law(spec | ({} if now is None else {"others_now": now}))
    return discrete(law, model="panel", **spec)


def panel_law(spec) -> np.ndarray:
    """The law of a panel without a state whose pairs all favour equal values."""
    series, records = spec["series"], spec["series"] * spec["length"]
    factors = []
    for first, second in itertools.combinations(range(records), 2):
        steps = second // series - first // series
        own = first % series == second % series
        key = ("others_now", "own_previous" if own else "others_previous")[min(steps, 1)]
        ratio = 1.0 if steps > 1 else spec.get(key, 1.0) ** 0.5
        factors.append({"between": [first, second], "table": [[ratio, 1.0], [1.0, ratio]]})
    return chains.factor_graph(records, 2, factors)


class TestPanelContraction(TheoremConformance):
    name = "panel-contraction"
    unchanged_by = frozenset({NO_SIGN, SAME_FOR_UNINFORMED})

    def cases(self):
        return [
            even_panel(series=2, length=1, own_previous=1.0, others_previous=1.0, others_now=4.0),
            even_panel(series=1, length=4, own_previous=6.0),
            panel(series=2, length=2, own_previous=9.0, others_now=2.0, others_previous=1.5),
            panel(series=1, length=3, own_previous=2.0, shared_previous=3.0, shared_now=4.0),
        ]

    def failures(self):
        return [
            Failed(
                "others_now is left out",
                Panel(series=2, length=3, own_previous=2.0, others_previous=1.0),
            ),
            Failed(
                "shared_now is left out",
                Panel(series=1, length=3, own_previous=2.0, shared_previous=2.0),
            ),
        ]


class TestPanelBlocks(TheoremConformance):
    name = "panel-blocks"
    unchanged_by = frozenset({NO_SIGN, SAME_FOR_UNINFORMED})

    def cases(self):
        return [
            even_panel(series=2, length=1, own_previous=1.0, others_previous=1.0, now=1e8),
            even_panel(series=2, length=2, own_previous=1e8, others_previous=1.0, now=1e8),
            even_panel(series=1, length=4, own_previous=6.0),
            panel(series=2, length=2, own_previous=2.0, others_previous=1.0, shared_previous=3.0),
        ]


class TestGraphContraction(TheoremConformance):
    name = "graph-contraction"
    unchanged_by = frozenset({NO_SIGN, SAME_FOR_UNINFORMED})

    def cases(self):
        return [
            discrete(**pairs(0.4)),
            discrete(**pairs(2.0)),
            discrete(model="graph", grid=[2, 2], table=TABLE),
            discrete(model="tree", nodes=NODES),
        ]

    def renamed(self):
        return [
            (parse(pairs(0.4)), parse(turned(pairs(0.4)))),
            (Tree(nodes=NODES), Tree(nodes=[NODES[0], NODES[2], NODES[1]])),
        ]


class TestGraphFields(TheoremConformance):
    name = "graph-fields"
    unchanged_by = frozenset({SAME_FOR_UNINFORMED})
    three = ((2.0, 1.0, 0.3), (1.0, 2.0, 0.3), (0.3, 0.3, 0.2))
    triple: ClassVar[dict[str, Any]] = {
        "between": [0, 1, 2],
        "table": [[[1.0, 2.0], [2.0, 1.0]], [[0.5, 0.1], [0.2, 0.1]]],
    }

    def cases(self):
        rare = pairs(0.4)
        rare["factors"] = [*rare["factors"], {"between": [0], "table": [1.0, 0.05]}]
        return [
            discrete(**rare),
            discrete(**pairs(2.0)),
            discrete(model="graph", grid=[2, 2], table=[[9.0, 1.0], [1.0, 0.5]]),
            discrete(model="tree", nodes=NODES),
            discrete(model="graph", grid=[1, 3], table=self.three),
            discrete(model="graph", records=3, states=2, factors=[self.triple]),
        ]

    def renamed(self):
        return [
            (parse(pairs(0.4)), parse(turned(pairs(0.4)))),
            (Tree(nodes=NODES), Tree(nodes=[NODES[0], NODES[2], NODES[1]])),
        ]

    def failures(self):
        zero = [[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [1.0, 1.0, 2.0]]
        edges = [[record, record + 1] for record in range(22_500)]
        path = Graph(records=22_501, edges=edges, table=self.three)
        return [
            Failed("a grid of more than 400 records has a zero", Graph(grid=[20, 21], table=zero)),
            Failed("more than 200,000 weights", path),
        ]


class TestGraphFerromagnet(TheoremConformance):
    name = "graph-ferromagnet"
    unchanged_by = frozenset({NO_SIGN, SAME_FOR_UNINFORMED})

    def cases(self):
        return [
            discrete(model="graph", grid=[2, 2], table=TABLE),
            discrete(model="graph", grid=[1, 3], table=[[1.0, 3.0], [4.0, 1.0]]),
            discrete(model="graph", grid=[1, 2], table=[[2.0, 1.0], [1.0, 0.7]]),
        ]

    def renamed(self):
        return [
            (
                Graph(grid=[2, 3], table=[[4.0, 1.0], [2.0, 1.0]]),
                Graph(grid=[2, 3], table=[[1.0, 2.0], [1.0, 4.0]]),
            ),
        ]

    def failures(self):
        three = [[2.0, 1.0, 1.0], [1.0, 2.0, 1.0], [1.0, 1.0, 2.0]]
        return [
            Failed("two possible values", Graph(grid=[2, 2], table=three)),
            Failed("a zero", Graph(grid=[2, 2], table=[[1.0, 1.0], [1.0, 0.0]])),
            Failed("too strong", Graph(grid=[90, 90], table=[[9.0, 1.0], [1.0, 9.0]])),
        ]


class TestGraphInfluence(TheoremConformance):
    name = "graph-influence"
    unchanged_by = frozenset({NO_SIGN, SAME_FOR_UNINFORMED})

    def cases(self):
        weak = [[1.0, 1.0], [1.0, 1.001]]
        return [
            discrete(**pairs(0.4)),
            discrete(model="tree", nodes=NODES),
            discrete(model="graph", grid=[2, 2], table=weak),
        ]

    def renamed(self):
        return [(parse(pairs(0.4)), parse(turned(pairs(0.4))))]

    def failures(self):
        return [Failed("too strong", Graph(grid=[3, 3], table=[[9.0, 1.0], [1.0, 9.0]]))]


class TestFiniteLaw(TheoremConformance):
    name = "finite-law"

    def law(self):
        rng = np.random.default_rng(7)
        table = rng.gamma(1.0, size=(2, 3, 2)) * (rng.random((2, 3, 2)) < 0.8)
        return table / table.sum()

    def cases(self):
        certain = np.zeros((2, 2))
        certain[1, 0] = 1.0
        return [
            discrete(model="finite", probabilities=self.law().tolist()),
            discrete(model="finite", probabilities=certain.tolist()),
            discrete(**TRIANGLE),
            chain(STICKY, 4),
            discrete(model="tree", nodes=NODES),
        ]

    def renamed(self):
        table = self.law()
        return [
            (Finite(table.tolist()), Finite(np.transpose(table, (2, 0, 1)).tolist())),
            (Finite(table.tolist()), Finite(np.flip(table, axis=1).tolist())),
        ]

    def failures(self):
        table = np.full((2,) * 9, 2.0**-9).tolist()
        return [
            Failed("too large to search", Finite(table)),
            Failed("beyond double precision", Finite(self.law().tolist()), Cost(any=400.0)),
            Failed("--seconds", Finite(self.law().tolist()), options=(("seconds", 1e-9),)),
        ]


class AboutGaussians(TheoremConformance):
    """What all theorems about Gaussian populations have in common."""

    kind = "lipschitz"

    def hypotheses(self):
        """The failures of the theorem's own hypotheses."""
        return ()

    def failures(self):
        example = self.cases()[0].population
        column = Cost(by_column=(ColumnCost("x", 1.0, 0.5),))
        return [
            Failed('kind="any"', example),
            Failed('secrets="unbounded"', example, LIPSCHITZ, options=(("secrets", "unbounded"),)),
            Failed("x" if self.name == "gaussian-vector" else "single values", example, column),
            *self.hypotheses(),
        ]


class TestGaussianMaxCorrelation(AboutGaussians):
    name = "gaussian-max-correlation"
    unchanged_by = frozenset({NO_SIGN, SAME_FOR_UNINFORMED})

    def cases(self):
        equal = 0.2 * np.ones((3, 3)) + 0.8 * np.eye(3)
        return [
            normal(CLUSTER),
            normal(PAIR),
            normal(equal, model="gaussian", size=3, max_correlation=0.2),
        ]

    def renamed(self):
        return [(Gaussian(covariance=CLUSTER), Gaussian(covariance=permuted(CLUSTER, [2, 0, 1])))]

    def hypotheses(self):
        strong = Gaussian(size=4, max_correlation=0.6)
        precise = Gaussian(precision=np.linalg.inv(CLUSTER).tolist())
        return [
            Failed(
                "variances differ: the published bound", Gaussian(covariance=UNEQUAL), LIPSCHITZ
            ),
            Failed("not below 1/(m - 2)", strong, LIPSCHITZ),
            Failed("precision", precise, LIPSCHITZ),
        ]


class TestGaussianEqualVariances(AboutGaussians):
    name = "gaussian-equal-variances"
    unchanged_by = frozenset({NO_SIGN, SAME_FOR_UNINFORMED})

    cases = TestGaussianMaxCorrelation.cases
    renamed = TestGaussianMaxCorrelation.renamed

    def hypotheses(self):
        precise = Gaussian(precision=np.linalg.inv(CLUSTER).tolist())
        return [
            Failed("variances differ: the bound", Gaussian(covariance=UNEQUAL), LIPSCHITZ),
            Failed("precision", precise, LIPSCHITZ),
        ]


class TestGaussianRegression(AboutGaussians):
    name = "gaussian-regression"
    unchanged_by = frozenset({NO_SIGN, SAME_FOR_UNINFORMED})

    def cases(self):
        return [
            normal(cov, model="gaussian", size=len(cov), max_regression_sum=largest_sum(cov))
            for cov in (CLUSTER, UNEQUAL, SIGNED)
        ]

    def renamed(self):
        return []  # a bound names no record


def largest_sum(covariance):
    return gaussian.shift_factor(np.asarray(covariance)) - 1.0


class TestGaussianCovariance(AboutGaussians):
    name = "gaussian-covariance"
    unchanged_by = frozenset({SAME_FOR_UNINFORMED})

    def cases(self):
        precision = np.linalg.inv(CLUSTER)
        return [
            normal(CLUSTER),
            normal(UNEQUAL),
            normal(SIGNED),
            normal(CLUSTER, model="gaussian", precision=precision.tolist()),
        ]

    def renamed(self):
        return [(Gaussian(covariance=CLUSTER), Gaussian(covariance=permuted(CLUSTER, [2, 0, 1])))]

    def hypotheses(self):
        large = Gaussian(covariance=np.eye(40).tolist())
        return [
            Failed("not declared", LARGEST_ONLY, LIPSCHITZ),
            Failed("enumerated up to", large, LIPSCHITZ),
        ]


class TestGaussianWalkSummable(AboutGaussians):
    name = "gaussian-walk-summable"
    unchanged_by = frozenset({NO_SIGN, SAME_FOR_UNINFORMED})

    def cases(self):
        return [
            normal(UNEQUAL),
            *(
                normal(cov, model="gaussian", precision=np.linalg.inv(cov).tolist())
                for cov in (PAIR, CLUSTER)
            ),
        ]

    renamed = TestGaussianCovariance.renamed

    def hypotheses(self):
        return [
            Failed("not declared", LARGEST_ONLY, LIPSCHITZ),
            Failed(
                "not walk-summable",
                Gaussian(covariance=np.linalg.inv(FRUSTRATED).tolist()),
                LIPSCHITZ,
            ),
        ]


class TestGaussianVector(AboutGaussians):
    name = "gaussian-vector"
    unchanged_by = frozenset({SAME_FOR_UNINFORMED})

    def cases(self):
        return [self.of(seed, own) for seed, own in ((3, 2.0), (59, 6.0))]

    def of(self, seed, own) -> Case:
        """A random cluster of three vectors. The larger `own`, the less they depend."""
        bounds = ((-1.0, 1.0), (0.0, 4.0))
        root = np.random.default_rng(seed).normal(size=(6, 6)) + own * np.eye(6)
        covariance = root @ root.T
        spec = {"size": 3, "columns": ["height", "weight"], "bounds": bounds}
        population = Gaussian(covariance=covariance.tolist(), **spec)
        return Case(population, Normal(covariance, bounds).leaks)

    def hypotheses(self):
        spec = {"size": 11, "columns": ["height", "weight"], "bounds": [[0, 1], [0, 1]]}
        large = Gaussian(covariance=np.eye(22).tolist(), **spec)
        return [Failed("enumerated up to", large, LIPSCHITZ)]


class TestAutoregressive(AboutGaussians):
    name = "autoregressive"
    unchanged_by = frozenset({NO_SIGN, SAME_FOR_UNINFORMED})

    def cases(self):
        apart = np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
        series = {"model": "autoregressive", "length": 4}
        return [normal(phi**apart, coefficient=phi, **series) for phi in (0.6, -0.3)]

    def renamed(self):  # a change of every other sign
        return [tuple(Autoregressive(coefficient=phi, length=9) for phi in (0.5, -0.5))]


class TestFamily(TheoremConformance):
    name = "family"

    def cases(self):
        members = [chain(STICKY, 4), chain([[0.6, 0.4], [0.3, 0.7]])]

        def truth(dp_epsilon, adversary):
            return max(member.truth(dp_epsilon, adversary) for member in members)

        return [Case(Family([member.population for member in members]), truth)]

    def renamed(self):
        first, second = (case.population for case in (chain(STICKY), chain(THREE)))
        return [(Family([first, second]), Family([second, first]))]
