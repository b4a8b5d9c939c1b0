"""Random program files: models of every likelihood, searches, loops that stop, choices, quotients.

A text is a sequence of releases under random bounds and prices. Posteriors of noise are not drawn:
what costs is the release of `statistics(model)`. `Writer` writes one, `pairs` gives neighbouring
tables for it, and `loss` runs it on two of them: what was released in the first run is what comes
out in the second one too, so that later releases are compared at the same released values.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtr

from bayesdp.programs.check.checker import ProgramVerdict
from bayesdp.programs.ir import Program, Release
from bayesdp.programs.run import Machine, load
from tests.programs.run.helpers import Noted

Row = dict[str, Any]
SIZES = ("1", "2", "0.1", "0.75", "3.3", "12", "250", "0.007", "1000000")
PRICES = ("1", "0.5", "0.1", "0.3", "2", "0.07", "5")
POOLED = "partial_pooling(normal(0, sd=1), spread=1, by={by})"


class Writer:
    """A random program's text, and rows for its record."""

    def __init__(self, seed: object, *, removes: bool = False) -> None:
        """`seed` seeds the choices; `removes` says that records may enter and leave."""
        self.random = random.Random(str(seed))
        self.removes = removes
        self.names = 0
        below, above = self.random.choice(SIZES), self.random.choice(SIZES)
        self.bounds = {
            "x": self.random.choice([(f"-{below}", above), ("0", above), (f"-{below}", "0")]),
            "k": ("0", str(self.random.choice([1, 2, 4, 9, 30]))),
            "j": (str(self.random.choice([-5, -1, 0])), str(self.random.choice([1, 3]))),
            "t": ("0", self.random.choice(SIZES)),
            "w": self.random.choice([("0.5", "2"), ("0.1", "0.2"), ("-3", "-1"), ("1", "40")]),
        }

    def pick(self, *items: str) -> str:
        """Any of the texts."""
        return self.random.choice(items)

    def price(self) -> str:
        """A release's epsilon, as an argument."""
        return f"epsilon={self.pick(*PRICES)}"

    def noisy(self, value: str) -> str:
        """A release of a private value, or values, with noise of either kind."""
        if self.random.random() < 0.2:
            return f"gaussian({value}, {self.price()}, delta={self.pick('0.001', '0.0000001')})"
        return f"laplace({value}, {self.price()})"

    def name(self) -> str:
        """A name that is new."""
        self.names += 1
        return f"v{self.names}"

    def text(self, body: Sequence[str]) -> str:
        """The program of lines, which returns a noisy count last."""
        kinds = {
            name: f"{'Real' if name in 'xtw' else 'Int'}[{low}, {high}]"
            for name, (low, high) in self.bounds.items()
        }
        fields = "\n".join(f"    {name}: {kind}" for name, kind in kinds.items())
        option = '(adjacency="add-remove")' if self.removes else ""
        lines = "\n".join(f"    {line}" for line in body)
        return f"""
@record
class P:
{fields}
    b: Bool
    g: Category["a", "b", "c"]
    s: Public[Category["n", "m"]]
    z: Public[Bool]

@program{option}
def f(people: Database[P]) -> Private[Int]:
    shown = laplace(count(p for p in people if p.b), {self.price()})
    few = clip(shown, -1, 3)
{lines}
    return laplace(count(p for p in people if p.k > 0), {self.price()})
"""

    # -- rows ------------------------------------------------------------------------------------

    def number(self, depth: int = 1) -> str:
        """A number of a row: quotients by private columns and powers among them."""
        plain = self.pick("p.x", "p.k", "p.j", "p.t")
        if not depth or self.random.random() < 0.3:
            return plain
        inner, other = self.number(depth - 1), self.number(depth - 1)
        return self.pick(
            f"({inner}) / p.w",
            f"({inner}) / (1 + p.k)",
            f"({inner}) // max(p.k, 2)",
            f"({inner}) ** {self.pick('2', '3', '4')}",
            f"({inner}) * ({other})",
            f"({inner}) - ({other})",
            f"clip({inner}, {self.pick('-2', '0')}, {self.pick('1', '7.5')})",
            f"(({inner}) if {self.test()} else ({other}))",
            f"abs({inner})",
            f"few * ({plain})",
            f"1 / (p.w ** 2 + abs({plain}))",
        )

    def whole(self) -> str:
        """A whole number of a row, from 0."""
        return self.pick("p.k", "min(p.k, 3)", "p.k ** 2", "abs(p.j)", "p.k // 2", "p.k + p.b")

    def time(self) -> str:
        """A number of a row, from 0."""
        return self.pick("p.t", "p.k", "abs(p.x)", "p.t / abs(p.w)", "p.t ** 2", "min(p.t, 1)")

    def test(self) -> str:
        """A truth value of a row."""
        return self.pick("p.b", "p.x > 0", "p.k >= 2", 'p.g == "a"', "p.z", "p.x / p.w < 1")

    def public(self) -> str:
        """A filter that leaves the number of records public, or none."""
        return self.pick("", "", " if p.z", ' if p.s == "n"')

    def features(self) -> str:
        """One or two features of a regression, and perhaps a constant."""
        inner = [self.number(self.random.randint(0, 1)) for _ in range(self.random.randint(1, 2))]
        constant = self.pick("1", "0.5", "")
        parts = [*inner, constant] if constant else inner
        self.random.shuffle(parts)
        return ", ".join(parts)

    def total(self, *, single: bool = True) -> str:
        """A private number, `single` or with entries."""
        where = self.pick("", f" if {self.test()}", f" if p.k > 0 and {self.test()}")
        each = f"sum({self.number(2)} for p in people{where})"
        vector = [f"sum(onehot(p.g) for p in people{where})"]
        vector += [f"sum(onehot(p.g) * {self.number()} for p in people{where})"]
        vector += [f"sum(({self.number()}, {self.number()}) for p in people{where})"]
        return self.pick(
            each,
            each,
            f"count(p for p in people{where})",
            f"(few * {each})",
            f"({each} - 2 * sum(p.k for p in people))",
            *([] if single else vector),
        )

    # -- releases --------------------------------------------------------------------------------

    def model(self, likelihood: str) -> list[str]:
        """Noisy statistics of a model of this name."""
        rows, law, prior = self.parts(likelihood)
        lines = [f"m = observe(({rows} for p in people{self.public()}), {law}, prior={prior})"]
        return [*lines, f"{self.name()} = {self.noisy('statistics(m)')}"]

    def parts(self, likelihood: str) -> tuple[str, str, str]:
        """The rows, likelihood and prior of a model."""
        by = self.pick('"s"', '"z"')
        low = self.pick("-1", "0", "2.5")
        spread = self.pick("1", "0.2", "30")
        coefficients = f"normal(0, sd={spread})"
        failures = f"beta({self.pick('1', '0.5')}, 2)"
        match likelihood:
            case "logistic":
                return f"({self.features()}, {self.test()})", "logistic", coefficients
            case "poisson_regression":
                return f"({self.features()}, {self.whole()})", likelihood, coefficients
            case "linear_model":
                rows = f"({self.features()}, {self.number()})"
                return rows, f"linear_model(noise_sd={spread})", coefficients
            case "geometric":
                return self.whole(), "geometric", failures
            case "negative_binomial":
                return self.whole(), f"negative_binomial(r={self.pick('1', '3', '7')})", failures
            case "exponential_time":
                return self.time(), likelihood, f"gamma(2, rate={spread})"
            case "censored":
                rows = f"({self.time()}, {self.test()})"
                return rows, "exponential_time", f"gamma(2, rate={spread})"
            case "normal_inverse_gamma":
                return self.number(2), "normal", f"normal_inverse_gamma({low}, {spread}, 2, 3)"
            case "mixture":
                bins = self.pick("", ", bins=4", ", bins=7", ", bins=40")
                parts = self.pick("normal(sd=1), normal(sd=1)", "normal(sd=1), normal(sd=0.3)")
                return self.number(1), f"mixture({parts}{bins})", f"normal({low}, sd={spread})"
            case "pooled_shares":
                return self.test(), "bernoulli", POOLED.format(by=by)
            case "pooled_rates":
                rate = f"poisson(exposure={spread} * people.size)"
                return self.whole(), rate, POOLED.format(by=by)
            case "pooled_means":
                return self.number(), f"normal(sd={spread})", POOLED.format(by=by)
            case "exposures":
                law = f"categorical(exposure=({self.pick('4', '0.5')}, 2, 1))"
                return "p.g", law, "dirichlet(1, 1, 1)"
        raise AssertionError(likelihood)

    def quotient(self) -> list[str]:
        """A noisy sum, or sums: quotients and powers of private columns are among its numbers."""
        return [f"{self.name()} = {self.noisy(self.total(single=False))}"]

    def search(self) -> list[str]:
        """The first query above a threshold."""
        queries = self.pick(
            f"[{', '.join(self.total() for _ in range(self.random.randint(1, 4)))}]",
            f"(count(p for p in people if p.k >= a and {self.test()}) for a in (1, 2, 4))",
            f"(sum({self.number()} for p in people if p.k >= a) for a in (1, 3))",
            "sum(onehot(p.g) for p in people)",
        )
        level = self.pick("2", "few", "-0.3", "shown + 1")
        return [f"{self.name()} = above_threshold({queries}, threshold={level}, {self.price()})"]

    def loop(self) -> list[str]:
        """A loop that stops on what it released."""
        value = self.pick("a * {0}", "{0}", f"count(p for p in people if {self.test()}) - a")
        over = self.pick("(1, 2, 3)", "range(3)", "(0.5, 4)")
        limit, noisy = self.pick("1", "few", "-2"), self.name()
        return [
            f"for a in {over}:",
            f"    {noisy} = laplace({value.format(self.total())}, {self.price()})",
            f"    if {noisy} {self.pick('>', '<')} {limit}:",
            "        break",
        ]

    def choice(self) -> list[str]:
        """One of two private numbers: a released condition says which."""
        test = self.pick("shown > 1", "few < 2", "shown > 0 and few != 2", "shown + few >= 2")
        first, second = self.total(), self.pick(self.total(), "0", "7.5", "few")
        if self.random.random() < 0.3:
            first = f"({first} if few > 1 else {self.total()})"
        chosen = f"{first} if {test} else {second}"
        return [f"{self.name()} = laplace({chosen}, {self.price()})"]

    def side(self) -> list[str]:
        """Other releases on each side of a released condition."""
        sides = [self.pick_block(), self.pick_block()]
        then, otherwise = (["    " + line for line in side] for side in sides)
        return [f"if {self.pick('shown > 1', 'few <= 0')}:", *then, "else:", *otherwise]

    def several(self) -> list[str]:
        """Releases one after the other."""
        return [line for _ in range(self.random.randint(2, 4)) for line in self.pick_block()]

    def observed(self) -> list[str]:
        """A released sum is observed, and what is learnt of it steers the next release."""
        where = self.pick("", " if p.b", " if p.z")
        noisy, learnt = self.name(), self.name()
        cases = [
            ("onehot(p.g)", "p.g", "categorical", "dirichlet(1, 1, 1)"),
            ("onehot(p.b)", "p.b", "categorical", "dirichlet(1, 2)"),
            ("p.k", "p.k", "poisson(exposure=3)", "gamma(1, rate=2)"),
            ("p.b", "p.b", "bernoulli", "beta(1, 1)"),
            ("p.x", "p.x", "normal(sd=2)", "normal(0, sd=1)"),
        ]  # of the last two without a number of records that is known no sum is the statistic
        value, row, law, prior = self.random.choice(cases[:3] if self.removes else cases)
        if law in ("bernoulli", "normal(sd=2)"):
            where = self.pick("", " if p.z")
        value = f"sum({value} for p in people{{0}})"
        rows = f"({row} for p in people{self.pick('', ' if p.b', ' if p.z')})"
        learns = f"{learnt} = plug_in(observe({noisy}, {law}, prior={prior}))"
        first = f"{noisy}[0] / 2" if law == "categorical" else f"{learnt}.mean"
        after = self.random.choice(
            [
                f"laplace({self.total()} if {first} > 0.4 else {self.total()}, {self.price()})",
                f"laplace(clip({first}, 0, 2) * {self.total()}, {self.price()})",
                f"above_threshold([{self.total()}], threshold={first}, {self.price()})",
                f"laplace(statistics(observe({rows}, {law}, prior={learnt})), {self.price()})",
            ]
        )
        return [
            f"{noisy} = laplace({value.format(where)}, {self.price()})",
            learns,
            f"{self.name()} = {after}",
        ]

    def pick_block(self) -> list[str]:
        """The lines of any release."""
        if self.removes or self.random.random() < 0.5:
            return self.block(self.pick(*STEPS))
        return self.model(self.pick(*LIKELIHOODS))

    def block(self, kind: str) -> list[str]:
        """The lines of a kind in `LIKELIHOODS`, `STEPS` or `BRANCHES`."""
        if kind in LIKELIHOODS:
            return self.model(kind)
        return (STEPS | BRANCHES)[kind](self)

    # -- tables ----------------------------------------------------------------------------------

    def row(self) -> Row:
        """A record: mostly at the ends of its bounds."""
        row: Row = {}
        for name, (low, high) in self.bounds.items():
            a, b = float(low), float(high)
            inside = self.random.uniform(a, b)
            value = self.random.choice([a, b, a, b, min(max(0.0, a), b), inside])
            row[name] = value if name in "xtw" else round(value)
        row |= {"b": self.random.random() < 0.6, "g": self.random.choice("abc")}
        return row | {"s": self.random.choice("nnm"), "z": self.random.random() < 0.7}

    def pairs(self, many: int) -> Iterator[tuple[list[Row], list[Row]]]:
        """Neighbouring tables, `many` pairs of them."""
        for _ in range(many):
            rows = [self.row() for _ in range(self.random.randint(1, 4))]
            other = self.row()
            if self.removes:
                yield rows, [*rows, other]
            else:
                other |= {name: rows[0][name] for name in "sz"}
                yield rows, [other, *rows[1:]]


