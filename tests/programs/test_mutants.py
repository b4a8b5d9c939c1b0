"""Programs with tokens lost, swapped or replaced: always a verdict, never a traceback.

What is still accepted means in Python what its representation says.
"""

from __future__ import annotations

import ast
import io
import random
import tokenize
from contextlib import suppress

import pytest

from bayesdp.programs.check.verdict import ProgramVerdict
from bayesdp.programs.source import CODES, ProgramError, read_text
from bayesdp.programs.surface_names import BUILTINS, SURFACE
from bayesdp.programs.verdicts import refused, verdict_in
from tests.effort import runs
from tests.golden.corpus import ACCEPTED, REFUSED
from tests.programs.test_meaning import compare

SLOW = {"several_steps_unrolled", "doubling_helpers", "fold_that_grows", "endless_range"}
TEXTS = [
    example.text
    for example in (*ACCEPTED, *REFUSED)
    for _ in range(10 if example.accepted else 1)
    if example.name not in SLOW
]
OTHERS = (
    *(
        "0",
        "1",
        "-1",
        "1e400",
        "1j",
        "None",
        "True",
        "...",
        "''",
        '"f"',
        "()",
        "(1, 2)",
        "[]",
        "{}",
    ),
    *(
        "not",
        "and",
        "or",
        "if",
        "else",
        "for",
        "in",
        "lambda x:",
        "*",
        "**",
        "+",
        "-",
        "/",
        "//",
        "%",
    ),
    *("==", "<", ".size", ".__class__", "[0]", "[1:]", "(", ")", ",", ":", "=", ":=", "@", "yield"),
    *sorted(SURFACE),
    *sorted(BUILTINS),
)


def verdict_on(text: str) -> ProgramVerdict:
    try:
        return verdict_in(read_text(text))
    except ProgramError as error:
        return refused(error, None)


def told(text: str) -> ProgramVerdict | None:
    """The verdict; None where the file has no program, or more than one."""
    try:
        source = read_text(text)
    except ProgramError:
        return verdict_on(text)
    if len(source.programs) != 1:
        return None
    return verdict_on(text)


def tokens(text: str) -> list[str]:
    return [
        one.string
        for one in tokenize.generate_tokens(io.StringIO(text).readline)
        if one.string.strip() and one.type != tokenize.COMMENT
    ]


def with_tokens_changed(text: str, rng: random.Random) -> str:
    """Between one and three changes in the text of a program."""
    for _ in range(rng.randint(1, 3)):
        try:
            found = tokens(text)
        except (tokenize.TokenError, SyntaxError):
            return text
        start = max(text.find("@program"), 0) if rng.random() < 0.9 else 0
        inside = [one for one in found if text.find(one, start) >= 0]
        if not inside:
            return text
        one, other = rng.choice(inside), rng.choice([*inside, *rng.choices(OTHERS, k=20)])
        at = rng.choice([i for i in range(start, len(text)) if text.startswith(one, i)])
        new = rng.choice(["", other, f"{one} {other}", f"{other}({one})"])
        text = text[:at] + new + text[at + len(one) :]
    return text


def with_nodes_changed(text: str, rng: random.Random) -> str:
    """Expressions replaced by other expressions: most of it is still Python."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return text
    body = [one for one in tree.body if isinstance(one, ast.FunctionDef)]
    places = [
        (node, name, i)
        for function in body
        for statement in function.body
        for node in ast.walk(statement)
        for name, value in ast.iter_fields(node)
        for i, one in enumerate(value if isinstance(value, list) else [value])
        if isinstance(one, ast.expr)
    ]
    if not places:
        return text
    pool = [one for part in body for one in ast.walk(part) if isinstance(one, ast.expr)]
    for _ in range(rng.randint(1, 2)):
        node, name, i = rng.choice(places)
        old = getattr(node, name)
        there = getattr(node, name)
        now = there[i] if isinstance(there, list) else there
        alike = [one for one in pool if type(one) is type(now)]
        new = rng.choice(alike if rng.random() < 0.6 and alike else pool)
        if rng.random() < 0.1:
            new = ast.Name(rng.choice(sorted(SURFACE | BUILTINS)), ast.Load())
        if rng.random() < 0.1:
            new = ast.Call(ast.Name(rng.choice(sorted(SURFACE | BUILTINS))), [new], [])
        if isinstance(old, list):
            old[i] = new
        else:
            setattr(node, name, new)
    try:
        return ast.unparse(ast.fix_missing_locations(tree))
    except (ValueError, RecursionError, TypeError, AttributeError):
        return text


@pytest.mark.prove
@pytest.mark.parametrize("change", [with_tokens_changed, with_nodes_changed])
@pytest.mark.parametrize("seed", range(8))
def test_a_changed_program_has_a_verdict(change, seed: int) -> None:
    rng = random.Random(f"{change.__name__} {seed}")
    accepted = 0
    for _ in range(runs(600)):
        text = change(rng.choice(TEXTS), rng)
        try:
            found = told(text)
        except Exception as error:
            raise AssertionError(f"{type(error).__name__}: {error}\n{text}") from error
        if found is None:
            continue
        if found.verdict == "ACCEPTED":
            accepted += 1
            # Where it has no meaning in Python itself, there is nothing to compare.
            with suppress(NameError, TypeError, AttributeError):
                compare(text, rng, rng.randint(2, 5))
            continue
        assert found.verdict in ("REJECTED", "UNKNOWN")
        assert found.code in CODES
        assert found.reason
        assert found.line is not None, text
    assert accepted or change is with_tokens_changed
