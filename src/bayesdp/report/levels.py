"""Levels of DP costs and costs of levels, for people at a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from bayesdp.calibration import GaussianCalibration
from bayesdp.leakage.channel import ChannelLeakage, record_namer
from bayesdp.notions import ADVERSARY_MEANING, ROUNDING_IN_WORDS, Calibration
from bayesdp.report.beliefs import factor_words, odds_factor
from bayesdp.report.layout import bullet, noted, say, show_table
from bayesdp.report.numbers import budget_words, level_words, rough
from bayesdp.report.words import at_delta, cost_words, delta_sentence
from bayesdp.theorems import REGISTRY, ApproximateReport, Bound, LeakageReport, Refused
from bayesdp.theorems.advice import Advice


def show_leakage(
    console: Console, report: LeakageReport, offers: Sequence[Advice] = (), hint: str = ""
) -> None:
    """Print the table of theorems: what each proves, knows and ignores, and why some don't apply.

    `offers` are shown below it: what more knowledge would buy. `hint` says what to do about tables
    that hold zeros.
    """
    rows = [
        (
            bound.theorem,
            level_words(bound.epsilon),
            noted(_note(bound, report, best=position == 0), _knows(bound)),
        )
        for position, bound in enumerate(best_by_theorem(report))
    ]
    at = at_delta(report.delta)
    show_table(
        console,
        f"What a DP cost of {_cost(report)} means here{',' if at else ''}{at}",
        ("theorem", "BDP level", "what it says and knows"),
        [*rows, *_not_applied(report)],
    )
    say(console, _in_odds(report))
    if hint:
        say(console, hint)
    say(
        console,
        f"Levels are against adversaries of class '{report.adversary}' "
        f"({ADVERSARY_MEANING[report.adversary]}): {ROUNDING_IN_WORDS}. {_other_classes(report)}",
        style="dim",
    )
    if offers:
        say(console, "What more knowledge would buy, at the same level:")
    for offer in offers:
        bullet(console, offer.words())


def _not_applied(report: LeakageReport) -> list[tuple[str, str, str]]:
    """A row for each reason why theorems don't apply."""
    names: dict[str, list[str]] = {}
    for refusal in report.refused:
        names.setdefault(refusal.reason, []).append(refusal.theorem)
    return [
        (", ".join(same_reason), "doesn't apply", reason) for reason, same_reason in names.items()
    ]


def _other_classes(report: LeakageReport) -> str:
    """What the classes know that were not asked about."""
    others = (f"'{name}' ({known})" for name, known in ADVERSARY_MEANING.items())
    requested = f"'{report.adversary}' "
    return (
        f"Other classes: {', '.join(other for other in others if not other.startswith(requested))}."
    )


def best_by_theorem(report: LeakageReport) -> list[Bound]:
    """Each theorem's lowest bound: at a delta a theorem may have several."""
    best: dict[str, Bound] = {}
    for bound in report.bounds:
        best.setdefault(bound.theorem, bound)
    return list(best.values())


def _cost(report: LeakageReport) -> str:
    return cost_words(report.cost.dp_epsilon, report.cost.rho)


def _note(bound: Bound, report: LeakageReport, *, best: bool) -> str:
    """The kind of a bound, and whether it counts."""
    exact = bound.tight == "exact"
    note = "exact: some mechanism of this cost leaks it" if exact else "upper bound"
    if report.delta > 0.0:
        note += at_delta(report.delta) if bound.delta > 0.0 else " without delta"
    if best:
        note += "; the lowest, so this one counts"
    extra = bound.evidence.get("note")
    return note + (f"; {extra}" if extra else "")


def _knows(bound: Bound) -> str:
    """What a theorem knows, and what it ignores if that may cost something."""
    theorem = next(theorem for theorem in REGISTRY if theorem.name == bound.theorem)
    left = "" if bound.tight == "exact" else f"; leaves out {theorem.ignores}"
    return f"uses {theorem.uses}{left}"


def level_sentence(report: LeakageReport, *, in_odds: bool = True, verbose: bool = False) -> str:
    """Which theorem proves the level, and what the level promises in odds.

    With `verbose` all theorems that were asked are shown below, so it names no option for that.
    """
    count = len(best_by_theorem(report)) + len(report.refused)
    where_to_look = "all are shown below" if verbose else "--verbose shows them"
    others = f" (of {count} asked; {where_to_look})" if count > 1 else ""
    sentence = f"The level is by the theorem {report.best.theorem}{others}."
    return f"{sentence} {_in_odds(report)}" if in_odds else sentence


