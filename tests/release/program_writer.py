"""Random program files for studies: of rows, of parts of wide rows, of persons, and of series.

Texts are those of `tests.programs.random_texts`, with columns of the study's table, and where
persons are records with folds of their rows in the place of a row's columns. Cells are mostly those
that have most to go wrong: at the ends of bounds and beyond, codes of missing values, texts that
are no state.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from tests.programs.random_texts import LIKELIHOODS, STEPS, Row, Writer
from tests.programs.run.helpers import IMPORTS

Spec = dict[str, Any]

FOLDS: dict[str, Sequence[str]] = {
    "x": (
        "sum(v.x for v in p)",
        "sum(v.x for v in p if v.b)",
        "max(v.x for v in p)",
        "min((v.x for v in p if v.k > 0), default=0)",
        'p.last(by="k").x',
        "(sum(v.x for v in p) / len(p))",
        "sum(v.x * v.j for v in p)",
    ),
    "k": (
        "sum(v.k for v in p)",
        "max(v.k for v in p)",
        'p.first(by="x").k',
        "len(p)",
        "count(v for v in p if v.b)",
        "max((v.k for v in p if v.b), default=0)",
    ),
    "j": ("sum(v.j for v in p)", "min(v.j for v in p)", 'p.last(by="t").j'),
    "t": ("sum(v.t for v in p)", "(sum(v.t for v in p) / len(p))", "max(v.t for v in p)"),
    "w": ("(sum(v.w for v in p) / len(p))", 'p.last(by="j").w', "max(v.w for v in p)"),
    "b": ("any(v.b for v in p)", "all(v.b for v in p)", "any(v.x > 0 for v in p)"),
    "g": ('p.last(by="j").g', 'p.first(by="t").g'),
}
"""What stands for a column of a row where a record is a person, `p`: as many signs and kinds."""
NAMES = "xkjtwbg"
LABELS = "abc"


class StudyWriter(Writer):
    """A random program file for a study, its columns, and rows of its table.

    With `most`, a record is a person, of whom at most so many rows count; the number is random.
    `series` says that the rows are in public places of public series.
    """

    def __init__(self, seed: object, most: int | None = None, *, series: bool = False) -> None:
        super().__init__(seed)
        self.most = None if most is None else self.random.randint(1, most)
        self.series = series
        self.derived = self.random.random() < 0.3
        self.around = {name: self.random.choice([0.5, 1.0, 2.0]) for name in "xkjtw"}

    def text(self, body: Sequence[str]) -> str:
        """The program file: of rows as `Writer` has it, or of persons with folds."""
        made = super().text(body)
        places = '    q: Public[Category["l", "r"]]\n    m: Public[Int[0, 99]]\n'
        made = made.replace("    z: Public[Bool]\n", "    z: Public[Bool]\n" + places)
        if self.most is None:
            return IMPORTS + made
        head, lines = made.split("-> Private[Int]:\n")
        head = head.replace("f(people:", "f(rows:")
        grouped = f'    people = group_by(rows, by="who", most={self.most})\n'
        folded = re.sub(rf"\bp\.([{NAMES}])\b", lambda m: self.pick(*FOLDS[m[1]]), lines)
        return f"{IMPORTS}{head}-> Private[Int]:\n{grouped}{folded}"

    # -- releases that `Writer` has none of ------------------------------------------------------

    def chosen(self) -> list[str]:
        """A number, chosen by a noisy score."""
        middle = self.pick("people.size / 2", "few", "sum(p.k for p in people)")
        score = self.pick(
            f"-abs(count(p for p in people if {self.number(0)} <= c) - {middle})",
            f"-abs({self.total()} - c)",
            f"clip(c, 0, 1) * {self.total()}",
        )
        candidates = self.pick("linspace(-2, 3, 6)", "(0, 1)", "range(0, 9)")
        options = f"score=lambda c: {score}, candidates={candidates}, {self.price()}"
        return [f"{self.name()} = exponential({options})"]

    def answers(self) -> list[str]:
        """An answer of each record."""
        rows = f"({{}} for p in people{self.public()})"
        asked = rows.format(self.pick(self.test(), "p.b", "p.g"))
        numbers = rows.format(self.number(0))
        options = "score=lambda x, c: -abs(x - c), candidates=linspace(-1, 3, 5)"
        return [
            f"{self.name()} = "
            + self.pick(
                f"randomized_response({asked}, {self.price()})",
                f"per_record_exponential({numbers}, {options}, {self.price()})",
            )
        ]

    def drawn(self) -> list[str]:
        """A draw from a posterior."""
        model = f"observe(({self.pick('p.b', self.test())} for p in people), bernoulli, "
        options = "grid=linspace(0.1, 0.9, 9), log_likelihood=(-3, 0), power=1 / 4"
        return [f"{self.name()} = posterior_sample({model}prior=beta(1, 1)), {options})"]

    def pieces(self) -> list[str]:
        """Releases about the pieces of a public column."""
        value = self.pick(f"sum({self.number()} for p in piece)", "count(p for p in piece if p.b)")
        noisy = self.name()
        return [
            f"for label, piece in partition(people, by={self.pick(*BY)}):",
            f"    {noisy} = {self.noisy(value)}",
        ]

    def transitions(self) -> list[str]:
        """How often which state follows which."""
        counts = f'transition_counts(people.g, order="m"{self.pick("", OF_Q)})'
        value = self.pick(counts, f"few * {counts}", f"{counts}[1]")
        return [f"{self.name()} = {self.noisy(value)}"]

    def block(self, kind: str) -> list[str]:
        """The lines of a kind in `KINDS`."""
        return KINDS[kind](self) if kind in KINDS else super().block(kind)

    # -- the table -------------------------------------------------------------------------------

    def columns(self) -> Spec:
        """How the study declares its columns: bounds beside the program's own, codes, states."""
        made: Spec = {}
        for name, (low, high) in self.bounds.items():
            below, above = float(low), float(high)
            if name in "xt" and above - below > 1e-3:  # wider or narrower, on either side
                above = below + (above - below) * self.around[name]
            if name == "k":
                above = max(1, round(above * self.around[name]))
            made[name] = {"bounds": [below, max(above, below + 1e-3)]}
        made["k"]["missing"] = {"codes": [-9], "impute": made["k"]["bounds"][1]}
        made["x"]["missing"] = {"impute": made["x"]["bounds"][0]}
        made["b"] = {"states": [False, True]}
        made["g"] = {"states": list(LABELS), "other": "c"}
        made["s"] = {"public": True, "states": ["n", "m"]}
        made["z"] = {"public": True, "states": [False, True]}
        if self.derived:
            made["high"] = {"from": "x", "where": "x > 0"}
        if self.series:
            made["q"] = {"public": True, "states": ["l", "r"]}
            made["m"] = {"public": True}
        return made

    def fields(self) -> dict[str, str]:
        """The columns that stand for fields of other names."""
        return {"b": "high"} if self.derived else {}

    def cells(self) -> Row:
        """The private cells of a row."""
        columns, row = self.columns(), {}
        for name, (low, high) in self.bounds.items():
            a, b = float(low), float(high)
            ends = [a, b, *columns[name]["bounds"], a - 7, b + 1e9, min(max(0.0, a), b)]
            if name in "xtw":
                row[name] = self.random.choice([*ends, self.random.uniform(a, b)])
            else:
                row[name] = round(self.random.choice(ends))
        row["k"] = self.random.choice([row["k"], row["k"], row["k"], -9])
        row["x"] = self.random.choice([row["x"], row["x"], row["x"], row["x"], None])
        row["b"] = self.random.random() < 0.6
        row["g"] = self.random.choice(["a", "b", "c", "zz", "a "])
        return row


BY = ('"s"', '"z"')
OF_Q = ', by="q"'
KINDS: dict[str, Callable[[Any], list[str]]] = {
    "chosen": StudyWriter.chosen,
    "answers": StudyWriter.answers,
    "drawn": StudyWriter.drawn,
    "pieces": StudyWriter.pieces,
    "transitions": StudyWriter.transitions,
}
ALL = (*(kind for kind in STEPS if kind not in KINDS), *KINDS, "side", "several", *LIKELIHOODS)
