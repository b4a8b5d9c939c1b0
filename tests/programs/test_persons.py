"""Records of several rows: what is accepted, what is not, and what a person's rows can change.

Persons are tried in full where they are few: all their rows, more than count, in any order. What is
computed of one is held against a plain computation, and against what other persons have.
"""

from __future__ import annotations

import random
from fractions import Fraction as F
from itertools import combinations_with_replacement, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesdp.errors import InputError, TableMismatchError
from bayesdp.programs import ProgramSource
from bayesdp.programs.check.checker import check
from bayesdp.programs.checked_files import verdict_in
from bayesdp.programs.falsify import falsify
from bayesdp.programs.ir import Program
from bayesdp.programs.run.tables.loading import inspect_table, load
from bayesdp.programs.source import core_of, read_text
from bayesdp.programs.verdict import ProgramVerdict
from tests.effort import runs
from tests.programs.run.helpers import IMPORTS, Noted, run_on

RECORD = """
@record
class Visit:
    day: Int[0, 9]
    cost: Real[-2, 8]
    ill: Bool
    state: Category["well", "ill", "dead"]
    site: Public[Category["a", "b"]]
"""
TEXT = (
    RECORD
    + """
@program{options}
def f(visits: Database[Visit]) -> Private[{returns}]:
    people = group_by(visits, by="person", most={most})
{body}
"""
)


def text(body: str, *, most: object = 2, returns: str = "Real", options: str = "") -> str:
    lines = "\n".join(f"    {line}" for line in body.strip().split("\n"))
    return TEXT.format(options=options, returns=returns, most=most, body=lines)


def judged(program: str) -> ProgramVerdict:
    return verdict_in(read_text(IMPORTS + program, "persons"))


def released(value: str, cost: str = "epsilon=1") -> str:
    return f"return laplace(sum({value} for p in people), {cost})"


FOLDS = {
    "sum(v.cost for v in p)": (F(-4), F(16)),
    "sum(v.cost for v in p if v.ill)": (F(-4), F(16)),
    "sum(v.day for v in p)": (F(0), F(18)),
    "sum(v.ill for v in p)": (F(0), F(2)),
    "sum(v.cost for v in p) / len(p)": (F(-2), F(8)),
    "len(p)": (F(1), F(2)),
    "count(v for v in p if v.ill)": (F(0), F(2)),
    "count(v.ill for v in p)": (F(0), F(2)),
    "max(v.day for v in p)": (F(0), F(9)),
    "min((v.cost for v in p if v.ill), default=9)": (F(-2), F(9)),
    "(1 if any(v.ill for v in p) else 0)": None,
    "(1 if all(v.ill for v in p if v.day > 3) else 0)": None,
    'p.last(by="day").cost': (F(-2), F(8)),
    'p.first(by="cost").day': (F(0), F(9)),
    "max(v.cost * v.cost for v in p)": (F(0), F(64)),
    "sum(log(1 + v.day) for v in p)": None,
}
"""What can be made of a person's rows, and where it lies with two of them."""


@pytest.mark.parametrize("fold", FOLDS)
def test_a_fold_has_the_bounds_of_its_rows(fold: str) -> None:
    core = core_of(read_text(IMPORTS + text(released(fold)), "persons"), None, {})
    assert core.persons is not None
    assert (core.persons.by, core.persons.most) == ("person", 2)
    verdict = judged(text(released(fold)))
    assert verdict.verdict == "ACCEPTED", str(verdict)
    assert (verdict.dp_epsilon, verdict.kind) == (1, "any")
    assert "all rows with the same 'person', of which at most 2 count" in str(verdict)
    ((_, kind),) = core.record
    if FOLDS[fold] is not None:
        assert (kind.low, kind.high) == FOLDS[fold]
    assert not falsify(core, verdict, n_max=1, most_pairs=30).excess


