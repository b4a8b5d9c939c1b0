"""The kernel's own derivation of programs: against the checker, brute force, and lies."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayesdp import kernel
from bayesdp.kernel.programs import distances, noise
from bayesdp.kernel.programs.document import derive
from bayesdp.kernel.programs.effort import Effort
from bayesdp.kernel.programs.obligations import read_text
from bayesdp.kernel.programs.ranges import AdjacencyContext, Range, admitted, folded
from bayesdp.kernel.programs.reading import Node, const, read_program
from bayesdp.kernel.programs.sensitivities import RulesAllowed, sensitivity_of
from bayesdp.kernel.programs.sizes import holds_for_all_sizes, value
from bayesdp.kernel.reading import stated_derivation
from bayesdp.programs.certificate import derivation_of, program_certificate
from bayesdp.programs.check.checker import check
from bayesdp.programs.ir import Program, plain
from bayesdp.programs.source import core_of
from bayesdp.programs.source import read_text as read_program_text
from bayesdp.statements.program_documents import read_expression
from tests.effort import runs
from tests.golden.corpus import ACCEPTED
from tests.kernel.program_lies import LIES, claimed, lied, node_at, release_of, stated
from tests.kernel.program_texts import FOLDED, HEAD, TEXTS
from tests.kernel.programs import (
    True_,
    losses,
    neighbours,
    random_program,
    searching_program,
    witnesses,
)

SHARED = Path(__file__).parents[3] / "shared" / "programs"
SOURCES = {
    **{example.name: example.text for example in ACCEPTED},
    **{path.stem: path.read_text(encoding="utf-8") for path in sorted(SHARED.glob("*.py"))},
}


def programs_in(text: str) -> list[Program]:
    source = read_program_text(text)
    return [core_of(source, name, {}) for name in source.programs]


# -- agreement ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SOURCES)
def test_accepted_programs_have_certificates_that_verify(name: str) -> None:
    for program in programs_in(SOURCES[name]):
        verdict = check(program)
        assert verdict.verdict == "ACCEPTED", verdict.reason
        document = json.loads(program_certificate(program, verdict).to_json())
        said = kernel.check(document)
        assert said.verdict == "VALID ASSUMING", (said.step, said.reason)
        assert list(said.assuming) == document["assumptions"]
        derived = derive(stated_derivation(document["derivation"]))
        assert derived.cost == (verdict.dp_epsilon, verdict.dp_delta)
        assert derived.kind[0] == verdict.kind


@pytest.mark.prove
@pytest.mark.parametrize("make", [random_program, searching_program])
def test_random_programs(make: Any) -> None:
    """Accepted by the checker: then by the kernel, and true on small databases."""
    rng = np.random.default_rng(61)
    accepted = 0
    for _ in range(runs(1500)):
        program = make(rng)
        verdict = check(program)
        if verdict.verdict != "ACCEPTED":
            continue
        accepted += 1
        step = json.loads(json.dumps(derivation_of(program, verdict).to_dict()))
        derived = derive(stated_derivation(step))
        assert derived.cost <= (verdict.dp_epsilon, verdict.dp_delta)
        if accepted % 5 == 0:
            brute_force(program, step, derived.cost[0], rng)
    assert accepted > runs(1500) / 4


def brute_force(program: Program, step: dict[str, Any], cost: Fraction, rng: Any) -> None:
    """No pair of neighbours moves a value further, or is told apart better, than derived."""
    read = read_program(json.loads(json.dumps(plain(program))))
    context = AdjacencyContext(read, admitted(read.requires), read.adjacency)
    by_name = {release.name: release for release in _releases(read.body)}
    known: dict[str, Node] = {}

    def allowed(node: dict[str, Any], n: int) -> Fraction:
        """The kernel's own bound, at n records."""
        release = by_name[node["release"]]
        if node["release"] not in known:
            if node["sensitivity"]["norm"] == "score":
                # Bound variables have their own context: the stated value is at least the kernel's.
                known[node["release"]] = read_expression(node["sensitivity"]["value"])
            else:
                norm = node["sensitivity"]["norm"]
                known[node["release"]] = sensitivity_of(
                    release.args[0], norm, context, RulesAllowed(_no_folds)
                ).value
        return value(known[node["release"]], n)

    tree = step["evidence"]["derivation"]
    for item, other in neighbours(program, rng):
        if len(item) < context.size.low:
            continue
        pair = True_(program, item), True_(program, other)
        assert losses(program.body, tree, pair, allowed) <= cost, (program, item, other)


def _no_folds(_: Node) -> Fraction:
    raise AssertionError