LIKELIHOODS = (
    "logistic", "poisson_regression", "linear_model", "geometric", "negative_binomial",
    "exponential_time", "censored", "normal_inverse_gamma", "mixture", "pooled_shares",
    "pooled_rates", "pooled_means", "exposures",
)  # fmt: skip
STEPS: dict[str, Callable[[Writer], list[str]]] = {
    "quotient": Writer.quotient,
    "search": Writer.search,
    "loop": Writer.loop,
    "choice": Writer.choice,
    "observed": Writer.observed,
}
BRANCHES: dict[str, Callable[[Writer], list[str]]] = {
    "side": Writer.side,
    "several": Writer.several,
}


# -- how far two tables are told apart ---------------------------------------------------------


@dataclass
class Scripted(Noted):
    """Comes out with what is written down; where nothing is, with random noise, written down."""

    random: random.Random = field(default_factory=random.Random)
    script: list[list[int]] = field(default_factory=list)
    releases: list[Release] = field(default_factory=list)
    now: Release | None = None

    def laplace(self, values: Sequence[int], scale: float) -> Sequence[int]:
        return self._come_out("laplace", values, scale)

    def gaussian(self, values: Sequence[int], scale: float) -> Sequence[int]:
        return self._come_out("gaussian", values, scale)

    def _come_out(self, kind: str, values: Sequence[int], scale: float) -> Sequence[int]:
        at = len(self.seen)
        self.seen.append((kind, tuple(values), scale))
        assert self.now is not None
        self.releases.append(self.now)
        if at == len(self.script):
            reach = max(1, int(self.random.choice([0.1, 1.0, 3.0]) * scale))
            self.script.append([value + self.random.randint(-reach, reach) for value in values])
        return self.script[at]


