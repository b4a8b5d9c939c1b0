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

from bayesdp.programs.check.checker import ProgramVerdict
from bayesdp.programs.checked_files import refused, verdict_in
from bayesdp.programs.language_names import BUILTINS, SURFACE
from bayesdp.programs.source import CODES, ProgramError, read_text
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


def verdict_of(text: str) -> ProgramVerdict | None:
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
        generate_token.string
        for generate_token in tokenize.generate_tokens(io.StringIO(text).readline)
        if generate_token.string.strip() and generate_token.type != tokenize.COMMENT
    ]


def with_tokens_changed(text: str, rng: random.Random) -> str:
    """Between one and three changes in the text of a program."""
    for _ in range(rng.randint(1, 3)):
        try:
            actual = tokens(text)
        except (tokenize.TokenError, SyntaxError):
            return text
        start = max(text.find("@program"), 0) if rng.random() < 0.9 else 0
        inside = [case for case in actual if text.find(case, start) >= 0]
        if not inside:
            return text
        item, other = rng.choice(inside), rng.choice([*inside, *rng.choices(OTHERS, k=20)])
        at = rng.choice([i for i in range(start, len(text)) if text.startswith(item, i)])
        new = rng.choice(["", other, f"{item} {other}", f"{other}({item})"])
        text = text[:at] + new + text[at + len(item) :]
    return text


def with_nodes_changed(text: str, rng: random.Random) -> str:
    """Expressions replaced by other expressions: most of it is still Python."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return text
    body = [statement for statement in tree.body if isinstance(statement, ast.FunctionDef)]
    places = [
        (node, name, i)
        for function in body
        for statement in function.body
        for node in ast.walk(statement)
        for name, value in ast.iter_fields(node)
        for i, item in enumerate(value if isinstance(value, list) else [value])
        if isinstance(item, ast.expr)
    ]
    if not places:
        return text
    pool = [node for part in body for node in ast.walk(part) if isinstance(node, ast.expr)]
    for _ in range(rng.randint(1, 2)):
        node, name, i = rng.choice(places)
        old = getattr(node, name)
        there = getattr(node, name)
        now = there[i] if isinstance(there, list) else there
        alike = [item for item in pool if type(item) is type(now)]
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
            actual = verdict_of(text)
        except Exception as error:
            raise AssertionError(f"{type(error).__name__}: {error}\n{text}") from error
        if actual is None:
            continue
        if actual.verdict == "ACCEPTED":
            accepted += 1
            # Where it has no meaning in Python itself, there is nothing to compare.
            with suppress(NameError, TypeError, AttributeError):
                compare(text, rng, rng.randint(2, 5))
            continue
        assert actual.verdict in ("REJECTED", "UNKNOWN")
        assert actual.code in CODES
        assert actual.reason
        assert actual.line is not None, text
    assert accepted or change is with_tokens_changed
