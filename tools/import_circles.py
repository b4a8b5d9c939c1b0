"""Circles of imports in the package: those inside functions, and for types alone, count as well.

A circle is a set of modules of which each imports the others, directly or through others. Read from
the text of the files; nothing is imported.

    python tools/import_circles.py            # all circles, with the imports that make them
    python tools/import_circles.py tables     # those that some module of bayesdp.tables is part of
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src"

Graph = Mapping[str, Mapping[str, int]]
"""For each module those that it imports, with the first line that does so."""


def import_graph(source: Path, package: str = "bayesdp") -> dict[str, dict[str, int]]:
    """Who imports whom in a package."""
    files = {}
    for file in sorted((source / package).rglob("*.py")):
        parts = file.relative_to(source).with_suffix("").parts
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    graph: dict[str, dict[str, int]] = {}
    for module, file in files.items():
        tree = ast.parse(file.read_text(encoding="utf-8"))
        here = module if file.stem == "__init__" else module.rpartition(".")[0]
        graph[module] = {}
        for node in ast.walk(tree):
            for name in _imported(node, here, files):
                if name != module:
                    graph[module].setdefault(name, node.lineno)  # type: ignore[attr-defined]  # an import has one
    return graph


def _imported(node: ast.AST, here: str, modules: Mapping[str, Path]) -> Iterator[str]:
    """The modules that a statement imports; `here` is the package that dots start from."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in modules)
    elif isinstance(node, ast.ImportFrom):
        parents = here.split(".")[: len(here.split(".")) - node.level + 1] if node.level else []
        base = ".".join([*parents, *([node.module] if node.module else [])])
        for alias in node.names:
            inner = f"{base}.{alias.name}"
            if inner in modules or base in modules:
                yield inner if inner in modules else base


def circles(graph: Graph) -> list[list[str]]:
    """The largest sets of modules in which each reaches each other, sorted."""
    reached = {module: _reached(graph, module) for module in graph}
    together = {
        frozenset(other for other in reached[module] if module in reached[other])
        for module in graph
        if module in reached[module]
    }
    return sorted(map(sorted, together))


def _reached(graph: Graph, start: str) -> set[str]:
    """Every module that a module imports, directly or not."""
    seen: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            waiting += graph[module]
    return seen


def circles_of(room: str, graph: Graph) -> list[list[str]]:
    """The circles that some module of a room is part of."""
    prefix = f"bayesdp.{room}"
    return [
        circle
        for circle in circles(graph)
        if any(f"{module}.".startswith(f"{prefix}.") for module in circle)
    ]


def main(rooms: list[str]) -> int:
    """Print the circles of these rooms, or all; 1 if there are any."""
    graph = import_graph(SOURCE)
    shown = [circle for room in rooms for circle in circles_of(room, graph)]
    shown = shown if rooms else circles(graph)
    for circle in shown:
        print(f"{len(circle)} modules import one another:")
        for module in circle:
            for other, line in graph[module].items():
                if other in circle:
                    print(f"  {module}:{line} imports {other}")
    return 1 if shown else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
