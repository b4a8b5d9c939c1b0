"""Mistakes that a bound could have, made on purpose: each theorem's conformance tests catch them.

A mistake is a function of the right level: `mistake(level, population, dp_epsilon, adversary)`,
where `level` takes the last three. `None` stands for a refusal, and for a mistake that can't be
made there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bayesdp.errors import InputError
from bayesdp.notions import ADVERSARIES, Adversary
from bayesdp.populations import Population, parse

Level = Callable[[Population, float, Adversary], float | None]
Mistake = Callable[[Level, Population, float, Adversary], float | None]


# ------------------------------------------------------ populations that are taken for others


def without_last(table: Any, axes: int) -> Any:
    """A nested list without the last entry along each of its axes."""
    kept = table[:-1]
    return [without_last(row, axes - 1) for row in kept] if axes > 1 else list(kept)


def summed_over_last(table: Any) -> Any:
    """A nested list with its last axis summed over."""
    if isinstance(table[0], list | tuple):
        return [summed_over_last(row) for row in table]
    return sum(table)


def turned(table: Any) -> list[Any]:
    """A nested list with its last axis the other way round."""
    if isinstance(table[0], list | tuple):
        return [turned(row) for row in table]
    return list(table)[::-1]


def smaller(population: Population) -> Population | None:
    """The population without its last record (of a panel: member); `None` if none is left."""
    spec = population.spec()
    model = spec["model"]
    if model == "family":
        members = [smaller(parse(member)) for member in spec["members"]]
        if None in members:
            return None
        return parse(spec | {"members": [member.spec() for member in members if member]})
    if model == "network":
        spec |= {"nodes": spec["nodes"][:-1]}
    elif model == "tree":
        parents = {node.get("parent") for node in spec["nodes"]}
        leaf = next(node for node in reversed(spec["nodes"]) if node["name"] not in parents)
        spec |= {"nodes": [node for node in spec["nodes"] if node is not leaf]}
    elif model == "finite":
        spec |= {"probabilities": summed_over_last(spec["probabilities"])}
        if not isinstance(spec["probabilities"], list):
            return None
    elif "grid" in spec:
        rows, columns = spec["grid"]
        spec = {key: value for key, value in spec.items() if key != "records"}
        spec |= {"grid": [rows, columns - 1]}
    elif model == "graph":
        last = spec["records"] - 1
        factors = [factor for factor in spec["factors"] if last not in factor["between"]]
        spec |= {"records": last, "factors": factors}
    elif model == "gaussian":
        spec = _smaller_gaussian(spec)
    else:
        count = {"clusters": "size", "unknown": "records", "panel": "series"}.get(model, "length")
        if count in spec:
            spec |= {count: spec[count] - 1}
    if (
        0 in (spec.get(key) for key in ("size", "records", "length", "series"))
        or spec.get("nodes") == []
    ):
        return None
    return parse(spec)


def _smaller_gaussian(spec: dict[str, Any]) -> dict[str, Any]:
    for key in ("covariance", "precision"):
        if key in spec:
            table = spec[key]
            for _ in spec.get("columns", "x"):
                table = without_last(table, 2)
            spec |= {key: table}
    return spec | ({"size": spec["size"] - 1} if "size" in spec else {})


def with_another_sign(population: Population) -> Population | None:
    """The population with the sign of its first coupling changed, where its form has one.

    `None` where that is not a population: a matrix need not stay positive definite.
    """
    spec = population.spec()
    model = spec["model"]
    if model == "family":
        members = [with_another_sign(parse(member)) for member in spec["members"]]
        spec |= {"members": [member.spec() for member in members if member]}
    elif model == "autoregressive":
        spec |= {"coefficient": -spec["coefficient"]}
    elif model == "graph" and "factors" in spec:
        first, *others = spec["factors"]
        spec |= {"factors": [first | {"table": turned(first["table"])}, *others]}
    elif model == "graph":
        spec |= {"table": turned(spec["table"])}
    elif model == "markov" and "transition" in spec and spec.get("order", 1) == 1:
        spec |= {"transition": turned(spec["transition"])}
    for key in ("covariance", "precision"):
        if key in spec:
            table = [list(row) for row in spec[key]]
            table[0][1], table[1][0] = -table[0][1], -table[1][0]
            spec |= {key: table}
    try:
        return parse(spec)
    except InputError:
        return None


# ------------------------------------------------------ the mistakes


def of_another(change: Callable[[Population], Population | None]) -> Mistake:
    """The level is that of a changed population."""

    def mistake(level: Level, population: Population, dp_epsilon: float, who: Adversary) -> Any:
        other = change(population)
        return None if other is None else level(other, dp_epsilon, who)

    return mistake


def times(factor: float) -> Mistake:
    """The level is multiplied by a factor."""

    def mistake(level: Level, population: Population, dp_epsilon: float, who: Adversary) -> Any:
        right = level(population, dp_epsilon, who)
        return None if right is None else factor * right

    return mistake


def _subtracted(level: Level, population: Population, dp_epsilon: float, who: Adversary) -> Any:
    right = level(population, dp_epsilon, who)
    return None if right is None else 2.0 * dp_epsilon - right


WHO_GUESS: tuple[Adversary, ...] = ("any", "uninformed")
TOO_LOW: dict[str, tuple[Mistake, tuple[Adversary, ...]]] = {
    "the level times 0.99": (times(0.99), ADVERSARIES),
    "half the cost": (
        lambda level, population, eps, who: level(population, eps / 2.0, who),
        ADVERSARIES,
    ),
    "taken for informed": (
        lambda level, population, eps, who: level(population, eps, "informed"),
        WHO_GUESS,
    ),
    "taken for uninformed": (
        lambda level, population, eps, who: level(population, eps, "uninformed"),
        ("any",),
    ),
    "a smaller population": (of_another(smaller), WHO_GUESS),
    "another sign of a coupling": (of_another(with_another_sign), WHO_GUESS),
    "dependence counted with a minus": (_subtracted, WHO_GUESS),
}
"""What makes levels too low, below brute force or below the cost, and the classes that it is about.

Informed adversaries don't guess: nothing of the population is in their level.
"""

TESTED: dict[str, tuple[Mistake, Adversary]] = {
    "test_levels_grow_with_the_cost": (
        lambda level, population, eps, who: level(population, 5.0 - eps, who),
        "informed",
    ),
    "test_at_least_the_cost_where_a_record_has_two_possible_values": (times(0.5), "informed"),
    "test_nothing_spent_is_nothing_told": (
        lambda level, population, eps, who: level(population, eps + 1e-9, who),
        "informed",
    ),
    "test_somebody_who_may_know_records_learns_no_less_than_somebody_who_knows_none": (
        times(1000.0),
        "uninformed",
    ),
    "test_somebody_who_knows_all_other_records_learns_the_cost_at_most": (times(1.01), "informed"),
}
"""For each test of all theorems a mistake that this test by itself has to see, and about whom."""


def is_changed(wrong: float | None, right: float) -> bool:
    """Whether a level is another one, beyond rounding."""
    return wrong is not None and abs(wrong - right) > 1e-9 * right