ACCEPTED = {
    "filters of persons": 'n = laplace(count(p for p in people if p.site == "a" and '
    "any(v.ill for v in p)), epsilon=1)\nreturn n",
    "the number of persons": "return laplace(count(p for p in people), epsilon=1)",
    "pieces by a public column": "found = 0\nfor site, group in partition(people, by='site'):\n"
    "    found = found + laplace(sum(sum(v.cost for v in p) for p in group), epsilon=1)\n"
    "return found",
    "a clipped total": released("clip(sum(v.cost for v in p), 0, 10)"),
    "through a name": "totals = (sum(v.cost for v in p) for p in people)\n"
    "return laplace(sum(clip(t, 0, 5) for t in totals), epsilon=1)",
    "through a helper's argument": "costs = ((sum(v.cost for v in p), len(p)) for p in people)\n"
    "return laplace(sum(a * b for a, b in costs), epsilon=1)",
    "a model": "m = observe((p.last(by='day').state == 'dead' for p in people), bernoulli, "
    "prior=beta(1, 1))\nreturn noise_aware(laplace(statistics(m), epsilon=1)).mean",
    "a table of last states": "h = laplace(sum(onehot(p.last(by='day').state) for p in people), "
    "epsilon=1)\nreturn h[0]",
    "the first that is large": "return above_threshold((count(p for p in people if "
    "sum(v.cost for v in p) > k) for k in range(5)), threshold=3, epsilon=1)",
    "a quantile of totals": "return exponential(score=lambda t: -abs(count(p for p in people if "
    "sum(v.cost for v in p) <= t) - people.size / 2), candidates=linspace(0, 16, 17), epsilon=1)",
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_all_of_the_language_works_on_persons(name: str) -> None:
    program = text(ACCEPTED[name])
    verdict = judged(program)
    assert verdict.verdict == "ACCEPTED", str(verdict)
    assert verdict.dp_epsilon == 1
    core = core_of(read_text(IMPORTS + program, "persons"), None, {})
    assert not falsify(core, verdict, n_max=1, most_pairs=20).excess


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        ("return laplace(count(visits), epsilon=1)", "type", "a person, not a row"),
        ("return laplace(sum(v.cost for v in visits), epsilon=1)", "type", "grouped here"),
        ("rows = visits\nreturn laplace(count(rows), epsilon=1)", "type", "grouped here"),
        ("return laplace(count(people), epsilon=1) / visits.size", "type", "grouped here"),
        ("return laplace(sum(p.cost for p in people), epsilon=1)", "attribute", "Fold them"),
        ("return laplace(sum(v.cost for p in people for v in p), epsilon=1)", "construct", ""),
        (released("max(v.cost for v in p if v.ill)"), "bounds", "default=0"),
        (released("min(log(v.cost) for v in p)"), "bounds", "may have no value"),
        (released("sum(1 / v.day for v in p)"), "bounds", "may have no value"),
        (released("count(v for v in p if log(v.cost) > 0)"), "bounds", "may have no value"),
        (
            "n = laplace(len(people), epsilon=1)\n" + released("sum(min(v.cost, n) for v in p)"),
            "static",
            "before anything is released",
        ),
        (
            "return laplace(sum(sum(v.cost * w.cost for v in p for w in p) for p in people), "
            "epsilon=1)",
            "construct",
            "One `for`",
        ),
        (
            "others = group_by(visits, by='person', most=3)\n" + released("len(p)"),
            "arguments",
            "in one way",
        ),
        (released("any(v.cost for v in p)"), "type", "takes truth values"),
        (released("sum(v.state for v in p)"), "type", "takes a number"),
        (released('p.last(by="state").cost'), "type", "a column of numbers"),
        ("return people", "private-output", ""),
        (
            "for p in people:\n    n = laplace(len(p), epsilon=1)\nreturn n",
            "private-control",
            "",
        ),
        (released("laplace(sum(v.cost for v in p), epsilon=1)"), "", ""),
        (
            "found = 0\nfor k, g in partition(people, by='ill'):\n    found = 1\nreturn found",
            "",
            "",
        ),
    ],
)
def test_near_misses_are_refused(body: str, code: str, said: str) -> None:
    verdict = judged(text(body))
    assert verdict.verdict == "REJECTED", str(verdict)
    assert not code or verdict.code == code, str(verdict)
    assert said in str(verdict)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ('group_by(visits, by="person", most=0)', "from 1 to 10000"),
        ('group_by(visits, by="person", most=2.5)', "from 1 to 10000"),
        ('group_by(visits, by="person")', "needs most"),
        ('group_by((v for v in visits if v.ill), by="person", most=2)', "as it is"),
        ("group_by(visits, by=2, most=2)", "the name of a column"),
    ],
)
def test_a_grouping_says_by_what_and_how_many(call: str, said: str) -> None:
    body = text(released("len(p)")).replace('group_by(visits, by="person", most=2)', call)
    assert said in str(judged(body))


def test_dependence_is_of_records_that_are_one_row() -> None:
    body = (
        "m = observe((sum(v.cost for v in p) for p in people), normal(sd=2), "
        "prior=normal(0, sd=3), dependence='declared')\n"
        "return noise_aware(laplace(statistics(m), epsilon=1)).mean"
    )
    assert "records that are one row" in str(judged(text(body)))