class Marked(Machine):
    """Tells the sampler for which release it draws."""

    samplers: Scripted

    def release(self, release: Release, node: Any) -> Any:
        self.samplers.now = release
        return super().release(release, node)


def loss(
    core: Program, verdict: ProgramVerdict, pair: tuple[list[Row], list[Row]], seed: object
) -> Fraction:
    """How far a run tells two tables apart at most, at random outcomes that are the same for both.

    `core` is the accepted program, `verdict` what was said of it, `pair` has two tables, and `seed`
    is for the outcomes. A search costs what its queries move over the threshold's scale and twice
    over their own (theory 8.5); Gaussian noise its price, unless its delta is exceeded, which is
    asserted. The scales, grids and values that are released are the same.
    """
    script: list[list[int]] = []
    runs = []
    for rows in pair:
        drawn = Scripted(random=random.Random(str(seed)), script=script)
        machine = Marked(core, verdict, load(core, rows), drawn)
        machine.run()
        runs.append((drawn, machine))
    (first, here), (second, there) = runs
    assert here.released == there.released
    assert here.added == there.added
    assert first.releases == second.releases
    total, of_threshold = Fraction(0), Fraction(0)
    calls = zip(first.releases, first.seen, second.seen, strict=True)
    for release, (kind, a, scale), (_, b, other) in calls:
        assert scale == other
        moves = [abs(x - y) for x, y in zip(a, b, strict=True)]
        if kind == "gaussian":
            dp_epsilon, dp_delta = (
                here.values.number(dict(release.options)[name]) for name in ("epsilon", "delta")
            )
            assert gaussian_delta(moves, scale, float(dp_epsilon)) <= float(dp_delta) * (1 + 1e-6)
            total += dp_epsilon if any(moves) else 0
        elif release.op != "above-threshold":
            total += sum(moves) / Fraction(scale)
        elif not of_threshold:
            assert a == b == (0,)
            of_threshold = Fraction(scale)
        else:
            total += max(moves) / of_threshold + 2 * max(moves) / Fraction(scale)
            of_threshold = Fraction(0)
    return total


