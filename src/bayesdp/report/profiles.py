"""Every notion of privacy side by side, for people at a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console

from bayesdp.leakage.profile import Deltas, Profile
from bayesdp.notions import CATALOGUE, NotionKey
from bayesdp.report.layout import TableCell, noted, say, show_table
from bayesdp.report.numbers import level_words, notion_level


def show_profile(console: Console, profile: Profile, deltas: Deltas | None = None) -> None:
    """Print each notion's level and what attains it; then the rest, and `deltas` if given."""
    show_table(
        console,
        "What this channel promises, exactly",
        ("notion", "level", "attained by"),
        [
            (
                _notion(key, profile),
                notion_level(key, attained.level, profile.error),
                profile.attained(attained),
            )
            for key, attained in profile.levels.items()
        ],
    )
    for line in _remarks(profile, deltas):
        say(console, line)


def _notion(key: NotionKey, profile: Profile) -> TableCell:
    title = CATALOGUE[key].title
    return noted(key, f"{title}, {len(profile.group)} records" if key == "group-dp" else title)


def _remarks(profile: Profile, deltas: Deltas | None) -> Iterator[str]:
    replaced = "the worst of all values" if profile.default is None else f"{list(profile.default)}"
    yield (
        "Levels are in nats, except distances: changes of a probability, between 0 and 1. "
        f"The default that replaces a record in sp and bsp is {replaced}."
    )
    if not profile.default_covers:
        yield (
            "The default is not possible beside every value of the other records: bsp says "
            "nothing about those, and implies no BDP level."
        )

    def shown(level: float) -> str:
        return level_words(level, profile.error)

    sizes = ", ".join(shown(attained.level) for attained in profile.group)
    yield f"Groups of 1 to {len(profile.group)} records: {sizes}."
    yield (
        f"With x_S known, bsp is {shown(profile.bsp_known.level)}; with the population's own "
        f"beliefs, mp is {shown(profile.mp_of_prior.level)}."
    )
    if deltas is not None:
        levels = ", ".join(f"BDP {name} {shown(level)}" for name, level in deltas.bdp.items())
        at = level_words(deltas.epsilon)
        yield f"Delta at epsilon {at}: DP {shown(deltas.dp)}, {levels}."