def test_what_is_asserted_is_held_against_all_of_a_persons_rows() -> None:
    """A row's width is 10, a person's 20."""
    body = released("sum(v.cost for v in p)", "epsilon=1, sensitivity={}")
    assert judged(text(body.format(20))).verdict == "ACCEPTED"
    assert judged(text(body.format("19.99"))).code == "sensitivity"
    assert judged(text(body.format(10), most=1)).verdict == "ACCEPTED"


# -- what is computed ---------------------------------------------------------------------------

ALL = "\n".join(
    [
        "parts = (" + ", ".join(f"sum({fold} for p in people)" for fold in FOLDS) + ",)",
        "codes = sum(onehot(p.last(by='day').state) for p in people)",
        "return laplace(parts + (codes[0], codes[1]), epsilon=1)",
    ]
)
Row = dict[str, Any]


def all_folds(most: int) -> tuple[Program, ProgramVerdict]:
    core = core_of(read_text(IMPORTS + text(ALL, most=most, returns="Vector"), "persons"), None, {})
    verdict = check(core)
    assert verdict.verdict == "ACCEPTED", str(verdict)
    return core, verdict


def lines(core: Program, rows: list[Row], dataset: str = "d") -> list[tuple[float, ...]]:
    """The columns of each person, in the order of their keys."""
    held = load(core, rows, dataset=dataset)
    names = [name for name, _ in core.record]
    return [tuple(float(held.columns[name][i]) for name in names) for i in range(held.size)]


def of_person(core: Program, kept: list[Row]) -> tuple[float, ...]:
    """The same by plain Python, of the rows that count, in their order."""

    def mean(values: list[float]) -> float:
        return sum(values) / len(values)

    costs, days = [row["cost"] for row in kept], [row["day"] for row in kept]
    ills = [row["ill"] for row in kept]
    state = ("well", "ill", "dead")
    last = max(kept, key=lambda row: row["day"])
    values: dict[str, float] = {
        "sum of cost": sum(costs),
        "sum of cost (2)": sum(row["cost"] for row in kept if row["ill"]),
        "sum of day": sum(days),
        "sum of ill": sum(ills),
        "mean of cost": mean(costs),
        "rows": len(kept),
        "rows (2)": sum(ills),
        "max of day": max(days),
        "min of cost": min([row["cost"] for row in kept if row["ill"]], default=9),
        "any of ill": any(ills),
        "all of ill": all(row["ill"] for row in kept if row["day"] > 3),
        "last cost": last["cost"],
        "first day": min(kept, key=lambda row: row["cost"])["day"],
        "max of rows": max(cost * cost for cost in costs),
        "sum of rows": sum(np.log(1 + day) for day in days),
        "last state": state.index(last["state"]),
    }
    assert set(values) == {name for name, _ in core.record}
    return tuple(float(values[name]) for name, _ in core.record)


def some_row(rng: random.Random) -> Row:
    return {
        "day": rng.choice([0, 2, 4, 9]),
        "cost": rng.choice([-2.0, 0.1, 0.2, 0.3, 8.0]),
        "ill": rng.random() < 0.5,
        "state": rng.choice(["well", "ill", "dead"]),
    }


def with_key(person: object, site: str, rows: list[Row]) -> list[Row]:
    return [{**row, "person": person, "site": site} for row in rows]


@pytest.mark.parametrize("most", [1, 3])
def test_lines_are_those_of_a_plain_computation_on_some_of_a_persons_rows(most: int) -> None:
    """Many persons in one table, each with up to one row more than count."""
    rng = random.Random(most)
    core, _ = all_folds(most)
    persons = [
        [some_row(rng) for _ in range(rng.randint(1, most + 1))] for _ in range(runs(1000, 150))
    ]
    table = [row for key, rows in enumerate(persons) for row in with_key(key, "a", rows)]
    rng.shuffle(table)
    for rows, line in zip(persons, lines(core, table), strict=True):
        choices = permutations(rows, min(most, len(rows)))
        plain = [of_person(core, list(kept)) for kept in choices]
        assert any(np.allclose(line, due, rtol=1e-12) for due in plain)
        for (_, kind), value in zip(core.record, line, strict=True):
            assert kind.low is not None
            assert kind.high is not None
            assert kind.low <= F(value) <= kind.high