def _releases(commands: Any) -> list[Any]:
    actual = []
    for command in commands:
        if hasattr(command, "op"):
            actual.append(command)
        elif hasattr(command, "sides"):
            actual += [release for side in command.sides for release in _releases(side)]
        elif hasattr(command, "parts"):
            actual += [release for _, part in command.parts for release in _releases(part)]
    return actual


# -- lies ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def honest() -> dict[str, dict[str, Any]]:
    """Certificates of the programs above."""
    made = {}
    for name, text in TEXTS.items():
        program = core_of(read_program_text(HEAD + text, name), None, {})
        verdict = check(program)
        assert verdict.verdict == "ACCEPTED", (name, verdict.reason)
        made[name] = json.loads(program_certificate(program, verdict).to_json())
    return made


def test_honest(honest: dict[str, dict[str, Any]]) -> None:
    for name, document in honest.items():
        said = kernel.check(document)
        assert said.verdict == "VALID ASSUMING", (name, said)


@pytest.mark.parametrize("name", LIES)
def test_lies(name: str, honest: dict[str, dict[str, Any]]) -> None:
    story, change = LIES[name]
    document = lied(honest[story], change)
    assert document != honest[story]
    said = kernel.check(document)
    assert said.verdict in ("INVALID", "UNKNOWN"), name
    assert said.step != "digest" or name in ("deep", "very deep"), said


def test_many_lies() -> None:
    assert len(LIES) >= 100


def test_weaker_claims_are_valid(honest: dict[str, dict[str, Any]]) -> None:
    """More may be stated than is derived: a larger sensitivity makes more noise."""
    for change in (
        lambda d: claimed(d, epsilon="9/2"),
        lambda d: stated(d, "laplace_3", "11"),
        lambda d: node_at(d, "laplace_1").update(entering=None),
        lambda d: release_of(d, 3)["options"].update(sigma=["const", [], [{"number": "5"}]]),
    ):
        said = kernel.check(lied(honest["sums"], change))
        assert said.verdict == "VALID ASSUMING", said


# -- the parts -----------------------------------------------------------------------------------


def test_distances() -> None:
    """The reference numbers of the design."""
    half, item = Fraction(1, 2), Fraction(1)
    expected = [
        (distances.replaced_of(item, item, 1), 0.463251375),
        (distances.replaced_of(item, item, 2), 0.408607),
        (distances.replaced_of(item, item, 100), 0.338940),
        (distances.replaced_of(half, half, 1), 0.602810),
        (distances.of_labels([item, item, item], True), 0.463251),
        (distances.of_labels([item, item], False), 0.337303),
        (distances.of_counts(item, item), 0.337303),
        (distances.of_counts(Fraction(2), item), 0.244978),
        (distances.of_counts(Fraction(2), Fraction(8)), 0.894872),
        (distances.of_means(item, item, item, 1), 0.246144),
        (distances.of_means(item, item, item, 9), 0.111455),
        (distances.of_means(item, item, item, 99), 0.035344),
    ]
    for actual, due in expected:
        assert float(actual.mid()) == pytest.approx(due, abs=1e-6)
    assert distances.of_counts(item, Fraction(0)) >= 0


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
def test_moments(d: int) -> None:
    """The bounds are reached at corners, and no row in the cube goes beyond them (theory 8.3)."""
    box = {"kind": "real", "low": {"number": "-1"}, "high": {"number": "1"}, "labels": []}
    record = [[f"x{i}", box | {"public": False}] for i in range(d)]
    fields = [["field", [], [f"x{i}"]] for i in range(d)]
    moments = ["moments", [["tuple", fields, []]], []]
    total = ["sum", [["data", [["const", [], [True]], moments], [[]]]], []]
    context = AdjacencyContext(read_program(bare_program(record)), admitted(()), "replace-one")
    node, means = read_expression(total), RulesAllowed(_no_folds)
    rng = np.random.default_rng(d)
    corners = np.array(np.meshgrid(*[[-1.0, 0.0, 1.0]] * d)).reshape(d, -1).T
    rows = np.concatenate([corners, rng.uniform(-1, 1, (200, d))])
    upper = np.triu_indices(d)
    values = np.stack([np.outer(row, row)[upper] for row in rows])
    gaps = np.abs(values[:, None, :] - values[None, :, :])
    for norm, true in (("l1", gaps.sum(-1)), ("l2", (gaps**2).sum(-1))):
        bound = folded(sensitivity_of(node, norm, context, means).value)  # type: ignore[arg-type]
        assert float(bound or 0) == pytest.approx(true.max())
    for norm, true in (("l1", np.abs(values).sum(-1)), ("l2", (values**2).sum(-1))):
        bound = folded(sensitivity_of(node, norm, context.entering(), means).value)  # type: ignore[arg-type]
        assert float(bound or 0) == pytest.approx(true.max())


