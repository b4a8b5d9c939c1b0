"""What several releases cost together, for people at a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console

from bayesdp.accounting.what_if_answer import Planned, WhatIf
from bayesdp.report.dependence import clean
from bayesdp.report.layout import item, say, show_table
from bayesdp.report.numbers import level_words
from bayesdp.report.words import at_delta, cost_words

SAME = 1e-9
"""Exact levels of channels are right up to this, claims are told apart only beyond it."""


def show_composition(console: Console, found: WhatIf) -> None:
    """Each release alone, then what is claimed, proved and true of all together, and why."""
    show_table(
        console,
        "",
        ("release", "block", "DP cost", "level alone"),
        [
            (clean(one.mechanism.name), _block(one.block), _cost(one), level_words(one.bdp))
            for one in found.releases
        ],
        ruled=False,
    )
    say(console, "")
    for line in _together(found):
        say(console, line, rest="  ")
    if found.attack:
        item(console, f"attained by {found.attack}")
    say(console, _judged(found))
    if found.rules:
        _show_rules(console, found)
    if found.price is not None:
        say(console, "")
        say(console, "Why the DP cost is what it is:")
        for line in found.price.step.lines():
            words = line.lstrip()
            item(console, words, depth=1 + (len(line) - len(words)) // 2)


def _together(found: WhatIf) -> Iterator[str]:
    """The numbers of all releases together."""
    assuming = "".join(f", {clean(one)}" for one in found.assuming)
    at = at_delta(found.delta)
    naive, sound = level_words(found.naive, SAME), level_words(found.sound)
    yield f"Naive claim (levels add up, disjoint blocks cost the largest): {naive}{at}"
    yield f"Proved level: {sound}{at} ({found.reason}){assuming}"
    if found.condition is not None:
        yield found.condition.words()
    if found.price is not None:
        cost = cost_words(found.price.dp_epsilon, found.price.rho)
        yield f"DP cost of all together: {cost}"
    if found.exact is not None:
        exact = level_words(found.exact, SAME)
        yield f"Exact leakage of these channels together: {exact}"


def _show_rules(console: Console, found: WhatIf) -> None:
    """What each rule of composing (epsilon, delta) costs proves."""
    say(console, "")
    rows = []
    for one in found.rules:
        point = one.point
        if point is None:
            rows.append((one.rule, one.missing or "does not reach this delta", "-"))
        else:
            cost = f"({level_words(point.dp_epsilon)}, {level_words(point.dp_delta)})"
            rows.append((one.rule, cost, level_words(point.bdp_epsilon)))
    header = ("rule of composition", "DP cost of all together", "level")
    show_table(console, "", header, rows, ruled=False)


def _judged(found: WhatIf) -> str:
    if found.violated:
        return "The naive claim is FALSE here: the channels leak more."
    if not found.proved:
        return "Nothing justifies the naive claim: no theorem proves it here."
    return "The naive claim holds here: the proved level is no higher."


def _cost(release: Planned) -> str:
    mechanism = release.mechanism
    if mechanism.dp_epsilon is None and mechanism.rho is None:
        return "-"
    if release.dp_delta > 0.0:
        return f"({level_words(mechanism.dp_epsilon or 0.0)}, {level_words(release.dp_delta)})"
    return cost_words(mechanism.dp_epsilon or 0.0, mechanism.rho or 0.0)


def _block(block: Mapping[str, Any] | None) -> str:
    if block is None:
        return "everything"
    if "records" in block:
        return f"records {', '.join(map(str, block['records']))}"
    if "column" in block:
        return f"{block['column']} in {', '.join(map(str, block['values']))}"
    return f"{block['private']} = {block['value']} (private)"
