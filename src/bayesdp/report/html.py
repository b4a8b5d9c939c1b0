"""The HTML report: one self-contained file, without scripts and without outside addresses.

`write_report` takes the results of releases as plain data, a `StudySection` for each study, and
escapes everything that it prints.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from bayesdp.notions import ADVERSARY_MEANING, ROUNDING_IN_WORDS
from bayesdp.release.certificates.assumptions import said_once
from bayesdp.release.words import confidence_words
from bayesdp.report import beliefs
from bayesdp.report.dependence import number
from bayesdp.report.figures import (
    WHAT_BARS_ARE,
    FigurePanel,
    IntervalMark,
    error_bars,
    on_sheets,
)
from bayesdp.report.numbers import budget_words, error_up, level_words, with_error
from bayesdp.report.output import GENERATOR, replace_file
from bayesdp.report.phrases import section_html
from bayesdp.report.programs import results_html
from bayesdp.report.study_section import ResultRow, StudySection
from bayesdp.report.style import STYLE
from bayesdp.report.words import DEMONSTRATION, at_delta, level_sentences, not_promised

DEFAULT_TITLE = "What was released, and what it gives away"


def write_report(
    path: Path | str,
    sections: Iterable[StudySection | Mapping[str, Any]],
    *,
    title: str = DEFAULT_TITLE,
    made: datetime | None = None,
    version: str = "",
) -> Path:
    """Write the report of `sections` to `path`, and return the path.

    `made` is a line about how the report was made, printed if given. Raises `OSError` where the
    file can't be written.
    """
    target = Path(path)
    replace_file(target, render(sections, title=title, made=made, version=version))
    return target


def render(
    sections: Iterable[StudySection | Mapping[str, Any]],
    *,
    title: str = DEFAULT_TITLE,
    made: datetime | None = None,
    version: str = "",
) -> str:
    """The report as text: a whole HTML document.

    `sections` are its studies, `title` its heading, `made` the time that it names (none without
    it), and `version` that of the software.
    """
    studies = [s if isinstance(s, StudySection) else StudySection.from_dict(s) for s in sections]
    software = f"bayesdp {version}".strip()
    stamp = [software, *([made.strftime("%d %B %Y, %H:%M")] if made else [])]
    contents = ""
    if len(studies) > 1:
        links = "".join(
            f'<li><a href="#study-{i}">{escape(s.title)}</a></li>' for i, s in enumerate(studies, 1)
        )
        contents = f'<nav aria-label="Studies"><ol>{links}</ol></nav>'
    body = "".join(_study(study, f"study-{i}") for i, study in enumerate(studies, 1))
    return (
        "<!doctype html>\n"
        f'<html lang="en"><head><meta charset="utf-8">{GENERATOR}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body>"
        f'<header><p class="stamp">{escape(" · ".join(stamp))}</p><h1>{escape(title)}</h1>'
        '<p class="lead">Noisy statistics about records that depend on each other, each with its '
        "error, and what all of them together give away about any one record.</p>"
        f"{contents}</header>\n<main>{body}</main>\n"
        "<footer><p>A level is only as good as the declared population. "
        f"Levels and costs are in nats; rounding: {escape(_roundings(studies))}.</p></footer>"
        "</body></html>\n"
    )


def _study(study: StudySection, name: str) -> str:
    return (
        f'<section class="study" id="{name}" aria-labelledby="{name}-h">'
        f'<h2 id="{name}-h">{escape(study.title)}</h2>'
        f"{_circumstances(study)}{_key_numbers(study)}{_population(study)}"
        f"{_results(study, name)}{_meaning(study)}{''.join(map(section_html, study.explained))}"
        f"{_for_experts(study)}</section>\n"
    )


def _for_experts(study: StudySection) -> str:
    """The theorems, the ledger and what the certificate assumes, word for word."""
    head = (
        "<h3>For experts</h3><p>From here on: how the level was proved, and what the certificate "
        "assumes, word for word.</p>"
        if study.explained
        else ""
    )
    return f"{head}{_theorems(study)}{_ledger(study)}{_notes(study)}"


def _circumstances(study: StudySection) -> str:
    """When it was, how many records there are and what one is."""
    parts = [f"Released on {_date(study.time)}." if study.time else ""]
    parts.append(f"The table has {number(study.n)} records." if study.n is not None else "")
    parts.append(study.rows or study.record)
    words = " ".join(part for part in parts if part)
    kind = "warning" if study.rows else "about"
    return f'<p class="{kind}">{escape(words)}</p>' if words else ""


def _date(time: str) -> str:
    moment = datetime.fromisoformat(time)
    if moment.tzinfo is None:
        return f"{moment.day} {moment:%B %Y, %H:%M}"
    moment = moment.astimezone(UTC)
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"


def _key_numbers(study: StudySection) -> str:
    factor = study.level / study.dp_epsilon if study.dp_epsilon > 0.0 else 1.0
    at = f",{at_delta(study.delta)}" if study.delta > 0.0 else ""
    allowed = f"of {budget_words(study.total)} allowed{at}"
    if not study.is_first:
        allowed = f"{level_words(study.level_so_far)} with earlier releases, {allowed}"
    cards = (
        ("Level about one record", level_words(study.level), allowed),
        (
            "DP cost of the releases",
            level_words(study.dp_epsilon),
            f"if records were independent{at}",
        ),
        ("What dependence adds", f"× {factor:.2f}", "the level, divided by the DP cost"),
        ("Adversary", study.adversary, ADVERSARY_MEANING[study.adversary]),
    )
    return (
        '<dl class="cards">'
        + "".join(
            f"<div><dt>{escape(head)}</dt><dd>{escape(value)}</dd>"
            f'<dd class="small">{escape(small)}</dd></div>'
            for head, value, small in cards
        )
        + "</dl>"
    )


def _population(study: StudySection) -> str:
    if any(section.key == "related" for section in study.explained):
        return ""
    kind = "warning" if DEMONSTRATION in study.population_source else "quote"
    source = study.population_source or "Nobody is named as vouching for it."
    return (
        "<h3>How records are related</h3>"
        f"<p>{escape(' '.join([_sentence(study.population_words), *study.relations]))}</p>"
        f'<p class="{kind}"><b>Source of this population:</b> {escape(source)}</p>'
    )


def _results(study: StudySection, name: str) -> str:
    if not study.results and not study.programs:
        return "<h3>Released numbers</h3><p>Nothing was released.</p>"
    if not study.results:
        return results_html(study.programs)
    confidence = confidences(study.results)
    each = " or ".join(confidence)
    rows = "".join(
        f'<tr><th scope="row">{escape(row.name)}</th><td>{escape(row.group or "all")}</td>'
        f'<td class="n">{_value(row)}</td>'
        f'<td class="n">{_error(row)}'
        f"{f' ({confidence_words(row.confidence)})' if len(confidence) > 1 else ''}</td>"
        f"<td>{escape(row.unit)}</td></tr>"
        for row in study.results
    )
    panels = panels_of(study.results)
    caption = f"<figcaption>{escape(WHAT_BARS_ARE.format(each))}</figcaption>"
    figures = "".join(
        f"<figure>{_figure(sheet, study, each, f'{name}-figure-{i}')}{caption}</figure>"
        for i, sheet in enumerate(on_sheets(panels) if panels else (), 1)
    )
    questions = "".join(f"<li>{escape(question)}</li>" for question in study.questions)
    return (
        "<h3>Released numbers</h3>"
        f"{f'<p>What was asked:</p><ul>{questions}</ul>' if questions else ''}"
        f"{figures}"
        f'<div class="scroll"><table><caption>{"The same" if panels else "Released"} numbers'
        "</caption>"
        '<thead><tr><th scope="col">Query</th><th scope="col">Group</th>'
        f'<th scope="col" class="n">Released</th><th scope="col" class="n">Error, {each}</th>'
        f'<th scope="col">Unit</th></tr></thead><tbody>{rows}</tbody></table></div>'
        f"{_derived(study)}"
        f"{results_html(study.programs)}"
    )


def _derived(study: StudySection) -> str:
    """What was computed from the released numbers."""
    if not study.derived:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{escape(row.name)}</th><td>{escape(row.group or "all")}</td>'
        f'<td class="n">{escape(row.value)}</td><td class="n">{escape(row.interval)}</td>'
        f"<td>{escape(row.unit)}</td></tr>"
        for row in study.derived
    )
    return (
        '<div class="scroll"><table><caption>Computed from the released numbers, at no cost'
        '</caption><thead><tr><th scope="col">Name</th><th scope="col">Group</th>'
        '<th scope="col" class="n">Value</th><th scope="col" class="n">Interval</th>'
        f'<th scope="col">Unit</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _figure(panels: Sequence[FigurePanel], study: StudySection, each: str, name: str) -> str:
    title = f"Released numbers of {study.title}, with {each} error bars"
    return error_bars(panels, title=title, name=name)


def _value(row: ResultRow) -> str:
    return escape(row.value_text) if row.error is None else with_error(row.value, row.error)


def _error(row: ResultRow) -> str:
    return escape(row.error_text) if row.error is None else f"± {error_up(row.error)}"


def confidences(rows: Sequence[ResultRow]) -> list[str]:
    """The confidences of the rows' errors in words, the lowest first."""
    return [confidence_words(level) for level in sorted({row.confidence for row in rows})]