def _in_odds(report: LeakageReport) -> str:
    """What the best level promises, in odds, and what it rests on."""
    level, cost = report.best.epsilon, _cost(report)
    rests = "If the declared population is right"
    if report.best.delta > 0.0:
        return f"{rests}: {delta_sentence(level, report.delta)}"
    if level > 700.0:
        return f"{rests}, a DP cost of {cost} promises practically nothing."
    level_text = level_words(level)
    return (
        f"{rests}, a DP cost of {cost} protects a record as well as a DP cost of {level_text} "
        "would if records were independent: seeing the results changes the odds between two "
        f"possible values of one record by a factor of at most e^{level_text} = "
        f"{factor_words(odds_factor(level))}."
    )


def show_exact(console: Console, exact: ChannelLeakage) -> None:
    """Print what a given mechanism leaks: the exact number, not a bound."""
    error = exact.tensor.error
    rows = [("DP", level_words(exact.tensor.dp, error))]
    for adversary, level in exact.tensor.levels.items():
        mark = " (asked for)" if adversary == exact.adversary else ""
        rows.append((f"BDP, adversary '{adversary}'{mark}", level_words(level.bdp, error)))
    show_table(console, "What this mechanism leaks, exactly", ("notion", "level"), rows)
    name = record_namer(exact.population)
    by_record = (f"{name(i)} {level_words(v, error)}" for i, v in enumerate(exact.level.by_record))
    say(console, f"By record: {', '.join(by_record)}.")
    if exact.words():
        say(console, f"Most is told by {exact.words()}.")


def show_approximate(console: Console, report: ApproximateReport) -> None:
    """Print the table of theorems with a delta."""
    show_table(
        console,
        f"What ({level_words(report.dp_epsilon)}, {level_words(report.dp_delta)})-DP means here",
        ("theorem", "epsilon", "delta"),
        [
            *((b.theorem, level_words(b.epsilon), level_words(b.delta)) for b in report.bounds),
            *((refusal.theorem, "refused", refusal.reason) for refusal in report.refused),
        ],
    )


def show_gaussian(console: Console, noise: GaussianCalibration) -> None:
    """Print the discrete Gaussian noise for an (epsilon, delta) target."""
    show_pairs(
        console,
        "Discrete Gaussian noise for the target",
        ("target", f"({budget_words(noise.target)}, {budget_words(noise.target_delta)})"),
        # More noise is more private: who takes over this number must not have less.
        (f"sigma, at sensitivity {noise.sensitivity}", level_words(noise.sigma)),
        ("point of its DP curve", _point(noise.dp_epsilon, noise.dp_delta)),
        ("certified level", _point(noise.certified_epsilon, noise.certified_delta)),
        ("times the noise for independent records", rough(noise.noise_multiplier)),
        ("by the theorem", noise.theorem),
    )
    show_left_out(console, noise.refused)


def show_calibration(console: Console, calibration: Calibration) -> None:
    """Print the DP budget for a target."""
    show_pairs(
        console,
        "DP budget for the target",
        ("BDP target", budget_words(calibration.target)),
        ("DP budget (dp_epsilon)", budget_words(calibration.dp_epsilon, 10)),
        ("noise multiplier (target / DP budget)", rough(calibration.noise_multiplier)),
        ("certified level of that budget", level_words(calibration.certified_epsilon)),
        ("by the theorem", calibration.theorem),
    )
    show_left_out(console, calibration.refused)


def show_left_out(console: Console, refused: Sequence[Refused]) -> None:
    """Print the theorems that were left out for time: with more of it there may be less noise."""
    if refused:
        say(console, "Left out for time; with more of it there may be less noise:")
    for refusal in refused:
        bullet(console, f"{refusal.theorem}: {refusal.reason}")


def show_pairs(console: Console, title: str, *rows: tuple[str, str]) -> None:
    """Print a table of names and values, without names of columns."""
    show_table(console, title, ("", ""), rows, headed=False)


def _point(epsilon: float, delta: float) -> str:
    return f"({level_words(epsilon)}, {level_words(delta)})"
