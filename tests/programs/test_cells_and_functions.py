"""Numbers in cells and functions of numbers: random programs through the interpreter, near misses.

What a program is accepted for is held against what it does: neighbouring tables are run, and the
steps that noise is added to never differ by more than the scale that the sampler is given. What
functions make of released values is run at draws that never happen: no accepted program stops.
"""

from __future__ import annotations

import random
from fractions import Fraction as F

import pytest

from bayesdp.programs.check.checker import check
from bayesdp.programs.checked_files import verdict_in
from bayesdp.programs.falsify import falsify
from bayesdp.programs.ir import Program
from bayesdp.programs.source import core_of, read_text
from bayesdp.programs.source.syntax.diagnostics import ProgramError
from bayesdp.programs.verdict import ProgramVerdict
from tests.effort import runs
from tests.programs.run.helpers import IMPORTS, Noted, done, seen

RECORD = """
@record
class R:
    x: Real[-2, 8]
    w: Real[1, 5]
    k: Int[-3, 9]
    b: Bool
    c: Category["u", "v", "w"]
    p: Public[Category["n", "s"]]
    z: Public[Int[0, 3]]
"""
TEXT = (
    RECORD
    + """
@program{options}
def f(db: Database[R]) -> Private[{returns}]:
{body}
"""
)
ENTERING = '(adjacency="add-remove")'
X, W, K = (-2.0, -0.3, 0.0, 3.0, 8.0), (1.0, 2.5, 5.0), (-3, -1, 0, 4, 9)


def judged(text: str) -> tuple[Program, ProgramVerdict] | str:
    """The program and its verdict, or the code of its refusal."""
    try:
        core = core_of(read_text(IMPORTS + text, "random"), None, {})
    except ProgramError as error:
        return error.diagnostic.code
    verdict = check(core)
    if verdict.verdict != "ACCEPTED":
        return verdict.code or verdict.verdict
    return core, verdict


# -- random programs -------------------------------------------------------------------------------


