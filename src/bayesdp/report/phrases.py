"""Pieces of sentences that several sections of an explanation share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from html import escape
from typing import Any

from bayesdp.report import beliefs, dependence
from bayesdp.report.beliefs import factor_words, odds_factor
from bayesdp.report.dependence import clean, number
from bayesdp.report.numbers import level_words
from bayesdp.report.promise import Promise
from bayesdp.report.reach import LevelAtDelta


@dataclass(frozen=True, slots=True)
class Section:
    """A section of an explanation: a title, sentences, and perhaps a table with a header row."""

    key: str
    title: str
    paragraphs: tuple[str, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()
    after: tuple[str, ...] = ()
    items: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The section as plain data for JSON."""
        return {
            "key": self.key,
            "title": self.title,
            "paragraphs": list(self.paragraphs),
            "table": [list(row) for row in self.table],
            "after": list(self.after),
            "items": list(self.items),
        }


def section_html(section: Section) -> str:
    """The section as a part of a page, in which all text is escaped."""
    parts = [f"<h3>{escape(section.title)}</h3>"]
    parts += [f"<p>{escape(text)}</p>" for text in section.paragraphs]
    if section.table:
        head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in section.table[0])
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in section.table[1:]
        )
        parts.append(
            f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody>'
            "</table></div>"
        )
    if section.items:
        parts.append("<ul>" + "".join(f"<li>{escape(i)}</li>" for i in section.items) + "</ul>")
    parts += [f"<p>{escape(text)}</p>" for text in section.after]
    return "".join(parts)


SectionsAndFacts = tuple[tuple[Section, ...], dict[str, Any]]
"""The sections of an explanation, and the numbers behind them as plain data."""


def single(level: LevelAtDelta) -> Decimal:
    """The factor e^level, rounded up."""
    return odds_factor(level.epsilon)


def closeness(level: LevelAtDelta) -> str:
    """In words, how far the probabilities of the same results may lie apart."""
    factor = f"a factor of {factor_words(single(level))}"
    return f"{factor}, plus delta = {level_words(level.delta)}" if level.delta > 0.0 else factor


def level_and_factor(level: LevelAtDelta) -> str:
    """A level with what it means for odds."""
    if level.delta > 0.0:
        return f"epsilon = {level_words(level.epsilon)}, delta = {level_words(level.delta)}"
    return f"{level_words(level.epsilon)} (odds: factor {factor_words(single(level))})"


def becomes(level: LevelAtDelta) -> str:
    """The most and the least that a belief of 10 % can become, with the chance of an exception."""
    return beliefs.becomes(level.epsilon, level.delta)


def one_record(promise: Promise) -> str:
    """A sentence that says what a record is."""
    if promise.subject in ("conversion", "leakage"):
        return "One record is one entry of a table: one person, or one day of one person, say."
    if promise.unit != "row":
        exactly = "exactly" if promise.balanced else "at most"
        of_rows = f"{nouns(promise)} of " if promise.parts else ""
        same = f"One record is all {of_rows}rows of the table with the same '{clean(promise.unit)}'"
        if promise.max_rows is not None:
            return f"{same}; {exactly} {number(promise.max_rows)} of them count."
        return f"{same}, {exactly} {number(promise.rows_per_unit)} {nouns(promise)}."
    row = _one_row(promise)
    if promise.joint is not None or dependence.grouping(promise.columns).order:
        return f"{row}."
    return (
        f"{row}. If a person has several {nouns(promise)}, the limits are for one "
        f"{nouns(promise)[:-1]} and not for the person."
    )


def _one_row(promise: Promise) -> str:
    """The words that a record is a row, and which step of which series."""
    groups = dependence.grouping(promise.columns)
    of_series = f" of one '{groups.series}'" if groups.series else ""
    step = f": one '{groups.order}'{of_series}" if groups.order else ""
    part = f"one of the {number(promise.parts)} parts of a row" if promise.parts else "one row"
    return f"One record is {part} of the table{step}"


def nouns(promise: Promise) -> str:
    """What the records of a table are made of, in the plural: rows, or parts of rows."""
    return "parts" if promise.parts else "rows"


def together(promise: Promise) -> str:
    """The records that belong together, in words; empty where there is no level for them."""
    groups = dependence.grouping(promise.columns)
    name = groups.cluster or groups.series
    if promise.joint is None or name is None:
        return ""
    plural = nouns(promise) if promise.unit == "row" else "records"
    return f"all {plural} with the same '{name}' (at most {number(promise.group)} {plural})"


def several_rows(promise: Promise) -> str:
    """A warning where a record is a step of a series, as a person is then not one record.

    One sentence, with the level for all steps where there is one; empty for other records, and
    where the same is promised for all of them.
    """
    groups = dependence.grouping(promise.columns)
    if promise.unit != "row" or not (groups.series or groups.order) or same_for_several(promise):
        return ""
    record, joint = _one_row(promise), promise.joint
    if joint is None:
        return f"{record}, and the level is not for a person with several of them."
    plural = nouns(promise)
    rows = together(promise) or f"all {plural} (at most {number(promise.group)} {plural})"
    empty = beliefs.is_empty(joint.epsilon, joint.delta)
    weak = ", which is almost no promise" if empty else ""
    return f"{record}; for a fact about {rows}, 10 % can become {becomes(joint)}{weak}."


def same_for_several(promise: Promise) -> bool:
    """Whether the promise about one record holds as it is for all records that belong together."""
    if promise.joint is None or not together(promise):
        return False
    return level_and_factor(promise.joint) == level_and_factor(promise.level)


def in_status(promise: Promise, title: str) -> str:
    """The title, marked as a claim where the promise is unchecked."""
    return title if promise.status.holds else f"{title} (claimed only)"


# -- columns


def protected_columns(promise: Promise) -> str:
    """The columns that a promise is about; empty where no names are known."""
    if promise.notion == "dp":
        names = [name for name, column in promise.columns.items() if _is_private(column)]
    else:
        covered = list((promise.population or {}).get("covers", []))
        names = covered + [name for name in _independent(promise) if name not in covered]
    return _columns_words(promise, names)


def _columns_words(promise: Promise, names: list[str]) -> str:
    words = []
    for name in names:
        source = promise.columns.get(name, {}).get("from")
        origin = f" (made from '{clean(source)}')" if source else ""
        words.append(f"'{clean(name)}'{origin}")
    if not words:
        return ""
    return ("the column " if len(words) == 1 else "the columns ") + ", ".join(words)


def _is_private(column: Mapping[str, Any]) -> bool:
    return not (column.get("public") is True or "role" in column)


def _independent(promise: Promise) -> list[str]:
    return [
        name
        for name, column in promise.columns.items()
        if _is_private(column) and column.get("independent") is True
    ]


def public_columns(promise: Promise) -> list[str]:
    """Columns that everybody is taken to know, those with a role among them."""
    return [name for name, column in promise.columns.items() if not _is_private(column)]


def unspoken_columns(promise: Promise) -> list[str]:
    """Private columns about which a BDP promise says nothing, because the population doesn't.

    A column that is derived from another one is spoken of with it.
    """
    if promise.notion == "dp":
        return []
    known = {*(promise.population or {}).get("covers", []), *_independent(promise)}
    return [
        name
        for name, column in promise.columns.items()
        if _is_private(column) and name not in known and column.get("from") not in known
    ]
