"""Rules of constructs made wrong, by name, each with the probe that shows it.

A formula has another sign, bound, factor or norm, a boundary is off, a precondition is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tests.kernel.program_lies import (
    claimed,
    fold,
    node_at,
    number_of,
    program_of,
    release_of,
)
from tests.programs import construct_probes as probes
from tests.programs import person_probes
from tests.programs.edits import Edit

RULES, KERNEL = "kernel.programs", "kernel.releases"
SOURCE, RUN = "programs.source", "programs.run"

# -- the first query above a threshold -------------------------------------------------------------

BOTH_MOVES = """\
        setting.enough_for(stated.sensitivity.value, query, "l1", here, "the sensitivity")
        setting.enough_for(scale, query, "l1", here, "the asserted sensitivity")
"""
COUNTED, OF_AGES = "(count(r for r in db if r.b),)", "(sum(r.k for r in db),)"
SMALL = "(sum(r.x / 8 for r in db),)"
THREE = "(count(r for r in db if r.b), sum(r.k for r in db), sum(r.x for r in db))"
LIED = probes.found_out
ABOVE_THRESHOLD: dict[str, Edit] = {
    "the first query alone counts": Edit(
        RULES, "for query in queries.args:", "for query in queries.args[:1]:",
        partial(probes.known_lie, "the first query's move"),
    ),
    "the square of the move": Edit(
        RULES, BOTH_MOVES, BOTH_MOVES.replace('"l1"', '"l2"'),
        partial(LIED, probes.searched(SMALL), probes.less("above", "1/16")),
    ),
    "a record enters, for one that is replaced": Edit(
        RULES, BOTH_MOVES, BOTH_MOVES.replace(" here,", " there,"),
        partial(LIED, probes.searched("(sum(r.x for r in db),)"), probes.less("above", "1")),
    ),
    "an asserted move is taken as it is": Edit(
        RULES, BOTH_MOVES, BOTH_MOVES[: BOTH_MOVES.index("\n") + 1],
        partial(probes.known_lie, "a smaller asserted move"),
    ),
    "entering without the factor epsilon": Edit(
        RULES, 'setting.enough_for(share, query, "l1", there, "the cost of entering", epsilon)',
        'setting.enough_for(share, query, "l1", there, "the cost of entering")',
        partial(
            LIED, probes.searched(COUNTED, epsilon=2),
            lambda d: node_at(d, "above").update(entering="1"),
        ),
    ),
    "a record is replaced, for one that enters": Edit(
        RULES, 'setting.enough_for(share, query, "l1", there',
        'setting.enough_for(share, query, "l1", here',
        partial(
            LIED, probes.searched(OF_AGES), lambda d: node_at(d, "above").update(entering="1")
        ),
    ),
    "a private threshold": Edit(
        RULES, "is_number = setting.scope.public(threshold)",
        "is_number = setting.scope.private(threshold)",
        partial(probes.known_lie, "a private threshold"),
    ),
    "queries are noised like a released number": Edit(
        RUN, "OF_THRESHOLD, OF_QUERY = Fraction(5, 2), Fraction(10, 3)",
        "OF_THRESHOLD, OF_QUERY = Fraction(5, 2), Fraction(1)",
        partial(probes.searches_are_hidden, COUNTED),
    ),
    "noise on a query is counted once": Edit(
        RUN, "OF_THRESHOLD, OF_QUERY = Fraction(5, 2), Fraction(10, 3)",
        "OF_THRESHOLD, OF_QUERY = Fraction(2), Fraction(2)",
        partial(probes.searches_are_hidden, THREE),
    ),
    "a threshold is noised like a released number": Edit(
        RUN, "OF_THRESHOLD, OF_QUERY = Fraction(5, 2), Fraction(10, 3)",
        "OF_THRESHOLD, OF_QUERY = Fraction(1), Fraction(10, 3)",
        partial(probes.searches_are_hidden, THREE, 2),
    ),
    "queries with the noise of the threshold": Edit(
        RUN, "samplers.laplace(steps, scales[1])",
        "samplers.laplace(steps, scales[0])", partial(probes.searches_are_hidden, OF_AGES),
    ),
    "a threshold without its noise": Edit(
        RUN, "if number >= raised + ceil(", "if number >= ceil(",
        probes.noise_is_on_threshold_and_queries,
    ),
    "noise is taken off the threshold": Edit(
        RUN, "if number >= raised + ceil(", "if number >= -raised + ceil(",
        probes.noise_is_on_threshold_and_queries,
    ),
    "above is not at least": Edit(
        RUN, "if number >= raised + ceil(", "if number > raised + ceil(",
        probes.the_first_is_found,
    ),
    "noise for half the move": Edit(
        RUN, "        return in_range(OF_THRESHOLD * scale), ",
        "        scale = scale / 2\n        return in_range(OF_THRESHOLD * scale), ",
        partial(probes.searches_are_hidden, THREE),
    ),
    "one piece for the two that a record is in": Edit(
        RULES, "reverse=True)[:2], Fraction(0)) for i in (0, 1)",
        "reverse=True)[:1], Fraction(0)) for i in (0, 1)",
        partial(LIED, probes.SEARCHED_IN_PIECES, lambda d: claimed(d, epsilon="4")),
    ),
}  # fmt: skip

# -- Dirichlet candidates --------------------------------------------------------------------------


def _asserted(value: str, entering: str | None = None) -> Callable[[probes.Document], None]:
    """The stated move is what is derived, and the noise is for less."""

    def change(document: probes.Document) -> None:
        release_of(document, 0)["options"]["sensitivity"] = number_of(value)
        node_at(document, "exponential").update(entering=entering)

    return change


DIRICHLET: dict[str, Edit] = {
    "the labels as they are listed": Edit(
        RULES, "low = sorted(prior)", "low = list(prior)",
        partial(probes.laws_move_no_further_than_the_price, "2, 1, 0.3"),
    ),
    "a trade with the largest label": Edit(
        RULES, "traded(low[0], low[1])]", "traded(low[0], low[-1])]",
        partial(probes.laws_move_no_further_than_the_price, "0.3, 3, 0.5"),
    ),
    "a trade within the smallest label": Edit(
        RULES, "traded(low[0], low[1])]", "traded(low[1], low[1])]",
        partial(probes.laws_move_no_further_than_the_price, "0.3, 1, 1"),
    ),
    "a count is gained, for one that is traded": Edit(
        RULES, "return distances.of_labels(numbers, not entering)",
        "return distances.of_labels(numbers, entering)",
        partial(probes.laws_move_no_further_than_the_price, "1, 1, 1"),
    ),
    "the smaller of both moves": Edit(
        RULES, "return largest([gain, traded(low[0], low[1])]) if replaced",
        "return min([gain, traded(low[0], low[1])]) if replaced",
        partial(probes.laws_move_no_further_than_the_price, "2, 1, 1"),
    ),
    "a trade is a gain twice, not the product": Edit(
        RULES, "    return from_log(log_r(a) + log_r(b))\n",
        "    return from_log((log_r(a) + log_r(b)) / 2)\n",
        partial(probes.laws_move_no_further_than_the_price, "1, 2, 1"),
    ),
    "a gamma function for its root": Edit(
        RULES, "- (ball(a).lgamma() + ball(a + 1).lgamma()) / 2\n",
        "- (ball(a).lgamma() + ball(a + 1).lgamma()) * 45 / 100\n",
        partial(probes.laws_move_no_further_than_the_price, "3, 5, 1"),
    ),
    "half of a count between two laws": Edit(
        RULES, "return ball(a + HALF).lgamma()", "return ball(a + HALF + HALF / 8).lgamma()",
        partial(probes.laws_move_no_further_than_the_price, "1, 1, 1"),
    ),
    "the coefficient squared": Edit(
        RULES, "squared = (1 - log_coefficient.min(arb(0)).exp()).upper()",
        "squared = (1 - (log_coefficient.min(arb(0)) / 2).exp()).upper()",
        partial(probes.laws_move_no_further_than_the_price, "1, 1, 1"),
    ),
    "an asserted distance is taken as it is": Edit(
        RULES, '        setting.enough(scale, derived, "the asserted sensitivity")\n', "",
        partial(LIED, probes.chosen(), _asserted("2/5")),
    ),
    "entering a choice without the factor epsilon": Edit(
        RULES, 'Node("mul", (const(epsilon), small))', "small",
        partial(
            LIED, probes.CHOSEN_IN_PIECES,
            lambda d: [
                part["sequence"][0].update(entering="1")
                for node in d["derivation"]["evidence"]["derivation"]["sequence"]
                if "parts" in node
                for part in node["parts"]["of"]
            ] and claimed(d, epsilon="2"),
        ),
    ),
    "candidates of a private number of records": Edit(
        RULES, "            scope.public(size) == NUMBER,\n",
        "            scope.private(size) == NUMBER,\n",
        partial(
            LIED, probes.chosen(),
            lambda d: release_of(d, 0)["args"][1][1].__setitem__(
                1, ["count", [["data", [["eq", [["field", [], [""]], ["const", [], ["a"]]], []],
                    number_of("1")], [[]]]], []],
            ),
        ),
    ),
    "a prior that a release chose": Edit(
        RULES, "    if len(numbers) < len(known):\n        reason = \"the prior's parameters",
        "    numbers = numbers or [Fraction(1)] * 2\n"
        "    if len(numbers) > 2 * len(known):\n        reason = \"the prior's parameters",
        partial(probes.refused, probes.chosen().replace(
            "    prior =", "    noisy = laplace(count(rows), epsilon=1)\n    prior ="
        ).replace("dirichlet(1, 1, 1)", "dirichlet(clip(noisy, 1 / 9, 1), 1, 1)")),
    ),
    "a choice by the distance itself, not minus it": Edit(
        RUN, "        return -min(int(2**BITS), round(",
        "        return min(int(2**BITS), round(", probes.scores_are_distances,
    ),
    "posteriors without their prior": Edit(
        RUN, "return tuple(a + c for a, c in zip(before, counts, strict=True)), ",
        "return tuple(c + 1 for a, c in zip(before, counts, strict=True)), ",
        probes.scores_are_distances,
    ),
    "the middle of two laws is one of them": Edit(
        RUN, "middle = [(x + y) / 2 for x, y in zip(a, b, strict=True)]",
        "middle = [(x + 2 * y) / 3 for x, y in zip(a, b, strict=True)]",
        probes.scores_are_distances,
    ),
    "a softmax with Laplace's scale": Edit(
        RUN, "return in_range(TWICE * self._scale(unit, slack))",
        "return in_range(self._scale(unit, slack))", probes.choices_are_hidden,
    ),
    "a softmax for the square of the distance": Edit(
        RUN,
        "return family, laws, posterior, calibration.choice(STEP, 2 * ERROR + extra)",
        "return family, laws, posterior, calibration.choice(2 * STEP, 2 * ERROR + extra)",
        probes.choices_are_hidden,
    ),
}  # fmt: skip

# -- records of several rows -----------------------------------------------------------------------

SHARED = 'shared = fold.op == "same" and fold.filter == TRUE and fold.value.op == "field"'
OF_ROWS: dict[str, Edit] = {
    "a person's rows are one row's": Edit(
        SOURCE, "min(least * low, most * low), max(least * high, most * high)",
        "min(least * low, low), max(least * high, high)",
        partial(probes.folds_are_plain, "sum(v.cost for v in p)"),
    ),
    "rows below 0 are counted once": Edit(
        SOURCE, "min(least * low, most * low), max(", "min(least * low, low), max(",
        partial(probes.folds_are_plain, "sum(v.cost for v in p)"),
    ),
    "a filter always lets a row in": Edit(
        SOURCE, "least = Fraction(0) if over.filter != TRUE else Fraction(1)",
        "least = Fraction(1)",
        partial(probes.folds_are_plain, "sum(10 - v.day for v in p if v.ill)"),
    ),
    "a default counts upwards only": Edit(
        SOURCE, "low, high = min(low, number), max(high, number)",
        "low, high = low, max(high, number)",
        partial(probes.folds_are_plain, "max((v.cost for v in p if v.ill), default=-5)"),
    ),
    "a filtered count has a row": Edit(
        SOURCE, "least = Fraction(1) if row_filter == TRUE else Fraction(0)",
        "least = Fraction(1)",
        partial(probes.folds_are_plain, "count(v for v in p if v.ill)"),
    ),
    "one row more counts": Edit(
        RUN, "places[order] < persons.most", "places[order] <= persons.most",
        probes.rows_beyond_do_not_count,
    ),
    "the last row is the first": Edit(
        RUN, 'key if fold.op == "first" else -key', 'key if fold.op == "last" else -key',
        partial(probes.folds_are_plain, 'p.last(by="day").cost'),
    ),
    "any is all": Edit(
        RUN, 'wrong = (numbers != 0) == (fold.op == "any")',
        'wrong = (numbers != 0) == (fold.op == "all")',
        partial(probes.folds_are_plain, "(1 if any(v.ill for v in p) else 0)"),
    ),
    "a mean of all persons' rows": Edit(
        RUN, 'rows = np.bincount(units, minlength=self.size) if fold.op == "mean" else 1',
        'rows = len(units) if fold.op == "mean" else 1',
        partial(probes.folds_are_plain, "sum(v.cost for v in p) / len(p)"),
    ),
    "no default where there is no row": Edit(
        RUN, "none = np.bincount(units, minlength=self.size) == 0",
        "none = np.bincount(units, minlength=self.size) < 0",
        partial(probes.folds_are_plain, "min((v.cost for v in p if v.ill), default=3)"),
    ),
    "told apart by any column": Edit(
        RULES, "require(key is None or key.public, reason, _STEP)",
        "require(key is None or not key.public or True, reason, _STEP)",
        partial(LIED, probes.totals("sum(v.cost for v in p)"), lambda d: (
            program_of(d)["persons"].update(by="day"),
            d.update(assumptions=[
                words.replace("'person'", "'day'") for words in d["assumptions"]
            ]),
        )),
    ),
    "the study counts a person's rows for itself": Edit(
        KERNEL, "counted = 1 if persons is None else persons.most", "counted = 1",
        partial(person_probes.found_out, person_probes.fewer_rows),
    ),
    "a record of the program's own": Edit(
        KERNEL, 'agree(body.unit, "row" if persons is None else persons.by, "unit", where)',
        'agree(body.unit, body.unit, "unit", where)',
        partial(person_probes.found_out, person_probes.another_record),
    ),
    "what a fold's filter reads is not read": Edit(
        "statements.program", "return frozenset().union(*map(columns_of, self.parts))",
        "return columns_of(self.value)",
        partial(person_probes.found_out, person_probes.reads_less),
    ),
    "a fold of some of the row's columns": Edit(
        RULES, "fold.reads <= set(rows)", "bool(fold.reads & set(rows))",
        partial(LIED, probes.totals("sum(v.cost for v in p)"), lambda d: fold(
            d, "sum of cost"
        ).__setitem__(3, ["add", [["field", [], ["cost"]], ["field", [], ["visits"]]], []])),
    ),
    "any fold is shared": Edit(
        RULES, SHARED, 'shared = fold.filter == TRUE and fold.value.op == "field"',
        partial(probes.known_lie, "a public column that is the last one"),
    ),
    "a shared column of some rows": Edit(
        RULES, SHARED, 'shared = fold.op == "same" and fold.value.op == "field"',
        partial(probes.known_lie, "a public column of some rows"),
    ),
    "a shared column that is private in rows": Edit(
        RULES, "shared and rows[str(fold.value.data[0])].public", "shared",
        partial(probes.known_lie, "a public column of a private one"),
    ),
    "a fold that reads other records": Edit(
        RULES, '*("const", "field", "add"', '*("const", "field", "public", "add"',
        partial(probes.known_lie, "a fold of all records"),
    ),
    "a column of a person is one of the table": Edit(
        RULES, "for kind in kinds) and program.persons is None", "for kind in kinds)",
        partial(LIED, probes.totals("sum(v.cost for v in p)"), lambda d: (
            claimed(d, kind="lipschitz", column="sum of cost", interval=["-4", "16"]),
        )),
    ),
    "one row's width for a person's": Edit(
        RULES, "(place if term.deciding <= context.public else place.or_zero()).width()",
        "(place if term.deciding <= context.public else place.or_zero()).width() / 2",
        partial(LIED, probes.totals("sum(v.cost for v in p)"), probes.less("laplace", "10")),
    ),
    "a row of a person is the person": Edit(
        "programs.check", 'bound = _least(setting, value, "l1", context)',
        'bound = _least(setting, Expr("div", (value, number(Fraction(2)))), "l1", context)',
        partial(probes.persons_are_hidden, "sum(v.cost for v in p)", 2),
    ),
}  # fmt: skip