def row_number(rng: random.Random, depth: int) -> str:
    """A number of a row, that may have functions in it, in or out of their domains."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(["r.x", "r.w", "r.k", "r.w", "r.z", str(rng.randint(-2, 4)), "0.3"])
    inner = row_number(rng, depth - 1)
    other = row_number(rng, depth - 1)
    return rng.choice(
        [
            f"floor({inner})",
            f"round({inner})",
            f"({inner}) // {rng.choice(['2', '0.3', '(r.z + 1)'])}",
            f"sqrt(abs({inner}))",
            f"sqrt({inner})",
            f"log(max({inner}, {rng.choice(['1', '0.01'])}))",
            f"log({inner})",
            f"exp(clip({inner}, -1, 2))",
            f"({inner}) * ({other})",
            f"({inner}) - ({other})",
            f"min({inner}, {other})",
            f"(({inner}) if r.b else ({other}))",
            f"(({inner}) if r.k in (0, 4) else 0)",
        ]
    )


def cells_of(rng: random.Random) -> tuple[str, int]:
    """A vector with a one, private or public, and its length."""
    return rng.choice(
        [
            ("onehot(r.c)", 3),
            ("onehot(r.p)", 2),
            ("onehot(cross(r.c, r.p))", 6),
            ("onehot(r.z, 4)", 4),
            ("onehot(clip(r.k // 4, 0, 2), 3)", 3),
            ("onehot(1 if r.b else 0, 2)", 2),
            ("onehot(min(max(round(r.w / 2), 0), 3), 4)", 4),
        ]
    )


def random_sum(rng: random.Random) -> str:
    """The body of a program that releases a sum of functions, or numbers in cells."""
    kept = rng.choice(["", "", " if r.b", " if r.k in (0, 4)", ' if r.p == "n"', " if r.x > 0"])
    number = row_number(rng, rng.randint(1, 3))
    op = rng.choice(["laplace", "laplace", "gaussian"])
    cost = "epsilon=1" if op == "laplace" else "epsilon=1, delta=1e-6"
    if rng.random() < 0.4:
        return f"    return {op}(sum({number} for r in db{kept}), {cost})"
    cells, many = cells_of(rng)
    product = rng.choice([f"{cells} * ({number})", f"({number}) * {cells}"])
    lines = [f"    v = sum({product} for r in db{kept})"]
    chosen = rng.sample(range(many), rng.randint(1, many))
    if rng.random() < 0.4:
        entries = "v"
    else:
        parts = [f"v[{i}] * {rng.choice(['1', '3', '-2', '(1 / 5)'])}" for i in chosen]
        if rng.random() < 0.3:
            parts.append(f"sum(({number}) for r in db{kept})")
        entries = f"({', '.join(parts)},)"
    lines.append(f"    return {op}({entries}, {cost})")
    return "\n".join(lines)


def random_record(rng: random.Random, like: dict[str, object] | None = None) -> dict[str, object]:
    """A record; with `like`, one with its public columns."""
    return {
        "x": rng.choice(X), "w": rng.choice(W), "k": rng.choice(K), "b": rng.random() < 0.6,
        "c": rng.choice("uvw"),
        "p": rng.choice("ns") if like is None else like["p"],
        "z": rng.randint(0, 3) if like is None else like["z"],
    }  # fmt: skip


def moves(core: Program, verdict: ProgramVerdict, tables: list[list[dict[str, object]]]) -> F:
    """What the steps of two tables differ by, over the scale of what they may differ by.

    For Laplace noise the sum of absolute differences. Gaussian noise for a move of 1, epsilon 1 and
    delta 1e-6 has a sigma above 3, so three times the root of the sum of squares is compared.
    """
    drawn = [seen(core, verdict, table) for table in tables]
    if not any(drawn):
        return F(0)  # nothing can move, so no noise is added
    (kind, first, scale), (_, second, other) = (some[0] for some in drawn)
    assert scale == other  # the scale tells nothing of the rows
    apart = [abs(a - b) for a, b in zip(first, second, strict=True)]
    if kind == "laplace":
        return F(sum(apart)) / F(scale)
    return F(sum(a * a for a in apart)) * 9 / F(scale) ** 2


@pytest.mark.parametrize("options", ["", ENTERING], ids=["replaced", "entering"])
def test_random_programs_never_move_by_more_than_their_noise_hides(options: str) -> None:
    rng, ran, cells, wanted = random.Random(71 if options else 70), 0, 0, runs(400, 15)
    for _ in range(40 * wanted):
        if ran >= wanted:
            break
        text = TEXT.format(options=options, body=random_sum(rng), returns="Vector")
        actual = judged(text)
        if isinstance(actual, str):
            actual = judged(text.replace("Private[Vector]", "Private[Real]"))
        if isinstance(actual, str):
            continue
        core, verdict = actual
        ran, cells = ran + 1, cells + ("onehot" in text)
        for _ in range(12):
            rest = [random_record(rng) for _ in range(rng.randint(0, 2))]
            record = random_record(rng)
            near = [] if options else [random_record(rng, record)]
            if not rest and not near:
                rest = [random_record(rng)]
            assert moves(core, verdict, [[*rest, record], [*rest, *near]]) <= 1, text
        assert not falsify(core, verdict, n_max=1, most_pairs=40).excess, text
    assert ran == wanted
    assert cells > wanted / 5


def released_number(rng: random.Random, depth: int) -> str:
    """A number that is made of released ones, in or out of the functions' domains."""
    if depth == 0:
        return rng.choice(["a", "n", "db.size", "3", "0.25", "a / 2"])
    inner, other = released_number(rng, depth - 1), released_number(rng, depth - 1)
    return rng.choice(
        [
            f"sqrt({inner})", f"sqrt(max({inner}, 0))", f"sqrt(abs({inner}))",
            f"log({inner})", f"log(max({inner}, 1))", f"log(max({inner}, {other}, 0.5))",
            f"exp({inner})", f"exp(clip({inner}, 0, 7))", f"exp(min({inner}, 0))",
            f"exp(clip({inner}, -700, 700))",
            f"lgamma(max({inner}, 0.1))", f"lgamma({inner})",
            f"round({inner})", f"floor({inner})", f"({inner}) // 3", f"({inner}) // ({other})",
            f"({inner}) // max({other}, 1)", f"({inner}) / max(abs({other}), 1)",
            f"({inner}) - ({other})", f"({inner}) * ({other})", f"min({inner}, {other})",
            f"(({inner}) if n > 2 else ({other}))",
        ]
    )  # fmt: skip


