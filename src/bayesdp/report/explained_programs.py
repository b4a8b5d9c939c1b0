"""Programs in plain words: those of a release or a study, a verdict, a certificate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from bayesdp.numbers import float_above
from bayesdp.programs.number_text import decimal, rounded_up
from bayesdp.report.beliefs import exception_words, factor_words, odds_factor
from bayesdp.report.dependence import clean
from bayesdp.report.fine_print import CHECK, trusted
from bayesdp.report.numbers import level_words
from bayesdp.report.passages import status_section
from bayesdp.report.phrases import Section, SectionsAndFacts, closeness
from bayesdp.report.promise import PromiseStatus
from bayesdp.report.reach import LevelAtDelta, group_level

if TYPE_CHECKING:
    from bayesdp.programs.verdict import ProgramVerdict

RULE = "program"
_ADJACENT = {
    "replace-one": "what is released would be about as likely if one record had other values",
    "add-remove": "what is released would be about as likely if one record were left out, or one "
    "more were in the table",
}


def with_programs(
    sections: Sequence[Section], programs: Sequence[Mapping[str, Any]]
) -> tuple[Section, ...]:
    """The sections, with a section on the programs before the one on what is not promised."""
    if not programs:
        return tuple(sections)
    added = Section(
        "programs",
        "What the programs are",
        (
            "Some results come from small programs, whose text says what they compute and what "
            "they release. Each was checked before any data were read, and its cost is counted "
            "in the promise like that of any other query. What it makes of what was released "
            "(posteriors, intervals) costs nothing more.",
        ),
        items=tuple(
            f"'{clean(program['query'])}': {clean(program['program'])}, the text with the digest "
            f"{clean(program['source'])}"
            for program in programs
        ),
    )
    place = next(
        (i for i, section in enumerate(sections) if section.key == "not_promised"), len(sections)
    )
    return (*sections[:place], added, *sections[place:])


def of_certificate(document: Mapping[str, Any], status: PromiseStatus) -> SectionsAndFacts:
    """Sections and facts of a program's certificate."""
    claim, evidence = document["claim"], document["derivation"]["evidence"]
    sections = (
        status_section(status, described=False),
        *_promise(
            clean(evidence["program"]["name"]),
            Fraction(claim["exact"]["epsilon"]),
            Fraction(claim["exact"]["delta"]),
            claim["adjacency"],
            evidence["n"],
            _releases(evidence["derivation"]),
        ),
        trusted([clean(assumption, 500) for assumption in document["assumptions"]]),
        Section("check", "How to check it", (CHECK,)),
    )
    facts = {
        "subject": RULE,
        "verdict": status.verdict,
        "step": status.step,
        "reason": status.reason,
        "program": evidence["program"]["name"],
        "source": evidence["program"]["source"],
        **{name: claim[name] for name in ("epsilon", "delta", "kind", "adjacency")},
        "n": evidence["n"],
        "assumptions": list(document["assumptions"]),
    }
    return sections, facts


def of_verdict(verdict: ProgramVerdict) -> tuple[str, tuple[Section, ...], dict[str, Any]]:
    """The title, sections and facts of a checker's verdict."""
    name = clean(verdict.name or "the program")
    if verdict.verdict != "ACCEPTED":
        why = (
            "The checker found what is wrong with it."
            if verdict.verdict == "REJECTED"
            else "The checker could not prove its cost, which is a limit of the checker: the "
            "program may be private or not."
        )
        section = Section(
            "status",
            f"NOT ACCEPTED: {verdict.verdict}",
            (f"{why} It is never run, so nothing is released.", clean(verdict.reason, 1000)),
            items=((clean(verdict.accepted, 1000),) if verdict.accepted else ()),
        )
        return f"Why '{name}' is not run", (section,), verdict.to_dict()
    sections = (
        Section(
            "status",
            "Does this hold?",
            ("This is about the text of a program: no data were read, and nothing is released.",),
        ),
        *_promise(
            name,
            verdict.dp_epsilon,
            verdict.dp_delta,
            verdict.adjacency,
            verdict.n,
            _releases(verdict.derivation),
        ),
        trusted([clean(assumption, 500) for assumption in verdict.trusted]),
    )
    return f"What the program '{name}' would promise about one record", sections, verdict.to_dict()


def _promise(
    name: str,
    epsilon: Fraction,
    delta: Fraction,
    adjacency: str,
    n: int | None,
    releases: Iterable[str],
) -> tuple[Section, ...]:
    level = LevelAtDelta(float_above(epsilon), float_above(delta))
    # Where records enter and leave, one value is two steps from another: out, and in again.
    replaced = group_level(level, 2) if adjacency == "add-remove" else level
    factor = factor_words(odds_factor(replaced.epsilon, replaced.delta))
    sizes = "any number of records that it admits" if n is None else f"a table of {n} records"
    promise = (
        f"Whatever the other records are, {_ADJACENT[adjacency]}: the probabilities of what may "
        f"be released differ by at most {closeness(level)} (epsilon = {_exact(epsilon)}"
        + (f", delta = {_exact(delta)}" if delta > 0 else "")
        + f"). This holds for {sizes}."
    )
    odds = (
        f"Somebody who knows all the other records may change their odds between two values of "
        f"the remaining one by a factor of at most {factor}"
        + (f", except with a chance of at most {exception_words(replaced.delta)}" if delta else "")
        + "."
    )
    related = (
        "If records are related, and others of them are not known, a release may tell more: a "
        "study with a population says how much."
    )
    return (
        Section("promised", f"What '{name}' promises", (promise, odds, related)),
        Section(
            "releases",
            "What it releases",
            ("Only these commands touch data; all else is made of what they released.",),
            items=tuple(releases),
        ),
    )


def _exact(cost: Fraction) -> str:
    """The exact cost where its text is short, else a decimal that is rounded up."""
    exact = decimal(cost)
    return exact if len(exact) <= 12 and "/" not in exact else level_words(rounded_up(cost))


def _releases(node: Mapping[str, Any]) -> list[str]:
    """Each release of a derivation, with its share of the cost."""
    if "release" in node:
        delta = f", delta {node['delta']}" if Fraction(node["delta"]) > 0 else ""
        return [f"{clean(node['release'])}: {node['rule']}, epsilon {node['epsilon']}{delta}"]
    under = [*node.get("sequence", ()), *node.get("branch", ())]
    under += node.get("parts", {}).get("of", ())
    return [release for step in under for release in _releases(step)]
