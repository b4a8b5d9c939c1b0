"""A population in plain words, from its spec alone: who is related to whom.

Works on the plain data of certificates, so that no file that a spec names needs to be at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from math import sqrt
from typing import Any

from bayesdp.report.numbers import grouped

Spec = Mapping[str, Any]

MOST_NUMBERS = 9
"""A description's probabilities are shown if there are at most this many."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """The columns that say which records belong together; None where the table has no such column.

    `values` are those of the column that a description is about, `column` its name.
    """

    cluster: str | None = None
    series: str | None = None
    order: str | None = None
    column: str = ""
    values: tuple[str, ...] = ()

    @property
    def members(self) -> str:
        """What the records of a group have in common, in words."""
        return f"Records with the same '{self.cluster}'" if self.cluster else "Records of one group"

    @property
    def sequence(self) -> str:
        """The beginning of a sentence: which records form a series."""
        order = f"in the order of '{self.order}'" if self.order else "in their order"
        if self.series:
            return f"Records with the same '{self.series}', {order}, form a series"
        if self.order:
            return f"The records, {order}, form a series"
        return f"Records, {order}, form series, each"


def grouping(columns: Mapping[str, Mapping[str, Any]], covers: Sequence[str] = ()) -> Grouping:
    """The grouping that a certificate's declared columns state by their roles."""
    roles = {column.get("role"): clean(name) for name, column in columns.items()}
    states = columns.get(covers[0], {}).get("states") if len(covers) == 1 else None
    named = isinstance(states, list | tuple)
    return Grouping(
        roles.get("cluster"),
        roles.get("series"),
        roles.get("order"),
        column=clean(covers[0]) if named else "",
        values=tuple(clean(state, 20) for state in states or ()) if named else (),
    )


def sentences(spec: Spec, groups: Grouping) -> list[str]:
    """The sentences that say which records are related, and how."""
    say = _WORDS.get(str(spec.get("model")))
    if say is None:
        return [f"Records are related as a population of the model '{clean(spec.get('model'))}'."]
    return say(spec, groups)


def in_numbers(spec: Spec, groups: Grouping) -> str:
    """The probabilities of a small law, in sentences; empty for a large law, or unnamed values."""
    say = {"markov": _steps, "finite": _cells}.get(str(spec.get("model")))
    return say(spec, groups) if say is not None and groups.values else ""


def correlations(spec: Spec) -> str:
    """The correlations of a declared covariance: of each pair, or the largest of many pairs."""
    if members(spec):
        each = enumerate(map(correlations, members(spec)), start=1)
        return " ".join(f"Description {place}: {words}" for place, words in each if words)
    covariance: Any = spec.get("covariance")
    if _depth(covariance) != 2:
        return ""
    columns = [f"{clean(name)} of record " for name in spec.get("columns") or ()] or ["record "]
    records = range(1, len(covariance) // len(columns) + 1)
    numbered = [f"{column}{record}" for record in records for column in columns]
    names = [clean(name) for name in spec.get("roles") or numbered]
    pairs = [
        (f"{names[j]} and {names[i]}", value / sqrt(covariance[i][i] * covariance[j][j]))
        for i, row in enumerate(covariance)
        for j, value in enumerate(row[:i])
        if covariance[i][i] > 0.0 and covariance[j][j] > 0.0
    ]
    if not pairs:
        return ""
    if len(pairs) <= MOST_NUMBERS:
        pair_texts = (f"{pair} {_shown(value)}" for pair, value in pairs)
        return f"Declared correlations: {', '.join(pair_texts)}."
    pair, value = max(pairs, key=lambda known: abs(known[1]))
    return f"The largest declared correlation is {_shown(value)}, of {pair}."


def _shown(correlation: float) -> str:
    """With the digits that it was declared with, at most twelve."""
    return f"{correlation:.12g}"


def members(spec: Spec) -> list[Spec]:
    """The specs of a family's members; none for any other population."""
    return list(spec.get("members", ())) if spec.get("model") == "family" else []


def leaves_open(spec: Spec) -> bool:
    """Whether the spec describes several populations, any of which may be the true one."""
    return spec.get("model") == "family" or "transition_lower" in spec


def number(value: object) -> str:
    """A whole number with narrow spaces between thousands; anything else as it is."""
    if isinstance(value, int):
        return grouped(value)
    return f"{value:.12g}" if isinstance(value, float) else clean(value)


def clean(text: object, longest: int = 300) -> str:
    """Somebody else's text as one line of visible characters."""
    line = " ".join(str(text).split())
    visible = "".join(letter if letter.isprintable() else "?" for letter in line)
    return visible if len(visible) <= longest else visible[: longest - 4] + " ..."


_APART = "Records of different groups have nothing to do with each other."
_SERIES_APART = "Different series have nothing to do with each other."
_SAME_AT_EVERY_STEP = "Within a series the probabilities of what follows what don't change."


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
        *([] if in_numbers(spec, groups) else ["How likely their values are together is given."]),
        _APART,
    ]