def test_both_filters_hold_where_rows_are_filtered_twice() -> None:
    twice = text(released("sum(v.cost for v in (w for w in p if w.ill) if v.day > 3)"), most=4)
    core = core_of(read_text(IMPORTS + twice, "persons"), None, {})
    rows = [
        {"day": day, "cost": cost, "ill": ill, "state": "well"}
        for day, ill, cost in [(9, True, 0.5), (9, False, 1.0), (2, True, 2.0), (2, False, 4.0)]
    ]
    assert lines(core, with_key("x", "a", rows)) == [(0.5,)]


def test_a_line_depends_on_its_persons_rows_alone() -> None:
    """All persons with one to three rows of three kinds; two rows count. Their order is any."""
    core, _ = all_folds(2)
    kinds = [
        {"day": 1, "cost": 0.1, "ill": True, "state": "ill"},
        {"day": 9, "cost": 0.2, "ill": False, "state": "dead"},
        {"day": 9, "cost": 8.0, "ill": True, "state": "well"},
    ]
    persons = [
        list(rows) for many in (1, 2, 3) for rows in combinations_with_replacement(kinds, many)
    ]
    table = [row for key, rows in enumerate(persons) for row in with_key(key, "a", rows)]
    together = lines(core, table)
    rng = random.Random(4)
    for key in range(len(persons)) if runs(2, 1) > 1 else rng.sample(range(len(persons)), 3):
        mine = with_key(key, "a", persons[key])
        rng.shuffle(mine)
        assert lines(core, mine) == [together[key]]
        others = [row for row in table if row["person"] != key]
        replaced = with_key(key, "a", rng.choice(persons))
        rng.shuffle(others)
        after = lines(core, others + replaced)
        assert after[:key] + after[key + 1 :] == together[:key] + together[key + 1 :]


def test_a_sum_of_rows_is_not_rounded_with_those_of_others() -> None:
    """Numbers that are added in another order have another sum: other persons don't change it."""
    core, _ = all_folds(3)
    rng = random.Random(0)
    mine = [{**some_row(rng), "cost": cost} for cost in (0.1, 0.7, 0.3)]
    alone = lines(core, with_key(500, "a", mine))[0]
    for _ in range(runs(20, 2)):
        table = with_key(500, "a", mine)
        for person in rng.sample(range(1000), 60):
            if person != 500:
                table += with_key(person, "b", [some_row(rng) for _ in range(rng.randint(1, 5))])
        rng.shuffle(table)
        keys = sorted({row["person"] for row in table})
        assert lines(core, table)[keys.index(500)] == alone


def test_which_rows_count_depends_on_the_data_set_and_looks_random() -> None:
    """One of ten counts: each of them about as often, of a hundred persons."""
    core, _ = all_folds(1)
    rows = [{"day": day, "cost": 0.0, "ill": False, "state": "well"} for day in range(10)]
    table = [row for person in range(100) for row in with_key(person, "a", rows)]
    place = [name for name, _ in core.record].index("sum of day")
    kept = [[line[place] for line in lines(core, table, name)] for name in ("d", "e")]
    assert kept[0] != kept[1]
    for days in kept:
        assert all(2 <= days.count(day) <= 25 for day in range(10))


# -- neighbours through the interpreter ------------------------------------------------------------


def drawn(core: Program, verdict: ProgramVerdict, table: list[Row]) -> Any:
    noted = Noted()
    run_on(core, verdict, load(core, table, dataset="d"), samplers=noted)
    return noted.seen


def random_value(rng: random.Random) -> str:
    row = rng.choice(["v.cost", "v.day", "v.cost * v.day", "v.cost - 1", "abs(v.cost)", "v.ill"])
    kept = rng.choice(["", "", " if v.ill", " if v.day > 3", ' if v.state == "dead"'])
    fold = rng.choice(["sum", "max", "min", "count", "mean", "last"])
    if fold in ("max", "min"):
        value = f"{fold}(({row} for v in p{kept}), default={rng.choice(['0', '-3', '20'])})"
    elif fold == "mean":
        value = f"sum({row} for v in p) / len(p)"
    elif fold == "last":
        value = f'p.{rng.choice(["first", "last"])}(by="{rng.choice(["day", "cost"])}").cost'
    else:
        value = f"{fold}({row} for v in p{kept})"
    return rng.choice(
        [
            value,
            f"clip({value}, 0, 3)",
            f"({value}) * ({value})",
            f"(({value}) if any(v.ill for v in p) else -1)",
            f"min({value}, len(p))",
        ]
    )


