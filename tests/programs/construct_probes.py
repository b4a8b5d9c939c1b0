"""What a wrong rule of a construct is shown by: prices, moves, laws and lies, each known otherwise.

Every probe goes through what users call: the checker's verdict on a text, a run, or the kernel's
verdict on a certificate. It passes; with a rule of its construct made wrong an assertion of it
fails.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import lgamma
from typing import Any

import numpy as np

from bayesdp import kernel
from bayesdp.programs.certificate import program_certificate
from bayesdp.programs.checked_files import refused as refusal
from bayesdp.programs.checked_files import verdict_in
from bayesdp.programs.source import ProgramError, read_text
from tests.kernel.mutations import sealed
from tests.kernel.program_lies import LIES, node_at, stated
from tests.kernel.program_texts import HEAD, TEXTS
from tests.programs.run.helpers import IMPORTS, Noted, accepted, done, seen

Document = dict[str, Any]
Row = dict[str, Any]

# -- verdicts --------------------------------------------------------------------------------------


@cache
def _certified(text: str) -> str:
    return program_certificate(*accepted(text)).to_json()


def honest(text: str) -> Document:
    """The certificate of an accepted program, made once by the rules as they are."""
    document: Document = json.loads(_certified(text))
    return document


def found_out(text: str, change: Callable[[Document], object]) -> None:
    """The kernel refuses a certificate that says more than follows, and not for its digest."""
    document = honest(text)
    change(document)
    assert document != honest(text)
    said = kernel.check(sealed(document))
    assert said.verdict in ("INVALID", "UNKNOWN")
    assert said.step != "digest"


def less(release: str, value: str) -> Callable[[Document], None]:
    """Noise for a smaller move; what entering costs with it is left open."""

    def change(document: Document) -> None:
        stated(document, release, value)
        node_at(document, release).update(entering=None)

    return change


def known_lie(name: str) -> None:
    """The kernel refuses this lie about a program of the kernel's own tests."""
    about, change = LIES[name]
    found_out(TEXTS[about].replace(HEAD, ""), change)


def refused(text: str) -> None:
    """The checker doesn't accept it, whatever it says."""
    try:
        verdict = verdict_in(read_text(IMPORTS + text, "probe.py"))
    except ProgramError as error:
        verdict = refusal(error, None)
    assert verdict.verdict in ("REJECTED", "UNKNOWN"), verdict


def refused_for(text: str, said: str) -> None:
    """The checker doesn't accept it, and says why in these words."""
    try:
        verdict = verdict_in(read_text(IMPORTS + text, "probe.py"))
    except ProgramError as error:
        verdict = refusal(error, None)
    assert verdict.verdict in ("REJECTED", "UNKNOWN"), verdict
    assert said in f"{verdict.reason} {verdict.accepted}"


# -- moves that noise hides ------------------------------------------------------------------------


def pairs(rows: Iterable[Row], size: int, public: str = "") -> list[tuple[list[Row], list[Row]]]:
    """All pairs of tables of `size` of these rows that differ in one row; `public` they share."""
    rows = list(rows)
    tables = []
    for rest in product(rows, repeat=size - 1):
        for here, there in product(rows, rows):
            if here != there and (not public or here[public] == there[public]):
                tables.append(([here, *rest], [there, *rest]))
    return tables


def hidden(
    text: str,
    tables: Iterable[tuple[list[Row], list[Row]]],
    due: Callable[[list[Any], list[Any]], Fraction],
    epsilon: Fraction,
) -> None:
    """No pair of tables differs by more than `epsilon`: by the steps and scales of the samplers."""
    core, verdict = accepted(text)
    given: dict[str, list[Any]] = {}
    worst = Fraction(0)
    for pair in tables:
        for table in pair:
            if str(table) not in given:
                given[str(table)] = seen(core, verdict, table)
        worst = max(worst, due(*(given[str(table)] for table in pair)))
    assert Fraction(3, 10) * epsilon < worst <= epsilon, float(worst)


def of_noise(here: list[Any], there: list[Any]) -> Fraction:
    """The loss by Laplace noise on vectors: the l1 distance over the scale."""
    loss = Fraction(0)
    for (_, a, scale), (_, b, same) in zip(here, there, strict=True):
        assert scale == same
        loss += sum(abs(x - y) for x, y in zip(a, b, strict=True)) / Fraction(scale)
    return loss


