"""A population in plain words, from its spec alone: who is related to whom.

Works on the plain data of certificates, so that no file that a spec names needs to be at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Spec = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Grouping:
    """How a table says which records belong together: names of columns, where it has any."""

    cluster: str | None = None
    series: str | None = None
    order: str | None = None

    @property
    def members(self) -> str:
        """The records of one group."""
        return f"Records with the same '{self.cluster}'" if self.cluster else "Records of one group"

    @property
    def sequence(self) -> str:
        """That records form series, up to how long these are."""
        order = f"in the order of '{self.order}'" if self.order else "in their order"
        if self.series:
            return f"Records with the same '{self.series}', {order}, form a series"
        if self.order:
            return f"The records, {order}, form a series"
        return f"Records, {order}, form series, each"


def grouping(columns: Mapping[str, Mapping[str, Any]]) -> Grouping:
    """The columns with a role, from the declared columns of a certificate."""
    roles = {column.get("role"): clean(name) for name, column in columns.items()}
    return Grouping(roles.get("cluster"), roles.get("series"), roles.get("order"))


def sentences(spec: Spec, groups: Grouping) -> list[str]:
    """Who is related to whom, one sentence after the other."""
    say = _WORDS.get(str(spec.get("model")))
    if say is None:
        return [f"Records are related as a population of the model '{clean(spec.get('model'))}'."]
    return say(spec, groups)


def members(spec: Spec) -> list[Spec]:
    """The descriptions of a family; none for any other population."""
    return list(spec.get("members", ())) if spec.get("model") == "family" else []


def leaves_open(spec: Spec) -> bool:
    """Whether the population is several, of which any may be the right one."""
    return spec.get("model") == "family" or "transition_lower" in spec


def number(value: object) -> str:
    """A whole number with spaces between thousands; anything else as it is."""
    if isinstance(value, int):
        return f"{value:,}".replace(",", " ")
    return f"{value:.12g}" if isinstance(value, float) else clean(value)


def clean(text: object, longest: int = 300) -> str:
    """Somebody else's text as one line of visible characters."""
    line = " ".join(str(text).split())
    visible = "".join(letter if letter.isprintable() else "?" for letter in line)
    return visible if len(visible) <= longest else visible[: longest - 4] + " ..."


_APART = "Records of different groups have nothing to do with each other."
_SERIES_APART = "Different series have nothing to do with each other."


def _independent(spec: Spec, groups: Grouping) -> list[str]:
    return ["Records have nothing to do with each other: none says anything about another."]


def _clusters(spec: Spec, groups: Grouping) -> list[str]:
    return [
        f"{groups.members} belong together, at most {number(spec.get('size'))} of them.",
        "Inside such a group they may be related in any way, however closely.",
        _APART,
    ]


def _unknown(spec: Spec, groups: Grouping) -> list[str]:
    return [f"Any of the {number(spec.get('records'))} records may be related to any other."]


def _finite(spec: Spec, groups: Grouping) -> list[str]:
    return [
        f"{groups.members} belong together, at most {_axes(spec.get('probabilities'))} of them.",
        "How their values go together is given by a table of probabilities.",
        _APART,
    ]


def _markov(spec: Spec, groups: Grouping) -> list[str]:
    order = spec.get("order", 1)
    before = "the one right before it" if order == 1 else f"the {number(order)} right before it"
    states = len(spec.get("transition") or spec.get("transition_lower") or ())
    most = "of exactly" if spec.get("complete") is True else "of at most"
    known = (
        "are known to lie between given limits"
        if "transition_lower" in spec
        else "are given numbers"
    )
    return [
        f"{groups.sequence} {most} {number(spec.get('length'))} records.",
        f"A value (one of {states}) depends on the earlier ones only through {before} "
        "(a Markov chain).",
        f"The probabilities of what follows what {known}.",
        _SERIES_APART,
    ]


def _tree(spec: Spec, groups: Grouping) -> list[str]:
    return _declared(len(spec.get("nodes", ())), "a tree, such as a family tree")


def _network(spec: Spec, groups: Grouping) -> list[str]:
    return _declared(len(spec.get("nodes", ())) or None, "a network of causes (a Bayesian network)")


def _graph(spec: Spec, groups: Grouping) -> list[str]:
    if isinstance(spec.get("grid"), list | tuple):
        rows, columns = spec["grid"]
        return _declared(rows * columns, f"a grid of {number(rows)} by {number(columns)}")
    return _declared(spec.get("records"), "a network of neighbours")


def _declared(records: object, form: str) -> list[str]:
    count = "The" if records is None else f"The {number(records)}"
    return [
        f"{count} records form {form}.",
        "Each is related to its neighbours there with given strengths, and to all others only "
        "through them.",
    ]


def _gaussian(spec: Spec, groups: Grouping) -> list[str]:
    if "precision" in spec:
        return [
            "The records of the whole table vary together like correlated bell curves (they are "
            "jointly normal), with given correlations.",
        ]
    size = spec.get("size") or len(spec.get("covariance", ()))
    if "covariance" in spec:
        known = "with given spreads and correlations"
    else:
        largest = number(spec.get("max_correlation"))
        known = f"all with the same spread, and with correlations between -{largest} and {largest}"
    columns = ", ".join(clean(name) for name in spec.get("columns") or ())
    what = f"Their values ({columns})" if columns else "Their values"
    return [
        f"{groups.members} belong together, at most {number(size)} of them.",
        f"{what} vary together like correlated bell curves (they are jointly normal), {known}.",
        _APART,
    ]


def _autoregressive(spec: Spec, groups: Grouping) -> list[str]:
    return [
        f"{groups.sequence} of at most {number(spec.get('length'))} records.",
        "Values vary like correlated bell curves (they are jointly normal): neighbours have the "
        f"correlation {number(spec.get('coefficient'))}, and records further apart less.",
        _SERIES_APART,
    ]


def _family(spec: Spec, groups: Grouping) -> list[str]:
    return [f"One of {len(members(spec))} descriptions holds, and nobody needs to say which."]


_WORDS: dict[str, Callable[[Spec, Grouping], list[str]]] = {
    "independent": _independent,
    "clusters": _clusters,
    "unknown": _unknown,
    "finite": _finite,
    "markov": _markov,
    "tree": _tree,
    "network": _network,
    "graph": _graph,
    "gaussian": _gaussian,
    "autoregressive": _autoregressive,
    "family": _family,
}


def _axes(table: object) -> str:
    depth = 0
    while isinstance(table, list | tuple) and table:
        table, depth = table[0], depth + 1
    return number(depth) if depth else "a few"