def gaussian_delta(moves: Sequence[int], scale: float, dp_epsilon: float) -> float:
    """The least delta at an epsilon: of the discrete law where its steps are few, else the normal.

    `moves` are in steps, `scale` is the standard deviation in steps, and `dp_epsilon` the price.
    The loss at noise x is the sum of (m^2 - 2 m x) / (2 scale^2), so that it is a law of one sum.
    """
    moved = [move for move in moves if move]
    if not moved:
        return 0.0
    reach = int(12 * scale) + 2
    if reach * sum(moved) <= 50_000:
        at = np.arange(-reach, reach + 1)
        chances = np.exp(-(at**2) / (2 * scale**2))
        law = np.ones(1)
        for move in moved:
            spaced = np.zeros(2 * reach * move + 1)
            spaced[::move] = chances / chances.sum()
            law = np.convolve(law, spaced)
        sums = np.arange(len(law)) - len(law) // 2
        losses = (sum(move**2 for move in moved) - 2 * sums) / (2 * scale**2)
        return float((law * -np.expm1(np.minimum(dp_epsilon - losses, 0))).sum())
    a = float(np.sqrt(sum(float(move) ** 2 for move in moved))) / scale
    below = np.exp(dp_epsilon + log_ndtr(-a / 2 - dp_epsilon / a))
    return float(ndtr(a / 2 - dp_epsilon / a) - below)