def of_searches(here: list[Any], there: list[Any]) -> Fraction:
    """The loss by a noisy threshold and noisy queries: theory 8.5, in the words of its proof.

    The threshold is moved by as much as any query, and the query that is found by twice as much.
    """
    loss = Fraction(0)
    for i in range(0, len(here), 2):
        (_, zero, raised), (_, a, queried) = here[i : i + 2]
        assert zero == (0,)
        assert (raised, queried) == (there[i][2], there[i + 1][2])
        moved = max(abs(x - y) for x, y in zip(a, there[i + 1][1], strict=True))
        loss += moved / Fraction(raised) + 2 * moved / Fraction(queried)
    return loss


def of_choices(here: list[Any], there: list[Any]) -> Fraction:
    """The loss by a softmax: twice the largest move of a score over the scale."""
    ((_, a, scale),), ((_, b, same),) = here, there
    assert scale == same
    # Scores are shown less the best: what all have in common moves nothing.
    moves = [x - y for x, y in zip(a, b, strict=True)]
    return (max(moves) - min(moves)) / Fraction(scale)


# -- the first query above a threshold -------------------------------------------------------------

SEARCHED = """
@record
class R:
    k: Int[2, 8]
    x: Real[-1, 1]
    b: Bool
    c: Category["u", "v"]

@program{options}
def f(db: Database[R]) -> Private[Int]:
    return above_threshold({queries}, threshold={threshold}, epsilon={epsilon})
"""


def searched(queries: str, threshold: object = 3, epsilon: object = 1, options: str = "") -> str:
    """A program that looks for the first of these queries."""
    return SEARCHED.format(queries=queries, threshold=threshold, epsilon=epsilon, options=options)


SEARCHED_IN_PIECES = """
@record
class R:
    k: Int[2, 8]
    x: Real[-1, 1]
    b: Bool
    c: Category["u", "v"]

@program
def f(db: Database[R]) -> Private[Int]:
    for piece in partition(db, by="c"):
        n = above_threshold((sum(r.k for r in piece),), threshold=3, epsilon=3)
    return 0
"""
ROWS = [
    {"k": k, "x": x, "b": b, "c": c} for k, x, b, c in product((2, 8), (-1, 1), (True, False), "uv")
]


def searches_are_hidden(queries: str, epsilon: int = 1) -> None:
    """Every pair of tables of one or two records."""
    text = searched(queries, 3, epsilon)
    hidden(text, [*pairs(ROWS, 1), *pairs(ROWS[::5], 2)], of_searches, Fraction(epsilon))


def noise_is_on_threshold_and_queries() -> None:
    """Noise that is the same for both changes nothing; noise on one of them does."""
    core, verdict = accepted(searched("(sum(r.k for r in db), 4)", 9))
    table = [ROWS[-1]] * 2

    class Shifted(Noted):
        """Noise on the threshold alone, or on the queries alone."""

        def __init__(self, threshold: int, queries: int) -> None:
            super().__init__()
            self.of_each = [threshold, queries]

        def laplace(self, values: Any, scale: float) -> list[int]:
            shift = self.of_each[len(self.seen)]
            super().laplace(values, scale)
            return [value + shift for value in values]

    for threshold, queries, due in ((0, 0, 0), (50, 50, 0), (50, 0, 2), (0, -50, 2), (-50, -50, 0)):
        assert done(core, verdict, table, Shifted(threshold, queries)).value == due


def the_first_is_found() -> None:
    """Place by place, without noise; a query at the threshold is above it."""
    core, verdict = accepted(searched("(count(r for r in db if r.k >= a) for a in (8, 5, 2))", 2))
    for ages, due in (((8, 8, 2), 0), ((8, 5, 2), 1), ((5, 2, 2), 2), ((2, 2), 2), ((5,), 3)):
        table = [ROWS[0] | {"k": k} for k in ages]
        assert done(core, verdict, table).value == due


# -- Dirichlet candidates --------------------------------------------------------------------------

