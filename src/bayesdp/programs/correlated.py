"""What a checked program's cost means where records depend on each other (theory 2.1, 3.10)."""

from __future__ import annotations

from fractions import Fraction

from bayesdp.errors import InputError, Refusal
from bayesdp.kernel import program_slack
from bayesdp.notions import Adversary, ApproxDP, Cost, Kind, Secrets
from bayesdp.numbers import UpperBound, float_above
from bayesdp.populations import Population
from bayesdp.programs.verdict import ProgramVerdict
from bayesdp.theorems import (
    ApproximateReport,
    LeakageReport,
    Question,
    approximate,
    report,
    require_question,
)


def leakage_of(
    verdict: ProgramVerdict,
    adjacency: str,
    population: Population,
    adversary: Adversary,
    kind: Kind,
    secrets: Secrets,
    seconds: float,
) -> LeakageReport | ApproximateReport:
    """The levels of a program with this verdict. See `ProgramSource.leakage`.

    Raises `Refusal` for a program that isn't accepted, or has a delta under add-remove, and
    `InputError` for a kind that the program doesn't have.
    """
    if verdict.verdict != "ACCEPTED":
        raise Refusal(
            f"Only an accepted program has a level, and this one is {verdict.verdict}. Its check() "
            "says why."
        )
    if kind == "lipschitz" and verdict.kind != "lipschitz":
        raise InputError(
            "kind",
            kind,
            expected="'any': not every release is noise on one clipped sum",
            remedy="Leave kind out.",
        )
    steps = 2 if adjacency == "add-remove" else 1
    cost = float_above(steps * verdict.dp_epsilon)
    if verdict.dp_delta == 0:
        require_question(cost, adversary, kind, secrets)
        return report(
            Question(population, adversary, secrets, seconds), _spent(cost, kind, verdict)
        )
    if steps == 2:
        raise Refusal(
            "Programs with a delta have a level under replace-one only. Leave out adjacency=, or "
            "use releases without a delta."
        )
    question = Question(population, adversary, secrets, seconds)
    return approximate(question, ApproxDP(cost, float_above(verdict.dp_delta)))


def _spent(cost: UpperBound, kind: Kind, verdict: ProgramVerdict) -> Cost:
    """The cost with what the interpreter's grid adds for each other record that moves."""
    if kind == "any" or verdict.interval is None:
        return Cost(any=cost)
    steps = float_above(Fraction(cost) * program_slack(verdict.interval))
    return Cost(lipschitz=cost, slack=steps)