@pytest.mark.parametrize("options", ["", '(adjacency="add-remove")'], ids=["replaced", "entering"])
def test_random_folds_never_move_by_more_than_their_noise_hides(options: str) -> None:
    """A person is replaced with all their rows, by one with other rows, more or fewer."""
    rng, ran, wanted = random.Random(81 if options else 80), 0, runs(150, 2)
    for _ in range(40 * wanted):
        if ran >= wanted:
            break
        kept = rng.choice(["", "", " if all(v.day > 1 for v in p)", ' if p.site == "a"'])
        values = [random_value(rng) for _ in range(rng.randint(1, 2))]
        body = f"return laplace(sum(({', '.join(values)},) for p in people{kept}), epsilon=1)"
        program = text(body, most=rng.randint(1, 3), returns="Vector", options=options)
        core = core_of(read_text(IMPORTS + program, "persons"), None, {})
        verdict = check(core)
        if verdict.verdict != "ACCEPTED":
            continue
        ran += 1
        for _ in range(runs(6, 2)):
            rest = [
                row
                for person in range(rng.randint(1, 2))
                for row in with_key(person, "b", [some_row(rng) for _ in range(rng.randint(1, 4))])
            ]
            near = [
                with_key(7, "a", [some_row(rng) for _ in range(rng.randint(1, 5))])
                for _ in range(2)
            ]
            if options:
                near[1] = []
            tables = [rest + rows for rows in near]
            for table in tables:
                rng.shuffle(table)
            first, second = (drawn(core, verdict, table) for table in tables)
            if not first:
                continue
            assert first[0][2] == second[0][2]
            apart = sum(abs(a - b) for a, b in zip(first[0][1], second[0][1], strict=True))
            assert F(apart) <= F(first[0][2]), program
    assert ran == wanted


# -- tables -------------------------------------------------------------------------------------


def test_all_sources_give_the_same_lines(tmp_path: Path) -> None:
    core, _ = all_folds(2)
    rng = random.Random(2)
    table = [
        row
        for person in range(30)
        for row in with_key(f"p{person:02}", "ab"[person % 2], [some_row(rng) for _ in range(4)])
    ]
    frame = pd.DataFrame(table)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    due = lines(core, table)
    for source in (frame, frame.to_dict("list"), tmp_path / "t.csv", tmp_path / "t.parquet"):
        assert lines(core, source) == due  # type: ignore[arg-type]


def test_faults_of_persons_are_told_to_the_curator() -> None:
    """A row without a person, and rows of one person that differ in a public column."""
    program = text(ACCEPTED["filters of persons"])
    core = core_of(read_text(IMPORTS + program, "persons"), None, {})
    rng = random.Random(2)
    good = with_key("p", "a", [some_row(rng)])
    for bad, code in (
        (with_key(None, "a", [some_row(rng)]), "unit-missing"),
        (with_key("p", "b", [some_row(rng)]), "shared"),
    ):
        with pytest.raises(TableMismatchError):
            load(core, good + bad)
        assert [finding.code for finding in inspect_table(core, good + bad)] == [code]
    columns = {name: [row[name] for row in good] for name in good[0] if name != "person"}
    with pytest.raises(InputError, match="person"):
        load(core, columns)


def test_a_table_of_nobody_is_read_where_their_number_is_private() -> None:
    body = ACCEPTED["a clipped total"]
    entering = text(body, options='(adjacency="add-remove")')
    core = core_of(read_text(IMPORTS + entering, "persons"), None, {})
    names = ("day", "cost", "ill", "state", "site", "person")
    assert load(core, {name: [] for name in names}).size == 0


def test_the_ledger_keeps_persons(tmp_path: Path) -> None:
    from bayesdp.accounting import Ledger
    from bayesdp.accounting.costs.composition import level

    (tmp_path / "visits.py").write_text(IMPORTS + text(ACCEPTED["a clipped total"]))
    program = ProgramSource(tmp_path / "visits.py", "f")
    rng = random.Random(2)
    table = with_key("p", "a", [some_row(rng) for _ in range(4)])
    ledger = Ledger(str(tmp_path / "l.db"), level=level)
    given: dict[str, Any] = {"ledger": ledger, "dataset": "visits", "dp_epsilon": 9}
    with pytest.raises(InputError, match="groups its rows"):
        program.run(table, unit="row", **given)
    program.run(table, **given)
    (spend,) = ledger.spends("visits")
    assert (spend.unit, spend.reads, spend.kind) == ("person", ("cost",), "any")
