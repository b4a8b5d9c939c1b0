"""A name says what it holds, and means one thing.

*Empty names.* `one`, `found` and `told` say nothing about what they hold: no room binds them, nor
do tests, benchmarks and tools. A reader of `row.level` knows what is meant, a reader of `one.level`
has to look it up. Counted is each place that binds such a name: assignments, loops, comprehensions,
arguments, `with`, `except`, `import`, `match`, functions and classes. `of` is empty too, but for
methods and declared fields: the class of `Cost.of` says what is made.

*Shared names.* A class or a type alias has a name that no other module of the package gives to
another. The two rooms that say things again are counted for themselves: `statements`, where a
`MarkovChain` is what is said of the population of that name, and the `kernel`, which reads
statements on its own.

Read from the text of the files; nothing is imported.

    python tools/check_names.py            # what `make check` runs
    python tools/check_names.py report     # the room `report` alone
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "bayesdp"
BESIDE = ("tests", "benchmarks", "tools")
"""The folders beside the package whose names are looked at too."""
EMPTY = frozenset({"one", "found", "of", "told", "same_one"})
"""Names that fit every value, and so name none."""
MEMBERS = frozenset({"of"})
"""Those that a class may give to a method or a field: its own name says of what."""

SAYING_AGAIN = frozenset({"statements", "kernel"})
"""The rooms that share names with the others on purpose."""


def bindings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and the name of each binding of an empty name."""
    members = {id(member) for node in ast.walk(tree) for member in _members(node)}
    for node in ast.walk(tree):
        name = _bound(node)
        if name in EMPTY and not (name in MEMBERS and id(node) in members):
            yield getattr(node, "lineno", 0), name


def _members(node: ast.AST) -> Iterator[ast.AST]:
    """What binds the methods and the declared fields of a class."""
    for part in node.body if isinstance(node, ast.ClassDef) else []:
        yield part.target if isinstance(part, ast.AnnAssign) else part


def _bound(node: ast.AST) -> str | None:
    """The name that a node binds by itself."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()):
            return name
        case ast.Attribute(attr=name, ctx=ast.Store()):
            return name
        case ast.arg(arg=name):
            return name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.ExceptHandler(name=name) | ast.MatchAs(name=name) | ast.MatchStar(name=name):
            return name
        case ast.MatchMapping(rest=name):
            return name
        case ast.alias(name=whole, asname=name):
            return name or whole.partition(".")[0]
    return None


def bindings_of(package: Path, place: str = "") -> list[str]:
    """The bindings in a folder or a file of the package, each with its file and line."""
    start = package / place
    files = [start] if start.is_file() else sorted(start.rglob("*.py"))
    return [
        f"{file.relative_to(package).as_posix()}:{line} binds {name!r}"
        for file in files
        for line, name in sorted(bindings(ast.parse(file.read_text(encoding="utf-8"))))
    ]


def shared_names(package: Path) -> list[str]:
    """The names that several modules give to classes or type aliases of theirs."""
    modules: dict[tuple[str, str], list[str]] = {}
    for file in sorted(package.rglob("*.py")):
        module = file.relative_to(package)
        side = module.parts[0] if module.parts[0] in SAYING_AGAIN else ""
        for name in dict.fromkeys(_types(ast.parse(file.read_text(encoding="utf-8")))):
            modules.setdefault((side, name), []).append(module.as_posix())
    return [
        f"{name!r} is the name of several things, in {', '.join(where)}"
        for (_, name), where in sorted(modules.items())
        if len(where) > 1
    ]


def _types(tree: ast.Module) -> Iterator[str]:
    """The names of a module's public classes and type aliases: words that begin with a capital."""
    for node in tree.body:
        match node:
            case ast.ClassDef(name=name) if not name.startswith("_"):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                if name[0].isupper() and not name.isupper():
                    yield name


def main(places: list[str]) -> int:
    """Print every empty name in these rooms, or in all and beside them, and all shared names.

    The answer is 1 if there is any, else 0.
    """
    advice = "name the thing (`row`, `term`, `command`, `bound`)"
    bound = [line for place in places or [""] for line in bindings_of(PACKAGE, place)]
    bound += [line for place in BESIDE if not places for line in bindings_of(ROOT, place)]
    lines = [f"{line}: {advice}" for line in bound]
    lines += shared_names(PACKAGE)
    print("\n".join(lines) or "every name says what it holds, and means one thing")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