SHIFTS = (0, 1, -1, -7, 40, -(2**40), 2**40, 2**61, -(2**61))


def test_no_accepted_function_of_released_values_stops_at_any_draw() -> None:
    """Also where its value is a factor, a threshold or a prior of what is released next."""
    rng, ran, refused, wanted = random.Random(5), 0, 0, runs(400, 15)
    table = [random_record(rng) for _ in range(4)]
    after = [
        "    return {number}",
        "    return laplace(sum(r.x for r in db) * clip({number}, -2, 3), epsilon=1)",
        "    return laplace(count(r for r in db if r.x > {number}), epsilon=1)",
        "    model = observe((r.b for r in db), bernoulli, prior=beta(max({number}, 1), 2))\n"
        "    return plug_in(laplace(statistics(model), epsilon=1)).mean",
        "    return exponential(score=lambda t: -abs(count(r for r in db if r.x <= t) - 2), "
        "candidates=linspace(0, 1, clip(round({number}), 2, 9)), epsilon=1)",
    ]
    for _ in range(60 * wanted):
        if ran >= wanted:
            break
        number = released_number(rng, rng.randint(1, 3))
        body = (
            "    a = laplace(sum(r.x for r in db), epsilon=1)\n"
            "    n = laplace(count(r for r in db if r.b), epsilon=1)\n"
            + rng.choice(after).format(number=number)
        )
        text = TEXT.format(options="", body=body, returns="Real")
        actual = judged(text)
        if isinstance(actual, str):
            refused += 1
            assert actual != "kernel", text
            continue
        core, verdict = actual
        ran += 1
        assert verdict.dp_epsilon in (2, 3)
        for shift in rng.sample(SHIFTS, 4):
            result = done(core, verdict, table, Noted(shift=shift))
            assert isinstance(result.value, int | float)
    assert ran == wanted
    assert refused > 0


def test_a_released_lgamma_in_a_row_has_its_value() -> None:
    """It was accepted, paid for, and then not known to what evaluates rows."""
    rows = [{**random_record(random.Random(3)), "x": x} for x in (1.7, 1.8, 6.0)]
    # The sum is 9.5, and lgamma(9.5) is 11.7; lgamma(4) is 1.79.
    for number, above in (("a", 0), ("a - 9", 2)):
        body = (
            "    a = laplace(sum(r.x for r in db), epsilon=1)\n"
            f"    return laplace(count(r for r in db if r.x > lgamma(max({number}, 4))), epsilon=1)"
        )
        actual = judged(TEXT.format(options="", body=body, returns="Int"))
        assert not isinstance(actual, str)
        assert done(*actual, rows, Noted()).value == above