def test_gaussian_noise() -> None:
    sigma, delta = Fraction(373063, 100000), Fraction(1, 10**5)
    actual = noise.discrete_delta(sigma, 1, Fraction(1))
    assert float(actual.mid()) == pytest.approx(1.03457e-5, rel=1e-4)
    assert not noise.delta_at_most(sigma, Fraction(1), Fraction(1), delta, True)
    assert noise.delta_at_most(Fraction(39, 10), Fraction(1), Fraction(1), delta, True)
    classical = Fraction(48448, 100000)
    assert not noise.delta_at_most(classical, Fraction(1), Fraction(10), delta, True)
    for wide in (Fraction(1, 3), Fraction(5), Fraction(40)):  # against the sum over the law itself
        weights = [math.exp(-(k * k) / (2 * float(wide) ** 2)) for k in range(-600, 601)]
        total = sum(weights)
        for shift in (1, 3):
            pairs = zip(weights[shift:], weights[:-shift], strict=True)
            direct = sum(max(a - math.exp(0.7) * b, 0.0) for b, a in pairs) / total
            mine = noise.discrete_delta(wide, shift, Fraction(7, 10))
            assert float(mine.mid()) == pytest.approx(direct, rel=1e-6, abs=1e-12)
            assert float(mine.upper()) >= direct * (1 - 1e-9)


N = Node("public", (), ("db.size",))


def c(value: float) -> Node:
    return const(Fraction(value))


def over(top: float, under: Node) -> Node:
    return Node("div", (c(top), under))


FAR = Node("abs", (Node("sub", (N, c(50))),))
LEAST = Node("min", (N, c(9)))


@pytest.mark.parametrize(
    ("greater", "smaller", "sizes", "holds"),
    [
        (c(2), c(2), (1, None), True),
        (c(1), c(2), (1, None), False),
        (over(60, N), over(60, N), (1, None), True),
        (c(0.5), over(60, N), (120, None), True),
        (c(0.5), over(60, N), (119, None), False),
        (over(59, N), over(60, N), (1, None), False),
        (N, Node("mul", (N, N)), (1, 1), True),
        (N, Node("mul", (N, N)), (1, None), False),
        (Node("max", (N, c(9))), c(9), (1, None), True),
        (LEAST, c(9), (9, None), True),
        (LEAST, c(9), (8, None), False),
        (FAR, c(1), (1, None), False),
        (FAR, c(1), (51, None), True),
        (over(1, Node("sub", (N, c(5)))), c(0), (1, None), False),
        (over(1, Node("sub", (N, c(5)))), c(0), (6, None), True),
        # True up to 1000 and false after: nothing is sampled.
        (c(1000), N, (1, None), False),
        (c(1000), N, (1, 1000), True),
    ],
)
def test_never_less(greater: Node, smaller: Node, sizes: Any, holds: bool) -> None:
    high = math.inf if sizes[1] is None else Fraction(sizes[1])
    assert holds_for_all_sizes(greater, smaller, Range(Fraction(sizes[0]), high), Effort()) is holds


def test_reading_obligations() -> None:
    a = read_text("(declare-const v0 Real)\n(assert (>= v0 0.0))\n(assert (< v0 1.0))")
    b = read_text("(declare-const v0 Real)(assert (< v0 1.0))(assert   (>= v0 0.0))")
    assert a == b
    for wrong in ("(assert", ")", "(check-sat)", "(assert a b)", "(" * 500, "(push 1)"):
        with pytest.raises(kernel.InvalidError):
            read_text(wrong)


def test_a_number_added_to_every_entry() -> None:
    record = [
        [
            "",
            {
                "kind": "bool",
                "low": {"number": "0"},
                "high": {"number": "1"},
                "labels": [],
                "public": False,
            },
        ]
    ]
    total = ["sum", [["data", [["const", [], [True]], ["field", [], [""]]], [[]]]], []]
    clipped = ["clip", [total, *([["const", [], [{"number": n}]] for n in ("0", "5")])], []]
    zeros = ["tuple", [["const", [], [{"number": "0"}]]] * 3, []]
    context = AdjacencyContext(read_program(bare_program(record)), admitted(()), "replace-one")
    for item in (total, clipped):
        node = read_expression(["add", [item, zeros], []])
        assert folded(sensitivity_of(node, "l1", context, RulesAllowed(_no_folds)).value) == 3
        assert folded(sensitivity_of(node, "l2", context, RulesAllowed(_no_folds)).value) in (3, 9)