CHOSEN = """
@program
def f(rows: Database[Category["a", "b", "c"]]) -> Private[Dirichlet]:
    prior = dirichlet({prior})
    posterior = infer(observe(rows, categorical, prior=prior))
    laws = posteriors_of(prior, n=rows.size)
    return exponential(score=hellinger(posterior), candidates=laws, epsilon={epsilon})
"""
CHOSEN_IN_PIECES = """
@record
class R:
    arm: Category["a", "b", "c"]
    site: Category["n", "s"]

@program
def f(rows: Database[R]) -> Private[Int]:
    for piece in partition(rows, by="site"):
        posterior = infer(observe((r.arm for r in piece), categorical, prior=dirichlet(1, 2, 1)))
        law = exponential(score=hellinger(posterior), candidates=posteriors_of(dirichlet(1, 2, 1),
            n=rows.size), epsilon=2)
    return 0
"""


def chosen(prior: str = "1, 1, 1", epsilon: object = 1) -> str:
    """A program that chooses a Dirichlet law."""
    return CHOSEN.format(prior=prior, epsilon=epsilon)


def _distance(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    """The Hellinger distance of two Dirichlet laws, from their normalising integrals."""

    def logs(parts: tuple[float, ...]) -> float:
        return sum(map(lgamma, parts)) - lgamma(sum(parts))

    middle = tuple((x + y) / 2 for x, y in zip(a, b, strict=True))
    return max(0.0, 1 - float(np.exp(logs(middle) - (logs(a) + logs(b)) / 2))) ** 0.5


def _counted(rows: Iterable[str], prior: tuple[float, ...]) -> tuple[float, ...]:
    rows = list(rows)
    return tuple(a + rows.count(label) for a, label in zip(prior, "abc", strict=True))


def laws_move_no_further_than_the_price(prior: str = "1, 1, 1", epsilon: int = 1) -> None:
    """A number of each pair of neighbouring tables: how far true distances move, and the price."""
    core, verdict = accepted(chosen(prior, epsilon))
    node = verdict.derivation["sequence"][0]["sensitivity"]["value"]
    stated = float(Fraction(node[2][0]["number"]))
    before = tuple(float(part) for part in prior.split(","))
    tables = [table for n in (1, 2, 3) for table in product("abc", repeat=n)]
    furthest = 0.0
    for here, there in product(tables, tables):
        if len(here) == len(there) and sum(x != y for x, y in zip(here, there, strict=True)) == 1:
            near, far = _counted(here, before), _counted(there, before)
            furthest = max(furthest, _distance(near, far))
    assert abs(furthest - stated) < 2e-10
    assert stated >= furthest - 1e-12
    assert verdict.dp_epsilon == epsilon
    assert core.name == "f"


def choices_are_hidden(prior: str = "1, 1, 1", epsilon: int = 1) -> None:
    """The very scores and scale that the sampler is given, on all neighbours of up to three."""
    core, verdict = accepted(chosen(prior, epsilon))
    worst = Fraction(0)
    for n in (1, 2, 3):
        given = {
            table: seen(core, verdict, {"rows": list(table)}) for table in product("abc", repeat=n)
        }
        for here, there in combinations(given, 2):
            if sum(x != y for x, y in zip(here, there, strict=True)) == 1:
                worst = max(worst, of_choices(given[here], given[there]))
    assert epsilon / 2 < worst <= epsilon, float(worst)


def scores_are_distances(prior: str = "1, 2, 0.5") -> None:
    """The law of the choice is the softmax of the distances, candidate by candidate."""
    core, verdict = accepted(chosen(prior))
    before = tuple(float(part) for part in prior.split(","))
    rows = ["a", "c", "c"]
    ((_, scores, _),) = seen(core, verdict, {"rows": rows})
    laws = sorted(
        {_counted(table, before) for table in product("abc", repeat=len(rows))},
    )
    due = [-_distance(law, _counted(rows, before)) for law in laws]
    assert len(scores) == len(laws)
    apart = np.asarray(scores) / 2.0**30 - (np.asarray(due) - max(due))
    assert np.abs(apart).max() < 1e-8


# -- records of several rows -----------------------------------------------------------------------


def visits(body: str, most: int = 2, options: str = "", returns: str = "Real") -> str:
    """A program about persons, in the words of `tests.programs.test_persons`."""
    from tests.programs.test_persons import text

    return text(body, most=most, returns=returns, options=options)


def totals(value: str, **kind: Any) -> str:
    """The sum over persons of what is made of their rows."""
    return visits(f"return laplace(sum({value} for p in people), epsilon=1)", **kind)


VISITED = [
    {"day": day, "cost": cost, "ill": ill, "state": state}
    for day, cost, ill, state in product((0, 9), (-2.0, 8.0), (True, False), ("well", "dead"))
]


def persons_are_hidden(value: str, most: int, epsilon: int = 1) -> None:
    """A person is replaced with all rows, of which more come than count."""
    core, verdict = accepted(totals(value, most=most))
    person = {"person": 1, "site": "a"}
    others = [VISITED[3] | {"person": 2, "site": "b"}]
    several = [[row] for row in VISITED[::3]]
    several += [[row] * (most + 2) for row in VISITED[::2]]
    several += [[*VISITED[:most], VISITED[-1]], VISITED[-most:]]
    losses = []
    given = [seen(core, verdict, [*[row | person for row in rows], *others]) for rows in several]
    for here, there in combinations(given, 2):
        losses.append(of_noise(here, there))
    assert epsilon / 4 < max(losses) <= epsilon, float(max(losses))


FOLDED: dict[str, Callable[[list[Row]], float]] = {
    "sum(v.cost for v in p)": lambda rows: sum(row["cost"] for row in rows),
    "sum(v.cost for v in p if v.ill)": lambda rows: sum(r["cost"] for r in rows if r["ill"]),
    "sum(10 - v.day for v in p if v.ill)": lambda rows: sum(
        10 - row["day"] for row in rows if row["ill"]
    ),
    "sum(v.cost for v in p) / len(p)": lambda rows: sum(r["cost"] for r in rows) / len(rows),
    "count(v for v in p if v.ill)": lambda rows: sum(row["ill"] for row in rows),
    "len(p)": lambda rows: len(rows),
    "max(v.day for v in p)": lambda rows: max(row["day"] for row in rows),
    "min((v.cost for v in p if v.ill), default=9)": lambda rows: min(
        [row["cost"] for row in rows if row["ill"]], default=9
    ),
    "min((v.cost for v in p if v.ill), default=3)": lambda rows: min(
        [row["cost"] for row in rows if row["ill"]], default=3
    ),
    "max((v.cost for v in p if v.ill), default=-5)": lambda rows: max(
        [row["cost"] for row in rows if row["ill"]], default=-5
    ),
    "(1 if any(v.ill for v in p) else 0)": lambda rows: any(row["ill"] for row in rows),
    "(1 if all(v.ill for v in p if v.day > 3) else 0)": lambda rows: all(
        row["ill"] for row in rows if row["day"] > 3
    ),
    'p.last(by="day").cost': lambda rows: max(rows, key=lambda row: row["day"])["cost"],
    'p.first(by="day").cost': lambda rows: min(rows, key=lambda row: row["day"])["cost"],
}
"""What is made of a person's rows, and the same in plain Python."""


def folds_are_plain(fold: str, most: int = 3) -> None:
    """The number that noise is added to, of one person and of several."""
    core, verdict = accepted(totals(fold, most=most))
    rng = np.random.default_rng(7)
    for persons in (1, 1, 12):
        table, due = [], 0.0
        for key in range(persons):
            many = int(rng.integers(1, most + 1)) if persons > 1 else most
            days = rng.permutation(10)[:many]
            rows = [VISITED[int(rng.integers(len(VISITED)))] | {"day": int(day)} for day in days]
            table += [row | {"person": key, "site": "a"} for row in rows]
            due += FOLDED[fold](rows)
        assert np.isclose(done(core, verdict, table).value, due, atol=1e-6), fold


def rows_beyond_do_not_count() -> None:
    """Of four rows two count: the sum of ones is two."""
    core, verdict = accepted(totals("sum(1 + 0 * v.day for v in p)", most=2))
    table = [VISITED[0] | {"person": 5, "site": "a", "day": day} for day in range(4)]
    assert done(core, verdict, table).value == 2
    core, verdict = accepted(totals("clip(sum(v.day for v in p), 0, 9)", most=1))
    table = [VISITED[0] | {"person": 5, "site": "a", "day": 3} for _ in range(4)]
    assert done(core, verdict, table).value == 3