def _cells(spec: Spec, groups: Grouping) -> str:
    table: Any = spec.get("probabilities")
    axes = _depth(table)
    if not axes or len(table) != len(groups.values) or len(table) ** axes > MOST_NUMBERS:
        return ""
    sentences = []
    for places in product(range(len(groups.values)), repeat=axes):
        cell = table
        for place in places:
            cell = cell[place]
        sentences.append(f"{'/'.join(groups.values[place] for place in places)} {_percent(cell)}")
    return f"'{groups.column}' of such records together: {', '.join(sentences)}."


def _markov(spec: Spec, groups: Grouping) -> list[str]:
    order = spec.get("order", 1)
    before = "the one right before it" if order == 1 else f"the {number(order)} right before it"
    states = len(spec.get("transition") or spec.get("transition_lower") or ())
    most = "of exactly" if spec.get("complete") is True else "of at most"
    known = "are known to lie between given limits" if "transition_lower" in spec else "are given"
    return [
        f"{groups.sequence} {most} {number(spec.get('length'))} records.",
        f"A value (one of {states}) depends on the earlier ones only through {before} "
        "(a Markov chain).",
        *([] if in_numbers(spec, groups) else [f"The probabilities of what follows what {known}."]),
        *([_SAME_AT_EVERY_STEP] if "transition_lower" in spec else []),
        _SERIES_APART,
    ]


def _steps(spec: Spec, groups: Grouping) -> str:
    low = spec.get("transition") or spec.get("transition_lower") or ()
    high, values = spec.get("transition_upper") or low, groups.values
    if _depth(low) != 2 or len(low) != len(values) or len(values) ** 2 > MOST_NUMBERS:
        return ""
    sentences = []
    for value, least, most in zip(values, low, high, strict=True):
        chances = (
            f"{after} with {_percent(a)}" + ("" if a == b else f" to {_percent(b)}")
            for after, a, b in zip(values, least, most, strict=True)
        )
        sentences.append(f"after {value} comes {', '.join(chances)}")
    return f"For '{groups.column}': {'; '.join(sentences)}."


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
    elif "max_regression_sum" in spec:
        most = number(spec.get("max_regression_sum"))
        known = (
            f"and if one of them were higher by 1, the others together would be expected higher or "
            f"lower by at most {most}, whichever of them are known"
        )
    else:
        largest = number(spec.get("max_correlation"))
        known = f"all with the same spread, and with correlations between -{largest} and {largest}"
    columns = ", ".join(clean(name) for name in spec.get("columns") or ())
    subject = f"Their values ({columns})" if columns else "Their values"
    return [
        f"{groups.members} belong together, at most {number(size)} of them.",
        f"{subject} vary together like correlated bell curves (they are jointly normal), {known}.",
        _APART,
    ]


def _autoregressive(spec: Spec, groups: Grouping) -> list[str]:
    return [
        f"{groups.sequence} of at most {number(spec.get('length'))} records.",
        "Values vary like correlated bell curves (they are jointly normal): neighbours have the "
        f"correlation {number(spec.get('coefficient'))}, and records further apart less.",
        _SERIES_APART,
    ]


def _panel(spec: Spec, groups: Grouping) -> list[str]:
    whose = f"the same '{groups.series}'" if groups.series else "the same member"
    paragraphs = [
        f"{groups.members} belong together: at most {number(spec.get('series'))} members over at "
        f"most {number(spec.get('length'))} steps.",
        f"The odds of any two values of a record change {_change(spec, 'own_previous')} with the "
        f"record of {whose} one step before or after, {_change(spec, 'others_previous')} with "
        f"another member's record then, and {_change(spec, 'others_now')} with another "
        "member's record at the same step.",
    ]
    if spec.get("shared_previous") is not None:
        paragraphs.append(
            "Members of a group also share a state that nobody records. With it the odds of their "
            f"records change {_change(spec, 'shared_now')}, and those of its next value "
            f"{_change(spec, 'shared_previous')}."
        )
    return [*paragraphs, _APART]


def _change(spec: Spec, key: str) -> str:
    """By how much odds change, by a declared odds ratio."""
    ratio = spec.get(key)
    if ratio is None:
        return "in any way"
    return "not at all" if ratio == 1 else f"at most {number(float(ratio))}-fold"


def _family(spec: Spec, groups: Grouping) -> list[str]:
    return [f"There are {len(members(spec))} descriptions of how records are related."]


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
    "panel": _panel,
    "family": _family,
}


def _axes(table: object) -> str:
    return number(_depth(table)) if _depth(table) else "a few"


def _depth(table: object) -> int:
    depth = 0
    while isinstance(table, list | tuple) and table:
        table, depth = table[0], depth + 1
    return depth


def _percent(probability: object) -> str:
    """A declared probability, with "about" where more than two decimals are declared."""
    exact = Decimal(str(probability)) * 100
    rounded = round(exact, 2)
    return ("" if rounded == exact else "about ") + f"{rounded.normalize():f} %"
