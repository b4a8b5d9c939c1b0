"""Counts of transitions: all small tables, the interpreter's own moves, and what is refused."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction as F
from itertools import product

import pytest

from bayesdp import kernel
from bayesdp.errors import InputError
from bayesdp.kernel.programs.ranges import folded
from bayesdp.programs.certificate import program_certificate
from bayesdp.programs.check.checker import check
from bayesdp.programs.checked_files import verdict_in
from bayesdp.programs.falsify import falsify
from bayesdp.programs.falsify.values import Evaluator
from bayesdp.programs.ir import Expr, Program, Release, expression
from bayesdp.programs.run import load
from bayesdp.programs.run.machine.readiness import ready
from bayesdp.programs.run.tables.rows import RowValues
from bayesdp.programs.run.tables.transitions import consecutive, counted
from bayesdp.programs.source import read_text
from bayesdp.programs.verdict import ProgramVerdict
from tests.effort import runs
from tests.programs.mutant_probes import field, number
from tests.programs.probes import core as probe_core
from tests.programs.run.helpers import IMPORTS, accepted
from tests.programs.test_cells_and_functions import judged, moves

RECORD = """
@record
class R:
    u: Public[Category["a", "b"]]
    t: Public[Int[1, 9]]
    s: Category["x", "y", "z"]
    b: Bool
    k: Int[0, 5]
    p: Public[Category["n", "s"]]
    v: Int[1, 9]
    q: Public[Real[1, 9]]

