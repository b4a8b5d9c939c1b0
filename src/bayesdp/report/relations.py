"""What follows from given levels of notions, for people at a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console

from bayesdp.notions.catalogue import notion_of
from bayesdp.report.layout import TableCell, item, noted, say, show_table
from bayesdp.report.numbers import notion_level, rough


def show_implications(console: Console, document: Mapping[str, Any]) -> None:
    """Print the notions that follow, their promises, and what would follow with more declared."""
    show_table(
        console,
        "What follows",
        ("notion", "level", "published", "by"),
        [_row(row) for row in document["implied"]],
    )
    for row in document["implied"]:
        say(console, f"{row['notion']}: {row['in_words']}")
    for line in _parameters(document):
        say(console, line)
    if document["needs"]:
        say(console, "")
        say(console, "With more declared (--assume) or given:")
    for need in document["needs"]:
        level = "" if need["level"] is None else f" {notion_level(need['notion'], need['level'])}"
        item(
            console,
            f"{need['notion']}{level} needs {' and '.join(need['needs'])} "
            f"(by {', '.join(need['path'])})",
        )


def _row(row: Mapping[str, Any]) -> tuple[TableCell, ...]:
    sharper = row["published"] is None or row["published"] > row["level"] * (1 + 1e-9)
    return (
        row["notion"],
        notion_level(row["notion"], row["level"]),
        _published(row) if sharper and row["path"] else "",
        noted("\n".join(_named(step) for step in row["path"]) or "given", _bases(row["path"])),
    )


def _parameters(document: Mapping[str, Any]) -> Iterator[str]:
    """The parameters of the notions shown: the default record, the size of groups."""
    notions = {row["notion"] for part in ("implied", "needs") for row in document[part]}
    if notions & {"sp", "bsp"}:
        yield (
            f"The default record of sp and bsp is {rough(document['default'])} (--default): for "
            "another one their levels may differ."
        )
    if "group-dp" in notions:
        yield f"The groups of group-dp are of {document['size']} records (--size)."


def _published(row: Mapping[str, Any]) -> str:
    """The literature's constant; nothing is said at the largest level of a notion."""
    level = row["published"]
    if level is None or level >= notion_of(row["notion"]).largest:
        return "nothing"
    return notion_level(row["notion"], level)


def _named(step: Mapping[str, Any]) -> str:
    return f"{step['relation']}" + (f" ({step['theorem']})" if "theorem" in step else "")


def _bases(path: list[Mapping[str, Any]]) -> str:
    """The hypotheses that the path rests on, as words; empty if there are none."""
    bases: dict[str, str] = {}
    for step in path:
        bases |= {hypothesis["name"]: hypothesis["basis"] for hypothesis in step["hypotheses"]}
    named = ", ".join(f"{name} ({basis})" for name, basis in bases.items())
    return f"rests on {named}" if named else ""
