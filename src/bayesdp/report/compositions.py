"""What several releases cost together, for people at a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console

from bayesdp.accounting.what_if import StatedRelease, WhatIf
from bayesdp.notions import ZCDP, ApproxDP, PureDP
from bayesdp.report.dependence import clean
from bayesdp.report.layout import item, say, show_table
from bayesdp.report.numbers import level_words
from bayesdp.report.words import at_delta, cost_words

SAME = 1e-9
"""How far off a computed level of channels may be; smaller differences of claims don't count."""


def show_composition(console: Console, answer: WhatIf) -> None:
    """Each release alone, then what is claimed, proved and true of all together, and why."""
    show_table(
        console,
        "",
        ("release", "block", "DP cost", "level alone"),
        [
            (
                clean(planned.release.name),
                "everything" if planned.release.block is None else planned.release.block.words(),
                _cost(planned.release),
                level_words(planned.bdp),
            )
            for planned in answer.releases
        ],
        ruled=False,
    )
    say(console, "")
    for line in _together(answer):
        say(console, line, rest="  ")
    if answer.attack:
        item(console, f"attained by {answer.attack}")
    say(console, _judged(answer))
    if answer.rules:
        _show_rules(console, answer)
    if answer.price is not None:
        say(console, "")
        say(console, "Why the DP cost is what it is:")
        for line in answer.price.step.lines():
            words = line.lstrip()
            item(console, words, depth=1 + (len(line) - len(words)) // 2)


def _together(answer: WhatIf) -> Iterator[str]:
    """The numbers of all releases together."""
    assuming = "".join(f", {clean(assumption)}" for assumption in answer.assuming)
    at = at_delta(answer.delta)
    naive, sound = level_words(answer.naive, SAME), level_words(answer.sound)
    yield f"Naive claim (levels add up, disjoint blocks cost the largest): {naive}{at}"
    yield f"Proved level: {sound}{at} ({answer.reason}){assuming}"
    if answer.condition is not None:
        yield answer.condition.words()
    if answer.price is not None:
        cost = cost_words(answer.price.dp_epsilon, answer.price.rho)
        yield f"DP cost of all together: {cost}"
    if answer.exact is not None:
        exact = level_words(answer.exact, SAME)
        yield f"Exact leakage of these channels together: {exact}"


def _show_rules(console: Console, answer: WhatIf) -> None:
    """What each rule of composing (epsilon, delta) costs proves."""
    say(console, "")
    rows = []
    for bound in answer.rules:
        point = bound.point
        if point is None:
            rows.append((bound.rule, bound.missing or "does not reach this delta", "-"))
        else:
            cost = f"({level_words(point.dp_epsilon)}, {level_words(point.dp_delta)})"
            rows.append((bound.rule, cost, level_words(point.bdp_epsilon)))
    header = ("rule of composition", "DP cost of all together", "level")
    show_table(console, "", header, rows, ruled=False)


def _judged(answer: WhatIf) -> str:
    if answer.violated:
        return "The naive claim is FALSE here: the channels leak more."
    if not answer.proved:
        return "Nothing justifies the naive claim: no theorem proves it here."
    return "The naive claim holds here: the proved level is no higher."


def _cost(release: StatedRelease) -> str:
    match release.cost:
        case None:
            return "-"
        case ZCDP(rho):
            return cost_words(0.0, rho)
        case ApproxDP(epsilon, delta) if delta > 0.0:
            return f"({level_words(epsilon)}, {level_words(delta)})"
        case PureDP(epsilon) | ApproxDP(epsilon):
            return cost_words(epsilon, 0.0)