@program{options}
def f(db: Database[R]) -> Private[{returns}]:
{body}
"""
COSTS = {"laplace": "epsilon=1", "gaussian": "epsilon=1, delta=1e-6"}
ALL = 'transition_counts(db.{rows}, order="t", by="u")'
PLACES: tuple[tuple[tuple[str, int], ...], ...] = (
    (("a", 1),),
    (("a", 1), ("a", 2)),
    (("a", 3), ("a", 2)),
    (("a", 1), ("a", 3)),
    (("a", 1), ("b", 2)),
    (("a", 1), ("a", 2), ("a", 3)),
    (("a", 1), ("a", 2), ("a", 2)),
    (("a", 1), ("a", 2), ("a", 2), ("a", 3)),
    (("a", 1), ("a", 2), ("b", 2), ("b", 1)),
    (("a", 4), ("a", 1), ("a", 3), ("a", 2)),
)
"""The units and steps of rows: series, gaps, units, and rows that share a place."""


def text(body: str, returns: str = "Vector", options: str = "") -> str:
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return RECORD.format(body=lines, returns=returns, options=options)


def by_hand(places: Sequence[tuple[str, int]], states: Sequence[int], many: int) -> list[int]:
    """Counts of transitions, from their definition."""
    table = [0] * many**2
    for (unit, step), state in zip(places, states, strict=True):
        behind = [j for j, place in enumerate(places) if place == (unit, step + 1)]
        if len(behind) == 1 and places.count((unit, step)) == 1:  # type: ignore[attr-defined]
            table[state * many + states[behind[0]]] += 1
    return table


def neighbours(many: int) -> Iterator[tuple[list[int], list[int]]]:
    """The counts of all tables of these places, beside those with one record replaced."""
    for places in PLACES:
        for states in product(range(many), repeat=len(places)):
            here = by_hand(places, states, many)
            for i, other in product(range(len(places)), range(many)):
                changed = (*states[:i], other, *states[i + 1 :])
                yield here, by_hand(places, changed, many)


def claimed(body: str) -> F:
    _, verdict = accepted(text(body))
    value = folded(expression(verdict.derivation["sequence"][0]["sensitivity"]["value"]))
    assert value is not None
    return value


@pytest.mark.parametrize(("rows", "many"), [("b", 2), ("s", 3)])
@pytest.mark.parametrize("op", COSTS)
def test_claims_are_the_largest_moves_of_all_small_tables(rows: str, many: int, op: str) -> None:
    power = 1 if op == "laplace" else 2
    counts = ALL.format(rows=rows)
    largest = max(
        sum(abs(a - b) ** power for a, b in zip(x, y, strict=True)) for x, y in neighbours(many)
    )
    assert claimed(f"return {op}({counts}, {COSTS[op]})") == largest == (4 if power == 1 else 6)
    for entry in range(many**2):
        largest = max(abs(x[entry] - y[entry]) ** power for x, y in neighbours(many))
        said = claimed(f"n = {counts}\nreturn ({op}(n[{entry}], {COSTS[op]}), 0)")
        assert said == largest == (2**power if entry % (many + 1) == 0 else 1)


# -- two readings of the same definition, and the interpreter's ------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_evaluator_and_interpreter_count_the_same(seed: int) -> None:
    rng = random.Random(seed)
    by = ', by="u"' if seed % 3 else ""
    kept = ' if r.p == "n"' if seed % 2 else ""
    core, _ = accepted(text(
        f'return laplace(transition_counts((r.s for r in db{kept}), order="t"{by}), epsilon=1)'
    ))  # fmt: skip
    (release,) = core.body
    assert isinstance(release, Release)
    rows = [
        {"u": rng.choice("ab"), "t": rng.randint(1, 6), "s": rng.choice("xyz"), "b": False,
         "k": 0, "p": rng.choice("nns"), "v": 1, "q": 1.0}
        for _ in range(rng.randint(1, 12))
    ]  # fmt: skip
    loaded = RowValues(load(core, rows), dict(core.record))
    counts = counted(release.args[0], loaded)
    fractions = [{**row, "t": F(int(row["t"]))} for row in rows]
    assert tuple(counts) == Evaluator(fractions, dict(core.record), {}).value(
        release.args[0], range(len(rows))
    )
    seen = [row for row in rows if not kept or row["p"] == "n"]
    places = [(str(row["u"]) if by else "", int(row["t"])) for row in seen]
    assert list(counts) == by_hand(places, ["xyz".index(str(row["s"])) for row in seen], 3)
    shuffled = rng.sample(rows, len(rows))
    assert counted(release.args[0], RowValues(load(core, shuffled), dict(core.record))) == counts
    pairs = consecutive(release.args[0], loaded)
    linked = {(place, (place[0], place[1] + 1)) for place in places if places.count(place) == 1}
    linked = {(a, b) for a, b in linked if places.count(b) == 1}
    assert len(pairs.before) == len(linked)
    assert pairs.runs == sum(a not in {b for _, b in linked} for a, _ in linked)
    assert pairs.repeated == sum(places.count(place) > 1 for place in places)


def random_body(rng: random.Random) -> str:
    """A program that releases transitions, or numbers made of them."""
    rows, many = rng.choice(
        [("r.s", 3), ("r.b", 2), ("onehot(min(r.k, 2), 3)", 3), ("r.k > 2", 2), ("r.k", 6),
         ("cross(r.s, r.b)", 6), ("r.k if r.b else 0", 0)]
    )  # fmt: skip
    kept = rng.choice(["", "", ' if r.p == "n"', " if r.t > 2", " if r.b", " if r.k > 2"])
    by = rng.choice(["", ', by="u"', ', by="p"', ', by="s"'])
    order = rng.choice(["t", "t", "t", "t", "v", "q"])
    op = rng.choice(list(COSTS))
    counts = f'transition_counts(({rows} for r in db{kept}), order="{order}"{by})'
    lines = [f"n = {counts}"]
    entries = rng.sample(range(max(many, 1) ** 2), min(3, max(many, 1) ** 2))
    value = rng.choice(
        [
            "n", "n", "2 * n", "n - n", "n + n", "n + 1",
            f"({', '.join(f'n[{i}] * {rng.randint(-3, 3)}' for i in entries)},)",
            f"(n[{entries[0]}], sum(r.b for r in db), n[{entries[-1]}])",
            f"(clip(n[{entries[0]}], 0, 2), max(n[{entries[0]}], n[{entries[-1]}]))",
            f"(sum(n), abs(n[{entries[-1]}] - n[{entries[0]}]))",
        ]
    )  # fmt: skip
    return "\n".join([*lines, f"return {op}({value}, {COSTS[op]})"])


def random_table(rng: random.Random) -> list[dict[str, object]]:
    units = [(unit, step) for unit in "ab" for step in range(1, 7)]
    return [
        {"u": unit, "t": step, "s": rng.choice("xyz"), "b": rng.random() < 0.5,
         "k": rng.randint(0, 5), "p": rng.choice("ns"), "v": rng.randint(1, 9), "q": 1.0}
        for unit, step in rng.sample(units, rng.randint(1, 6))
    ]  # fmt: skip


def distinct(core: Program, verdict: ProgramVerdict, table: list[dict[str, object]]) -> bool:
    """Whether each row has a place of its own: other tables are refused before anything."""
    try:
        ready(core, verdict, load(core, table))
    except InputError:
        return False
    return True


@pytest.mark.parametrize("seed", range(runs(600)))
def test_random_programs_never_move_more_than_their_noise_is_for(seed: int) -> None:
    rng = random.Random(seed)
    verdict = judged(text(random_body(rng)))
    if isinstance(verdict, str):
        assert verdict in (
            "private-parameter", "type", "arguments", "nonlinear", "construct", "bounds",
        )  # fmt: skip
        return
    core, accepted_verdict = verdict
    kernel.check(program_certificate(core, accepted_verdict).to_dict())
    assert not falsify(core, accepted_verdict, n_max=3, most_pairs=60).excess
    for _ in range(6):
        table = random_table(rng)
        if not distinct(core, accepted_verdict, table):
            continue
        i = rng.randrange(len(table))
        other = random_table(rng)[0] | {name: table[i][name] for name in ("u", "t", "p", "q")}
        assert moves(core, accepted_verdict, [table, [*table[:i], other, *table[i + 1 :]]]) <= 1


# -- what is refused -------------------------------------------------------------------------------

NEAR = {
    "no order": ("transition_counts(db.s)", "arguments"),
    "a private order": ('transition_counts(db.s, order="v")', "private-parameter"),
    "an order that is not a whole number": ('transition_counts(db.s, order="q")', "type"),
    "an order by labels": ('transition_counts(db.s, order="p")', "type"),
    "a private unit": ('transition_counts(db.s, order="t", by="s")', "private-parameter"),
    "a column that there isn't": ('transition_counts(db.s, order="month")', "arguments"),
    "a private filter": (
        'transition_counts((r.s for r in db if r.b), order="t")', "private-parameter"),
    "a filter by the state itself": (
        'transition_counts((r.s for r in db if r.s != "x"), order="t")', "private-parameter"),
    "whole records": ('transition_counts(db, order="t")', "type"),
    "numbers without an end": ('transition_counts((r.k - 1 for r in db), order="t")', "arguments"),
    "numbers that aren't whole": ('transition_counts((r.k / 2 for r in db), order="t")', "type"),
    "cells that are too few": (
        'transition_counts((onehot(r.k, 3) for r in db), order="t")', "bounds"),
    "pieces of a private column": (
        '[transition_counts((r.b for r in d), order="t") for s, d in partition(db, by="s")][0]',
        "private-parameter"),
    "an assertion below": (ALL.format(rows="s"), "sensitivity"),
    "unreleased": (ALL.format(rows="s"), "private-output"),
    "too many states": (
        'transition_counts((cross(r.s, r.b, r.s, r.b) for r in db), order="t")', "size"),
}  # fmt: skip


@pytest.mark.parametrize("name", NEAR)
def test_near_misses_are_refused(name: str) -> None:
    value, code = NEAR[name]
    options = ", sensitivity=3.99" if name == "an assertion below" else ""
    body = f"return laplace({value}, epsilon=1{options})"
    if name == "unreleased":
        body = f"return {value}"
    verdict = verdict_in(read_text(IMPORTS + text(body)), None, None, {})
    assert (verdict.verdict, verdict.code) == ("REJECTED", code)


def test_add_remove_is_refused() -> None:
    body = f"return laplace({ALL.format(rows='s')}, epsilon=1)"
    source = read_text(IMPORTS + text(body, options='(adjacency="add-remove")'))
    verdict = verdict_in(source, None, None, {})
    assert (verdict.verdict, verdict.code) == ("REJECTED", "unproved")


def transitions(
    row: Expr, *keys: Expr, kept: Expr | None = None, pieces: tuple[tuple[str, str], ...] = ()
) -> Expr:
    data = Expr("data", (kept or number(True), row), (pieces,))
    return Expr("transitions", (data, *keys))


HOT = Expr("onehot", (field("c"),), (F(3),))
ODD = {
    "no step": transitions(HOT),
    "three keys": transitions(HOT, field("z"), field("p"), field("p")),
    "a private step": transitions(HOT, field("y")),
    "a step of labels": transitions(HOT, field("p")),
    "a step that isn't whole": transitions(HOT, field("q")),
    "a step that is computed": transitions(HOT, Expr("add", (field("z"), number(1)))),
    "a private unit": transitions(HOT, field("z"), field("d")),
    "a unit that is computed": transitions(HOT, field("z"), Expr("neg", (field("z"),))),
    "a private filter": transitions(HOT, field("z"), kept=field("b")),
    "a private piece": transitions(HOT, field("z"), pieces=(("c", "u"),)),
    "rows that are numbers": transitions(field("y"), field("z")),
    "rows that are vectors": transitions(Expr("tuple", (field("y"), number(1))), field("z")),
    "a cell outside": transitions(Expr("onehot", (field("y"),), (F(3),)), field("z")),
    "not of data": Expr("transitions", (HOT, field("z"))),
    "too many": transitions(Expr("onehot", (field("y"),), (F(65),)), field("z")),
    "a column that there isn't": transitions(HOT, field("month")),
}


def around(value: Expr, options: str = "") -> Program:
    """A program that releases this value."""
    counts = "laplace(sum(onehot(r.c) for r in db), epsilon=1)"
    made = probe_core(counts, returns="Vector", options=options)
    (release,) = made.body
    assert isinstance(release, Release)
    return replace(made, body=(replace(release, args=(value,)),))


@pytest.mark.parametrize("name", ODD)
def test_the_rules_refuse_odd_representations(name: str) -> None:
    assert check(around(ODD[name])).verdict != "ACCEPTED"
    shown = Expr("item", (ODD[name],), (F(0),))
    assert check(around(shown)).verdict != "ACCEPTED"


def test_the_rules_accept_what_is_left() -> None:
    good = transitions(HOT, field("z"), field("p"), kept=Expr("le", (field("z"), number(2))))
    assert check(around(good)).verdict == "ACCEPTED"
    assert check(around(good, 'adjacency="add-remove"')).verdict != "ACCEPTED"
    assert check(around(transitions(HOT, field("z"), pieces=(("p", "north"),)))).verdict == (
        "ACCEPTED"
    )


# -- tables ----------------------------------------------------------------------------------------


def test_rows_that_share_a_place_are_refused_before_anything_is_paid() -> None:
    core, verdict = accepted(text(f"return laplace({ALL.format(rows='s')}, epsilon=1)"))
    rng = random.Random(1)
    table = random_table(rng)
    ready(core, verdict, load(core, table))
    with pytest.raises(InputError, match="2 rows that have theirs together") as refused:
        ready(core, verdict, load(core, [*table, table[0]]))
    assert "one row for each step of each 'u'" in str(refused.value)
    alone, alone_verdict = accepted(
        text('return laplace(transition_counts(db.s, order="t"), epsilon=1)')
    )
    two = [row | {"u": unit} for row in table[:1] for unit in "ab"]
    with pytest.raises(InputError, match='by="person"'):
        ready(alone, alone_verdict, load(alone, two))


def test_a_public_piece_is_a_series_of_its_own() -> None:
    body = (
        'found = ()\nfor u, d in partition(db, by="u"):\n'
        '    found = found + (laplace(transition_counts(d.s, order="t"), epsilon=1),)\n'
        "return found"
    )
    core, verdict = accepted(text(body, returns="tuple[Vector, ...]"))
    assert verdict.dp_epsilon == 1
    assert not falsify(core, verdict, n_max=3, most_pairs=300).excess


def test_steps_are_compared_as_whole_numbers() -> None:
    wide = text(f"return laplace({ALL.format(rows='b')}, epsilon=1)")
    wide = wide.replace("t: Public[Int[1, 9]]", f"t: Public[Int[0, {2**53}]]")
    core, _ = accepted(wide)
    (release,) = core.body
    assert isinstance(release, Release)
    rows = [
        {"u": "a", "t": step, "s": "x", "b": truth, "k": 0, "p": "n", "v": 1, "q": 1.0}
        for step, truth in ((2**53 - 1, True), (2**53, False), (0, True), (1, True))
    ]
    counts = counted(release.args[0], RowValues(load(core, rows), dict(core.record)))
    assert [int(count) for count in counts] == [0, 0, 1, 1]