def panels_of(rows: Sequence[ResultRow]) -> list[FigurePanel]:
    """A panel of the figure for each query whose numbers have an error."""
    panels: dict[tuple[str, str], list[IntervalMark]] = {}
    for row in rows:
        if row.error is None:
            continue
        here = panels.setdefault((row.name, row.unit), [])
        here.append(IntervalMark(row.group or "all", row.value, row.error))
    return [FigurePanel(title, unit, tuple(marks)) for (title, unit), marks in panels.items()]


def _meaning(study: StudySection) -> str:
    # What people believe rests on everything that they saw, so on all releases together.
    level = study.level_so_far
    evidence = "everything that was released here"
    if not study.is_first:
        evidence = "everything that was ever released from this data set"
    sentences = level_sentences(
        level, study.adversary, study.interval, seen=evidence, delta=study.delta
    )
    sentences += (study.outside,) if study.outside else ()
    rows = "".join(
        f'<tr><th scope="row" class="n">{before}</th>'
        f'<td class="n">{least}</td><td class="n">{most}</td></tr>'
        for before, least, most in beliefs.table(level, study.delta)
    )
    head = "".join(f'<th scope="col" class="n">{escape(name)}</th>' for name in beliefs.HEADER)
    limits = "".join(f"<li>{escape(text)}</li>" for text in not_promised(study.secrets))
    limits = f'<p>Not promised:</p><ul class="limits">{limits}</ul>'
    return (
        "<h3>What the guarantee means</h3>"
        f'<div class="split"><div>{"".join(f"<p>{escape(text)}</p>" for text in sentences)}</div>'
        '<div class="scroll"><table class="beliefs"><caption>A belief about one record</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
        f"</div>{'' if study.explained else limits}"
    )


