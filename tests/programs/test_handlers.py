"""The table of the language is complete, and its files import each other one way."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import bayesdp.programs.source
from bayesdp.programs import language_names as names
from bayesdp.programs.source import ProgramError, core_of, read_text
from bayesdp.programs.source.handlers import HANDLERS
from bayesdp.programs.source.syntax.whitelist import ALLOWED

FOLDER = Path(bayesdp.programs.source.__file__).parent
ROOM = "bayesdp.programs.source"
PATHS = {
    ".".join((ROOM, *path.relative_to(FOLDER).with_suffix("").parts)).removesuffix(
        ".__init__"
    ): path
    for path in FOLDER.rglob("*.py")
}
MODULES = set(PATHS)


def test_every_function_of_the_language_has_a_handler_and_nothing_else_has() -> None:
    functions = {*names.DATA, *names.FUNCTIONS, *names.MODEL, *names.RELEASES}
    functions |= {*names.CANDIDATES, *names.AFTER}
    assert set(HANDLERS.calls) == functions | names.BUILTINS


@pytest.mark.parametrize(
    ("base", "table", "elsewhere"),
    [
        (ast.expr, HANDLERS.expressions, set()),
        (ast.stmt, HANDLERS.statements, {ast.FunctionDef}),  # read with the file
    ],
)
def test_all_syntax_that_is_allowed_has_a_handler(
    base: type[ast.AST], table: dict[type[ast.AST], object], elsewhere: set[type[ast.AST]]
) -> None:
    assert {kind for kind in ALLOWED if issubclass(kind, base)} == set(table) | elsewhere


def imports(path: Path) -> set[str]:
    """The files of the room that a file imports, inside functions and for types as well."""
    files: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith(f"{ROOM}."):
            modules = {f"{node.module}.{alias.name}" for alias in node.names} & MODULES
            files |= modules or {str(node.module)}
        elif isinstance(node, ast.Import):
            assert not any(alias.name.startswith(ROOM) for alias in node.names)
    return files


def test_no_file_imports_itself_on_any_way() -> None:
    graph = {name: imports(path) for name, path in PATHS.items()}
    assert all(files <= set(graph) for files in graph.values())
    assert all(ROOM not in files for files in graph.values())
    while graph:
        last = {name for name, files in graph.items() if not files & set(graph)}
        assert last, f"these import each other: {sorted(graph)}"
        graph = {name: files for name, files in graph.items() if name not in last}


@pytest.mark.parametrize("row", ["self", "more", "names", "target", "node"])
def test_a_row_may_have_any_name(row: str) -> None:
    text = (
        "from bayesdp.programs import Bool, Database, Int, Private, laplace, program\n\n\n"
        "@program\n"
        "def ill(people: Database[Bool]) -> Private[Int]:\n"
        f"    return laplace(sum({row} for {row} in people), epsilon=1)\n"
    )
    assert len(core_of(read_text(text), None, {}).body) == 1


def refusal_of(body: str, returns: str) -> str:
    text = (
        "from bayesdp.programs import Bool, Database, Int, Private, Real, laplace, program, "
        f"require\n\n\n@program\ndef f(obs: Database[Bool]) -> Private[{returns}]:\n{body}"
    )
    try:
        core_of(read_text(text), None, {})
    except ProgramError as error:
        return error.diagnostic.code
    return ""


NOISY = "    return laplace(sum(obs), epsilon=1)\n"


@pytest.mark.parametrize(
    ("body", "returns", "code"),
    [
        ("    return laplace(sum(obs), epsilon=1) + 2\n", "Int", ""),
        ("    return laplace(sum(obs), epsilon=1) / 2\n", "Int", "type"),
        ("    if obs.size > 9:\n        x = 1\n    require(obs.size > 1)\n" + NOISY, "Int", ""),
        ("    if obs.size > 9:\n        require(obs.size > 1)\n" + NOISY, "Int", "construct"),
        ("    for k in range(6000):\n        pass\n        pass\n" + NOISY, "Int", ""),
        ("    for k in range(6000):\n" + "        pass\n" * 3 + NOISY, "Int", "size"),
        ("    x: Real\n" + NOISY, "Int", "construct"),
        ("    y = sum(x for x in (1, 2))\n    z = x\n" + NOISY, "Int", "name"),
    ],
    ids=[
        "sum",
        "quotient",
        "after a branch",
        "in a branch",
        "18,000 steps",
        "24,000 steps",
        "no value",
        "name of a generator",
    ],
)
def test_what_is_carried_along(body: str, returns: str, code: str) -> None:
    """Types of quotients, depth in branches, steps of unrolling, names of generators."""
    assert refusal_of(body, returns) == code


@pytest.mark.parametrize("parameters", ["t=1", "*t", "**t", "t, /", "*, t"])
def test_lambdas_have_plain_parameters(parameters: str) -> None:
    score = (
        "from bayesdp.programs import Database, Private, Real, exponential, linspace, program\n\n\n"
        "@program\n"
        "def f(obs: Database[Real[0, 9]]) -> Private[Real]:\n"
        "    return exponential(score=lambda t: -abs(sum(min(x, t) for x in obs)), "
        "candidates=linspace(0, 9, 4), epsilon=1)\n"
    )
    assert core_of(read_text(score), None, {}).name == "f"
    with pytest.raises(ProgramError, match="A score's lambda has plain parameters only"):
        core_of(read_text(score.replace("lambda t:", f"lambda {parameters}:")), None, {})
    rule = (
        "from bayesdp.programs import Database, Int, Private, chances, hypotheses, laplace, "
        "observe, program\n\n\n"
        "@program\n"
        "def f(obs: Database[Int[0, 1]]) -> Private[Int]:\n"
        "    prior = hypotheses((0.2, 0.7))\n"
        "    model = observe(obs, chances(lambda p, t: p if t == 1 else 1 - p), prior=prior)\n"
        "    return laplace(sum(obs), epsilon=1)\n"
    )
    core_of(read_text(rule), None, {})
    with pytest.raises(ProgramError, match="A lambda of chances has plain parameters only"):
        core_of(read_text(rule.replace("lambda p, t:", f"lambda {parameters}:")), None, {})
