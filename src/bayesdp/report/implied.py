"""A certificate of what follows from given levels of notions, in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bayesdp.notions.catalogue import NotionClaim, ScopeKind, notion_of
from bayesdp.numbers import UpperBound
from bayesdp.report import dependence
from bayesdp.report.dependence import clean
from bayesdp.report.fine_print import CHECK, trusted
from bayesdp.report.numbers import notion_level
from bayesdp.report.passages import status_section
from bayesdp.report.phrases import Section, SectionsAndFacts
from bayesdp.report.promise import PromiseStatus

RULE = "relations"


def follows(document: Mapping[str, Any], status: PromiseStatus) -> SectionsAndFacts:
    """The sections and facts of a certificate of implied levels.

    Levels that follow are rounded up, given ones are as they stand. A malformed document raises
    what reading it raises.
    """
    body, population = document["claim"], document["population"]
    premises = list(dict.fromkeys(_given(document["derivation"])))
    size = body["parameters"]["size"]
    about = "the one that the given levels are about" if population is None else ""
    claimed = "What follows" + ("" if status.holds else " (claimed only)")
    sections = (
        status_section(status, described=population is not None),
        Section(
            "given",
            "From what",
            ("This is about any program or release that has, as somebody says,",),
            items=tuple(f"{_title(notion)}, at the level {level!r}" for notion, level in premises),
        ),
        Section(
            "follows",
            claimed,
            ("Then it also has",),
            items=tuple(_claim(claim, size, about) for claim in body["claims"]),
        ),
        *_related(population),
        trusted([clean(assumption, 500) for assumption in document["assumptions"]]),
        Section("check", "How to check it", (CHECK,)),
    )
    facts = {
        "subject": RULE,
        "verdict": status.verdict,
        "step": status.step,
        "reason": status.reason,
        "given": [{"notion": notion, "level": level} for notion, level in premises],
        "claims": [
            {"notion": claim["notion"], "level": claim["level"]} for claim in body["claims"]
        ],
        "population": None if population is None else population["model"],
        "assumptions": list(document["assumptions"]),
    }
    return sections, facts


def _title(notion: str) -> str:
    return f"{notion_of(notion).title} [{notion}]"


def _claim(claim: Mapping[str, Any], size: int, about: str) -> str:
    notion, level = notion_of(claim["notion"]), float(claim["level"])
    scope: ScopeKind = "all" if not notion.relative else "population"
    sized = size if "size" in notion.parameters else None
    whose = about if notion.relative else ""
    words = NotionClaim(notion.key, level, scope, whose, size=sized).in_words()
    return f"{_title(notion.key)}, at the level {notion_level(notion.key, level)}: {words}"


def _given(step: Mapping[str, Any]) -> Iterator[tuple[str, UpperBound]]:
    """The levels at the ends of all chains."""
    if step["rule"] == "given":
        conclusion = step["conclusion"]
        yield str(conclusion["notion"]), UpperBound(float(conclusion["level"]))
    for premise in step["premises"]:
        yield from _given(premise)


def _related(population: Mapping[str, Any] | None) -> tuple[Section, ...]:
    if population is None:
        return ()
    groups = dependence.Grouping()
    sentences = dependence.sentences(population, groups)
    items = [
        " ".join(dependence.sentences(member, groups)) for member in dependence.members(population)
    ]
    source = clean(population.get("source") or "")
    attribution = (
        f'This was stated by: "{source}".' if source else "Nobody is named who stated this."
    )
    return (
        Section(
            "related",
            "How records are related",
            (" ".join(sentences),),
            after=(f"{attribution} It was not checked.",),
            items=tuple(items),
        ),
    )