def bare_program(record: list[Any]) -> dict[str, Any]:
    return {
        "name": "m", "adjacency": "replace-one", "record": record,
        "scalar": record[0][0] == "", "parameters": [], "requires": [], "body": [], "returns": [],
        "return_types": [], "declared": [None, None], "source": "",
    }  # fmt: skip


def test_folded_numbers() -> None:
    two = const(Fraction(2))
    assert folded(Node("sub", (two, const(Fraction(5))))) == -3
    assert folded(Node("div", (two, const(Fraction(0))))) is None
    assert folded(N) is None


JUNK: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**30, "", "x", "1/0", [], {}, [[]], {"number": "1"},
    {"number": "-7/3"}, ["const", [], [{"number": "0"}]], ["field", [], ["age"]],
)  # fmt: skip


def places(raw: Any) -> list[tuple[Any, Any]]:
    """Every place in plain data, as its container and key."""
    keys = list(raw) if isinstance(raw, dict) else range(len(raw)) if isinstance(raw, list) else ()
    actual = [(raw, key) for key in keys]
    return actual + [inside for key in keys for inside in places(raw[key])]


@pytest.mark.prove
def test_junk_is_never_an_exception(honest: dict[str, dict[str, Any]]) -> None:
    rng = np.random.default_rng(62)
    names = sorted(honest)
    for number in range(runs(4000)):

        def change(document: dict[str, Any]) -> None:
            options = places(document["derivation"]) + places(document["claim"])
            for _ in range(int(rng.integers(1, 3))):
                container, key = options[int(rng.integers(len(options)))]
                others = options[int(rng.integers(len(options)))]
                junk = JUNK[int(rng.integers(len(JUNK)))]
                swap = json.loads(json.dumps(others[0][others[1]]))
                if isinstance(container, dict) and key not in container:
                    continue
                if isinstance(container, list) and key >= len(container):
                    continue
                container[key] = junk if rng.random() < 0.6 else swap

        document = lied(honest[names[number % len(names)]], change)
        said = kernel.check(document)
        assert said.verdict in ("VALID ASSUMING", "INVALID", "UNKNOWN")


STEPS = {
    "clip": ("clip(so_far + row.dose - 2, -5, 9)", "4"),
    "largest": ("max(so_far, row.dose)", "4"),
    "smooth": ("so_far * 0.5 + row.dose", "4"),
    "count": ("so_far + 1 if row.dose > 2 else so_far", "1"),
    "labels": ("so_far + 2 if row.arm == 'b' and row.region != 'n' else so_far", "2"),
    "public": ("so_far + 3 if row.region == 's' else so_far", "1"),
    "truths": ("so_far + row.ill * 2 if not row.ill or row.age >= 3 else so_far - 1", "3"),
    "sizes": ("abs(so_far) + min(row.age, 2)", "2"),
}


@pytest.mark.parametrize("name", STEPS)
def test_folds(name: str) -> None:
    """What solvers are asked is what the kernel writes anew; the bound is true."""
    step, moved = STEPS[name]
    text = FOLDED.replace("so_far * 0.5 + row.dose", step).replace(
        "    dose: Real[0, 4]",
        '    dose: Real[0, 4]\n    arm: Category["a", "b"]\n    ill: Bool\n    age: Int[0, 5]',
    )
    program = core_of(read_program_text(HEAD + text, name), None, {})
    verdict = check(program)
    assert verdict.verdict == "ACCEPTED", verdict.reason
    document = json.loads(program_certificate(program, verdict).to_json())
    assert kernel.check(document).verdict == "VALID ASSUMING"
    bound = Fraction(node_at(document, "laplace")["sensitivity"]["value"][2][0]["number"])
    assert bound <= Fraction(moved)
    rng = np.random.default_rng(63)
    rows = [random_row(program, rng) for _ in range(60)]
    for _ in range(200):
        place, values = int(rng.integers(4)), [rows[int(rng.integers(60))] for _ in range(4)]
        other = [*values]
        other[place] = rows[int(rng.integers(60))] | {"region": values[place]["region"]}
        moves_by = folded_over(program, values) - folded_over(program, other)
        assert abs(moves_by) <= bound


def random_row(program: Program, rng: Any) -> dict[str, Any]:
    actual = {}
    for name, kind in program.record:
        options = witnesses(kind, rng)
        actual[name] = options[int(rng.integers(len(options)))]
    return actual


def folded_over(program: Program, rows: list[dict[str, Any]]) -> Fraction:
    release = program.body[0]
    fold = release.args[0]  # type: ignore[union-attr]
    actual = fold.data[0]
    for row in rows:
        actual = Fraction(True_(program, rows).of_row(fold.args[1], row | {"so far": actual}))
    return Fraction(actual)  # type: ignore[arg-type]