def test_factors_of_released_values_scale_the_noise() -> None:
    """Whatever was released before: the move is the factor's, and the noise is for all of it."""
    for factor in (
        "sqrt(max(a, 0))", "exp(clip(a / 9, -2, 2))", "log(max(a, 1))", "round(a / 2)", "a // 2",
        "floor(sqrt(abs(a)))",
    ):  # fmt: skip
        body = (
            "    a = laplace(sum(r.w for r in db), epsilon=1)\n"
            f"    return laplace(sum(r.x for r in db) * clip({factor}, -4, 5), epsilon=1)"
        )
        actual = judged(TEXT.format(options="", body=body, returns="Real"))
        assert not isinstance(actual, str), actual
        core, verdict = actual
        for shift in (-50, 0, 3, 2000):
            noted = []
            for x in (-2.0, 8.0):
                record = {**random_record(random.Random(1)), "x": x, "w": 2.0}
                noted.append(Noted(shift=shift))
                done(core, verdict, [record, random_record(random.Random(2))], noted[-1])
            (_, (first,), scale), (_, (second,), other) = (item.seen[1] for item in noted)
            assert scale == other
            assert abs(first - second) <= scale


# -- near misses -----------------------------------------------------------------------------------

CELLS = {
    # What is asserted or declared, and the least that is true.
    "one cell's width": (
        "laplace(sum(onehot(r.c) * r.x for r in db), epsilon=1, sensitivity=8)",
        "sensitivity",
        16,
    ),
    "the interval's width": (
        "laplace(sum(onehot(r.c) * r.x for r in db), epsilon=1, sensitivity=10)",
        "sensitivity",
        16,
    ),
    "a hair below": (
        "laplace(sum(onehot(r.c) * r.x for r in db), epsilon=1, sensitivity=15.999)",
        "sensitivity",
        16,
    ),
    "public cells, of both signs": (
        "laplace(sum(onehot(r.p) * r.x for r in db), epsilon=1, sensitivity=8)",
        "sensitivity",
        10,
    ),
    "public cells that a private filter leaves": (
        "laplace(sum(onehot(r.p) * (r.x + 4) for r in db if r.b), epsilon=1, sensitivity=10)",
        "sensitivity",
        12,
    ),
    "the lighter of two factors": (
        "laplace((v[0] * 3, v[1]), epsilon=1, sensitivity=30)",
        "sensitivity",
        32,
    ),
    "a factor below 0": (
        "laplace((v[0] * (-3), v[1]), epsilon=1, sensitivity=30)",
        "sensitivity",
        32,
    ),
    "one cell twice": ("laplace((v[0], v[0]), epsilon=1, sensitivity=16)", "sensitivity", 20),
    "cells beside their sum": (
        "laplace((v[0], v[1], v[2], sum(r.x for r in db)), epsilon=1, sensitivity=16)",
        "sensitivity",
        24,
    ),
    "two tables": (
        "laplace((v[0], sum(onehot(r.p) * r.x for r in db)[0]), epsilon=1, sensitivity=16)",
        "sensitivity",
        18,
    ),
    "numbers that follow the cell": (
        "laplace(sum(onehot(r.c) * (r.w if r.c == 'u' else 0 - r.w) for r in db), epsilon=1, "
        "sensitivity=9)",
        "sensitivity",
        10,
    ),
    "a vector of numbers in the cells": (
        "laplace(sum(onehot(r.c) * (r.x, r.w, r.x) for r in db), epsilon=1, sensitivity=8)",
        "nonlinear",
        None,
    ),
    "a private weight": ("laplace(v * sum(r.x for r in db), epsilon=1)", "nonlinear", None),
    "a cell chosen by private data": (
        "laplace(v[count(r for r in db if r.b)], epsilon=1)",
        "",
        None,
    ),
    "Gaussian noise for one entry": (
        "gaussian(sum(onehot(r.c) * r.x for r in db), epsilon=1, delta=1e-5, sigma=30)",
        "noise",
        None,
    ),
}
FUNCTIONS = {
    "a root of a sum": ("laplace(sqrt(sum(r.w for r in db)), epsilon=1)", "nonlinear", None),
    "a logarithm of a count": ("laplace(log(count(r for r in db if r.b)), epsilon=1)", "", None),
    "an exponential of a sum": ("laplace(exp(sum(r.w for r in db)), epsilon=1)", "", None),
    "a rounded sum": ("laplace(round(sum(r.x for r in db)), epsilon=1)", "nonlinear", None),
    "a whole division of a sum": ("laplace(sum(r.x for r in db) // 2, epsilon=1)", "", None),
    "a sum in a logarithm's bound": (
        "laplace(sum(log(max(r.w, sum(q.w for q in db))) for r in db), epsilon=1)", "", None),
    "a logarithm near 0": (
        "laplace(sum(log(r.w / 100) for r in db), epsilon=1, sensitivity=1.6)", "sensitivity",
        None),
    "a logarithm of a number that may be 0": (
        "laplace(sum(log(r.z) for r in db), epsilon=1)", "bounds", None),
    "a logarithm of a number below 0": (
        "laplace(sum(log(r.x) for r in db), epsilon=1)", "bounds", None),
    "a root below 0": ("laplace(sum(sqrt(r.x) for r in db), epsilon=1)", "bounds", None),
    "an exponential beyond doubles": (
        "laplace(sum(exp(r.w * 200) for r in db), epsilon=1)", "bounds", None),
    "the width of a half, rounded": (
        "laplace(sum(round(r.w / 2) for r in db), epsilon=1, sensitivity=1)", "sensitivity", 2),
    "a whole division, its width over the divisor": (
        "laplace(sum(r.x // 3 for r in db), epsilon=1, sensitivity=2)", "sensitivity", 3),
    "a division by a column that may be 0": (
        "laplace(sum(r.x // r.z for r in db), epsilon=1)", "division", None),
    "a division by a private column that may be 0": (
        "laplace(sum(r.w // r.x for r in db), epsilon=1)", "", None),
    "a filter that changes where a logarithm lies": (
        "laplace(sum(log(r.w) + 1 for r in db if r.b), epsilon=1, sensitivity=1.7)",
        "sensitivity", None),
    "an exponent's width": (
        "laplace(sum(exp(r.w / 5) for r in db), epsilon=1, sensitivity=1)", "sensitivity", None),
    "a root of a released number": (
        "laplace(sum(r.w for r in db) * sqrt(a), epsilon=1)", "bounds", None),
    "a logarithm of a released number": (
        "laplace(count(r for r in db if r.x > log(a)), epsilon=1)", "bounds", None),
    "a released exponent without an end": (
        "laplace(count(r for r in db if r.x > exp(a)), epsilon=1)", "bounds", None),
    "a factor without an end": (
        "laplace(sum(r.w for r in db) * log(max(a, 1)), epsilon=1, sensitivity=40)", "", None),
    "an epsilon made of a sum": ("laplace(sum(r.w for r in db), epsilon=exp(count(db) - count(r "
                                 "for r in db if r.b)))", "", None),
}  # fmt: skip


