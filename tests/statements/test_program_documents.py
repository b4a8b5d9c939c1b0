"""Programs and their derivations as statements: what isn't exactly one is refused, and where."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from bayesdp.kernel.arithmetic import UnknownError
from bayesdp.kernel.reading import stated_derivation
from bayesdp.statements.base import NotKnownError, StatementError
from bayesdp.statements.program import Release
from bayesdp.statements.program_documents import MOST_NESTED, read_document, read_expression
from bayesdp.statements.program_steps import read_derivation
from tests.kernel.all_kinds import certificate

TRUE = ["const", [], [True]]


@pytest.fixture
def stated() -> Any:
    """The derivation of a program, as plain data."""
    return copy.deepcopy(certificate("program")["derivation"])


def test_a_derivation_is_read_once_into_nodes(stated: Any) -> None:
    read = read_derivation(stated)
    evidence = read.evidence
    (command, *_), (node, *_) = evidence.program.body, evidence.derivation.sequence
    assert isinstance(command.command(), Release)
    assert command.command().name == node.release
    plain = stated["evidence"]["derivation"]["sequence"][0]
    assert (str(node.epsilon), node.interval) == (plain["epsilon"], (150, 190))
    assert read_expression(plain["sensitivity"]["value"]) == node.sensitivity.value


def release(stated: Any) -> Any:
    return stated["evidence"]["program"]["body"][0]


def node(stated: Any) -> Any:
    return stated["evidence"]["derivation"]["sequence"][0]


WRONG: dict[str, tuple[Any, str, str]] = {
    "a key more": (lambda d: release(d).update(note=1), "body[0].note", "does not belong"),
    "a key less": (lambda d: release(d).pop("options"), "body[0].options", "missing"),
    "a node's key more": (lambda d: node(d).update(note=1), "sequence[0].note", "not belong"),
    "true for 1": (lambda d: node(d).update(epsilon=True), "sequence[0].epsilon", "not a fraction"),
    "a double": (lambda d: node(d).update(delta=0.0), "sequence[0].delta", "not a fraction"),
    "not in lowest terms": (lambda d: node(d).update(delta="0/2"), "delta", "lowest terms"),
    "an exponent": (lambda d: node(d).update(epsilon="1e9"), "epsilon", "not a fraction"),
    "another norm": (
        lambda d: node(d)["sensitivity"].update(norm="l3"), "sensitivity.norm", "'l2', 'score'",
    ),
    "an interval's end less": (
        lambda d: node(d)["interval"].pop(), "sequence[0].interval[1]", "missing",
    ),
    "1 for true": (
        lambda d: d["evidence"]["program"].update(scalar=1), "program.scalar", "true or false",
    ),
    "a hidden letter": (
        lambda d: d["evidence"]["program"].update(name="a\u202eb"), "program.name", "as it stands",
    ),
    "a hidden letter in a label": (
        lambda d: release(d)["options"].update(epsilon=["const", [], ["a\u202eb"]]),
        "options.epsilon", "as it stands",
    ),
    "a column twice": (
        lambda d: d["evidence"]["program"]["record"].append(d["evidence"]["program"]["record"][0]),
        "evidence.program", "twice",
    ),
    "n of nobody": (lambda d: d["evidence"].update(n=0), "evidence.n", "greater"),
    "true people": (
        lambda d: d["evidence"].update(n=True),
        "evidence.n",
        "a whole number, not true",
    ),
    "false for 0": (lambda d: d["conclusion"].update(delta=False), "conclusion.delta", "truth"),
    "a solver alone": (lambda d: d["evidence"].update(solvers=["z3"]), "evidence", "solvers"),
    "a premise": (lambda d: d["premises"].append({}), "premises", "an empty list"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_named_where_it_stands(stated: Any, what: str) -> None:
    change, place, reason = WRONG[what]
    change(stated)
    with pytest.raises(StatementError) as refused:
        read_derivation(stated)
    assert refused.value.place.endswith(place), refused.value.place
    assert reason in refused.value.reason, refused.value.reason


def test_operations_of_other_names_are_not_known(stated: Any) -> None:
    release(stated)["options"]["epsilon"] = ["logarithm", [TRUE], []]
    with pytest.raises(NotKnownError, match="no rule for the operation 'logarithm'"):
        read_derivation(stated)
    with pytest.raises(UnknownError, match="no rule for the operation 'logarithm'"):
        stated_derivation(stated)


def test_commands_are_nested_a_little(stated: Any) -> None:
    program, body = stated["evidence"]["program"], list[Any]()
    for depth in range(1, MOST_NESTED + 2):
        if depth == MOST_NESTED + 1:
            with pytest.raises(NotKnownError, match="nested too deeply"):
                read_document(program | {"body": body})
        else:
            read_document(program | {"body": body})
        body = [{"if": TRUE, "then": body, "else": []}]


@pytest.mark.parametrize(
    "expression", [["const", [], [1]], ["const", [], [True], []], [], None, "const"]
)
def test_anything_else_is_no_expression(expression: Any) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_expression(expression)
