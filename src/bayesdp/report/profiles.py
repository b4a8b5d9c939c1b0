"""Every notion of privacy side by side, for people at a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console

from bayesdp.leakage.profile import Deltas, Profile
from bayesdp.notions import CATALOGUE
from bayesdp.report.layout import Cell, noted, say, show_table
from bayesdp.report.numbers import level_words, notion_level


def show_profile(console: Console, found: Profile, deltas: Deltas | None = None) -> None:
    """Each notion's level and what attains it; then what doesn't fit into the table."""
    show_table(
        console,
        "What this channel promises, exactly",
        ("notion", "level", "attained by"),
        [
            (_notion(key, found), notion_level(key, one.level, found.error), found.attained(one))
            for key, one in found.levels.items()
        ],
    )
    for line in _remarks(found, deltas):
        say(console, line)


def _notion(key: str, found: Profile) -> Cell:
    title = CATALOGUE[key].title  # type: ignore[index]
    return noted(key, f"{title}, {len(found.group)} records" if key == "group-dp" else title)


def _remarks(found: Profile, deltas: Deltas | None) -> Iterator[str]:
    replaced = "the worst of all values" if found.default is None else f"{list(found.default)}"
    yield (
        "Levels are in nats, except distances: changes of a probability, between 0 and 1. "
        f"The default that replaces a record in sp and bsp is {replaced}."
    )
    if not found.default_covers:
        yield (
            "The default is not possible beside every value of the other records: bsp says "
            "nothing about those, and implies no BDP level."
        )

    def shown(level: float) -> str:
        return level_words(level, found.error)

    sizes = ", ".join(shown(one.level) for one in found.group)
    yield f"Groups of 1 to {len(found.group)} records: {sizes}."
    yield (
        f"With x_S known, bsp is {shown(found.bsp_known.level)}; with the population's own "
        f"beliefs, mp is {shown(found.mp_of_prior.level)}."
    )
    if deltas is not None:
        levels = ", ".join(f"BDP {name} {shown(level)}" for name, level in deltas.bdp.items())
        at = level_words(deltas.epsilon)
        yield f"Delta at epsilon {at}: DP {shown(deltas.dp)}, {levels}."
