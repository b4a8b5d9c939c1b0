"""The names `one` and `found` say nothing about what they hold: no room binds them.

A reader of `row.level` knows what is meant, a reader of `one.level` has to look it up. Counted is
each place that binds such a name: assignments, loops, comprehensions, arguments, `with`, `except`,
`import`, `match`, functions and classes. Read from the text of the files; nothing is imported.

    python tools/check_names.py            # what `make check` runs
    python tools/check_names.py report     # the room `report` alone
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "bayesdp"
EMPTY = frozenset({"one", "found"})
"""Names that fit every value, and so name none."""


def bindings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and the name of each binding of an empty name."""
    for node in ast.walk(tree):
        name = _bound(node)
        if name in EMPTY:
            yield getattr(node, "lineno", 0), name


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


def main(places: list[str]) -> int:
    """Print every binding in these places, or in the whole package; 1 if there is any."""
    lines = [line for place in places or [""] for line in bindings_of(PACKAGE, place)]
    advice = "name the thing (`row`, `term`, `command`, `bound`)"
    print("\n".join(f"{line}: {advice}" for line in lines) or "every name says what it holds")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
