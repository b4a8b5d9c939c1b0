"""Random programs of every likelihood and construct: no run loses more than its claim.

The real interpreter, with the integers and scales that the samplers are given: on neighbouring
tables, at the same released values, the loss is at most what the verdict claims.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from bayesdp import kernel
from bayesdp.errors import InputError
from bayesdp.programs.certificate import program_certificate
from bayesdp.programs.check.checker import ProgramVerdict, check
from bayesdp.programs.ir import Program
from bayesdp.programs.run import load
from bayesdp.programs.run.machine.readiness import ready
from bayesdp.programs.source import ProgramError, core_of, read_text
from tests.effort import in_full, runs
from tests.programs.random_texts import BRANCHES, LIKELIHOODS, STEPS, Writer, loss
from tests.programs.run.helpers import IMPORTS

NEARLY_RIGHT = {"type", "readiness"}
"""What a text may be refused for: rows that are the same number everywhere, which tell nothing;
and scales that no sampler takes."""


def judged(text: str) -> tuple[Program, ProgramVerdict] | str:
    """The program and its verdict, or the code of its refusal."""
    try:
        core = core_of(read_text(IMPORTS + text, "test"), None, {})
    except ProgramError as error:
        return str(error.diagnostic.code)
    verdict = check(core)
    return (core, verdict) if verdict.verdict == "ACCEPTED" else str(verdict.code)


def lost(writer: Writer, body: list[str], many: int, refused: Counter[str]) -> list[Fraction]:
    """Losses over the claim, of `many` pairs of tables of the writer's program of these lines.

    `refused` counts the codes of refusals.
    """
    text = writer.text(body)
    verdict = judged(text)
    if isinstance(verdict, str):
        refused[verdict] += 1
        return []
    core, accepted = verdict
    assert kernel.check(program_certificate(core, accepted).to_dict()).verdict.startswith("VALID")
    shares = []
    for at, pair in enumerate(writer.pairs(many)):
        try:
            for rows in pair:
                ready(core, accepted, load(core, rows))
        except InputError:  # by public values alone
            refused["readiness"] += 1
            continue
        actual = loss(core, accepted, pair, at)
        assert actual <= accepted.dp_epsilon, (text, pair, float(actual))
        shares.append(actual / accepted.dp_epsilon)
    return shares


@pytest.mark.parametrize("kind", [*LIKELIHOODS, *STEPS, *BRANCHES])
def test_no_run_loses_more_than_is_claimed(kind: str) -> None:
    searched(kind, removes=False)


@pytest.mark.parametrize("kind", [*STEPS, *BRANCHES])
def test_nor_where_records_enter_or_leave(kind: str) -> None:
    searched(kind, removes=True)


def searched(kind: str, *, removes: bool) -> None:
    """Random texts of one kind: nearly all are accepted, and a claim is nearly spent by one.

    `removes` says that records enter and leave.
    """
    refused, shares, tried = Counter[str](), [], runs(60, least=3)
    for seed in range(tried):
        writer = Writer((kind, seed, removes), removes=removes)
        shares += lost(writer, writer.block(kind), 4, refused)
    assert set(refused) <= NEARLY_RIGHT, refused
    assert sum(refused.values()) <= tried / 3
    assert max(shares) > (0.9 if in_full() else 0.3)
