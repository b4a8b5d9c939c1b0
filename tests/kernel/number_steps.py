"""Steps of honest numbers: by each theorem, about populations of random numbers.

Of each of them the kernel is asked for its level, which hardly any other constant, comparison or
sum in a rule gives too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from bayesdp.notions import Cost
from tests.kernel import honest
from tests.kernel.all_kinds import POPULATIONS
from tests.kernel.battery import HARDLY, MORE, _conversions
from tests.kernel.leaves import put
from tests.kernel.step_stories import OTHERS
from tests.kernel.steps import make_step

Document = dict[str, Any]
SEED, EACH = 1805, 3
MOST = 60
"""So many steps by one theorem are enough."""


TARGETS = (0.5, 0.9, 0.99, 0.9999, 1.01)
"""What a witness is multiplied by that says no more than the level itself."""
OF_TARGETS = ("markov-intervals", "markov-contexts")
RATIO_2 = [[2.0, 1.0], [1.0, 1.0]]
"""A table whose cross ratio is 2."""
PATH: Document = {
    "model": "graph", "records": 4, "states": 2,
    "factors": [{"between": [i, i + 1], "table": RATIO_2} for i in range(3)],
}  # fmt: skip
NEARLY_SYMMETRIC: Document = {
    "model": "gaussian", "covariance": [[1.0, 0.3], [0.3 + 1e-13, 1.0]],
}  # fmt: skip
UNEVEN: Document = {
    "model": "markov", "transition_lower": [[0.89, 0.09], [0.59, 0.39]],
    "transition_upper": [[0.91, 0.11], [0.61, 0.41]], "length": 1000,
}  # fmt: skip
"""Chains that leave one state much sooner than the other."""
MORE_SPECS = (PATH, UNEVEN)


def documents() -> Iterator[Document]:
    """A step for each population, each theorem about it and each adversary; targets are varied."""
    # A target that only longer runs exceed: what closes them decides. It is the first, as of those
    # that are refused alike few are kept.
    yield make_step("markov-intervals", UNEVEN, Cost(any=1.0), details={"target": 2.418})
    for step in _honest():
        yield step
        if step["rule"] in OF_TARGETS and "target" in step["evidence"]["details"]:
            place = ("evidence", "details", "target")
            for factor in TARGETS:
                yield put(step, place, step["evidence"]["details"]["target"] * factor)
        if step["rule"] == "graph-contraction" and step["evidence"]["details"].get("messages"):
            place = ("evidence", "details", "messages")
            messages = step["evidence"]["details"]["messages"]
            for factor in (0.5, HARDLY):
                yield put(step, place, [message * factor for message in messages])
    for rule in ("gaussian-covariance", "gaussian-equal-variances"):
        yield make_step(rule, NEARLY_SYMMETRIC, Cost(lipschitz=0.5))


def _honest() -> Iterator[Document]:
    rng = np.random.default_rng(SEED)
    specs = [*MORE_SPECS, *POPULATIONS.values(), *OTHERS.values()]
    specs += [make(rng) for make in MORE for _ in range(EACH)]
    by_rule: Counter[str] = Counter()
    for spec in specs:
        try:
            for made in _conversions(rng, spec):
                step = honest.conversion(made.document)
                by_rule[step["rule"]] += 1
                if by_rule[step["rule"]] <= MOST:
                    yield step
        except (ValueError, LookupError):
            continue  # one of the stories that states nothing