def _theorems(study: StudySection) -> str:
    ordered = sorted(study.bounds, key=lambda row: row.epsilon)
    rows = "".join(
        f"<tr{' class=best' if i == 0 else ''}>"
        f'<th scope="row"><code>{escape(row.theorem)}</code>'
        f"{'<span class=tag>used</span>' if i == 0 else ''}</th>"
        f'<td class="n">{level_words(row.epsilon)}</td><td>{escape(row.tight)}</td>'
        f"<td>{escape(row.source)}</td></tr>"
        for i, row in enumerate(ordered)
    )
    table = (
        '<div class="scroll"><table>'
        "<caption>Theorems that apply to this release, best first</caption>"
        '<thead><tr><th scope="col">Theorem</th><th scope="col" class="n">Level</th>'
        '<th scope="col">Kind</th><th scope="col">Source</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
        if ordered
        else "<p>No theorem applies.</p>"
    )
    refused = "".join(
        f'<tr><th scope="row"><code>{escape(row.theorem)}</code></th>'
        f"<td>{escape(_sentence(row.reason))}</td></tr>"
        for row in study.refused
    )
    if refused:
        table += (
            '<div class="scroll"><table class="refused"><caption>Theorems that don\'t apply'
            '</caption><thead><tr><th scope="col">Theorem</th><th scope="col">Why not</th></tr>'
            f"</thead><tbody>{refused}</tbody></table></div>"
        )
    return f"<h3>Where the level comes from</h3>{table}"


def _ledger(study: StudySection) -> str:
    level, cost = study.level_so_far, study.dp_epsilon_so_far
    share = min(max(level / study.total, 0.0), 1.0) if study.total > 0.0 else 1.0
    certificate = (
        f"<p>Certificate: <code>{escape(study.certificate_path)}</code>. It holds the whole "
        "derivation; <code>bayesdp verify</code> checks it without the data.</p>"
        if study.certificate_path
        else ""
    )
    return (
        "<h3>The ledger</h3>"
        f"<p>Data set <b>{escape(study.dataset)}</b>: level {level_words(level)} of "
        f"{budget_words(study.total)} is used, from a DP cost of {level_words(cost)}"
        f"{f', both{at_delta(study.delta)}' if study.delta > 0.0 else ''}.</p>"
        f'<svg class="meter" viewBox="0 0 100 2" preserveAspectRatio="none" role="img" '
        f'aria-label="{share:.0%} of the total is used"><rect class="track" width="100" '
        f'height="2"/><rect class="fill" width="{100 * share:.2f}" height="2"/></svg>'
        f"{certificate}"
    )


def _notes(study: StudySection) -> str:
    if not study.notes:
        return ""
    items = "".join(f"<li>{escape(_sentence(note))}</li>" for note in said_once(study.notes))
    return f"<h3>Assumptions and notes</h3><ul>{items}</ul>"


def _roundings(studies: Sequence[StudySection]) -> str:
    return "; ".join(dict.fromkeys(s.rounding for s in studies)) or ROUNDING_IN_WORDS


def _sentence(text: str) -> str:
    """With a capital and a full stop."""
    stripped = text.strip()
    if not stripped:
        return ""
    end = "" if stripped[-1] in ".!?" else "."
    return stripped[0].upper() + stripped[1:] + end