@pytest.mark.parametrize("name", [*CELLS, *FUNCTIONS])
def test_near_misses_are_refused(name: str) -> None:
    release, code, least = (CELLS | FUNCTIONS)[name]
    body = (
        "    a = laplace(sum(r.x for r in db), epsilon=1)\n"
        "    v = sum(onehot(r.c) * r.x for r in db)\n"
        f"    return {release}"
    )
    for returns in ("Real", "Vector"):
        text = TEXT.format(options="", body=body, returns=returns)
        verdict = verdict_in(read_text(IMPORTS + text, "near"), None, None, {})
        assert verdict.verdict == "REJECTED", verdict
        if code and verdict.code != "annotation":
            assert verdict.code in (code, "type"), verdict
    if least is None:
        return
    # With what is true it is accepted: that is how near it is.
    said = release.split("sensitivity=")[1].rstrip(")")
    mended = text.replace(f"sensitivity={said}", f"sensitivity={max(least, 1) * 4}")
    actual = judged(mended)
    if isinstance(actual, str):
        actual = judged(mended.replace("Private[Vector]", "Private[Real]"))
    assert not isinstance(actual, str), actual
    node = actual[1].derivation["sequence"][1]
    assert F(node["sensitivity"]["value"][2][0]["number"]) >= least
