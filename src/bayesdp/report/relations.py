"""What follows from given levels of notions, for people at a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import ROUND_CEILING, Decimal
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bayesdp.notions.catalogue import notion_of


def level_words(notion: str, level: float | None) -> str:
    """A level, rounded up, with its unit where it is no number of nats."""
    if level is None:
        return "?"
    if level == 0.0:
        return "0"
    exact = Decimal(level)
    unit = Decimal(1).scaleb(exact.adjusted() - 5)
    shown = _plain(exact.quantize(unit, ROUND_CEILING))
    return shown + (" (distance)" if notion_of(notion).unit == "probability" else "")


def _plain(value: Decimal) -> str:
    """Without an exponent, where the number is of a usual size."""
    short = value.normalize()
    return f"{short:f}" if -6 <= short.adjusted() < 9 else f"{short:e}"


def show_implications(console: Console, document: Mapping[str, Any]) -> None:
    """The notions that follow, what they promise, and what would follow with more declared."""
    table = Table(title="What follows", title_justify="left", title_style="bold", header_style="")
    table.add_column("notion", no_wrap=True)
    for column in ("level", "published", "by", "rests on"):
        table.add_column(column, overflow="fold")
    for one in document["implied"]:
        sharper = one["published"] is None or one["published"] > one["level"] * (1 + 1e-9)
        table.add_row(
            one["notion"],
            level_words(one["notion"], one["level"]),
            _published(one) if sharper and one["path"] else "",
            escape("\n".join(_named(step) for step in one["path"]) or "given"),
            escape("\n".join(_bases(one["path"]))),
        )
    console.print(table)
    for one in document["implied"]:
        console.print(f"{one['notion']}: {one['in_words']}", highlight=False, markup=False)
    for line in _parameters(document):
        console.print(line, highlight=False, markup=False)
    if document["needs"]:
        console.print("\nWith more declared (--assume) or given:", highlight=False)
    for need in document["needs"]:
        level = "" if need["level"] is None else f" {level_words(need['notion'], need['level'])}"
        console.print(
            f"  {need['notion']}{level} needs {' and '.join(need['needs'])} "
            f"(by {', '.join(need['path'])})",
            highlight=False,
            markup=False,
        )


def _parameters(document: Mapping[str, Any]) -> Iterator[str]:
    """What the notions speak of that have a parameter."""
    shown = {one["notion"] for part in ("implied", "needs") for one in document[part]}
    if shown & {"sp", "bsp"}:
        yield (
            f"The default record of sp and bsp is {document['default']:g} (--default): for another "
            "one their levels may differ."
        )
    if "group-dp" in shown:
        yield f"The groups of group-dp are of {document['size']} records (--size)."


def _published(one: Mapping[str, Any]) -> str:
    """The literature's constant; nothing is said at the largest level of a notion."""
    level = one["published"]
    if level is None or level >= notion_of(one["notion"]).largest:
        return "nothing"
    return level_words(one["notion"], level)


def _named(step: Mapping[str, Any]) -> str:
    return f"{step['relation']}" + (f" ({step['theorem']})" if "theorem" in step else "")


def _bases(path: list[Mapping[str, Any]]) -> list[str]:
    found: dict[str, str] = {}
    for step in path:
        found |= {each["name"]: each["basis"] for each in step["hypotheses"]}
    return [f"{name} ({basis})" for name, basis in found.items()]
