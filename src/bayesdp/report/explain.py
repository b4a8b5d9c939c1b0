"""`explain`: what a certificate, a study or a level promises, in plain English.

Generated from the numbers, with every limit rounded so that it stays true. A certificate is checked
by the kernel first: an INVALID certificate is not explained, an UNKNOWN one only as a claim.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from html import escape
from pathlib import Path
from typing import Any

from bayesdp.certificate import Certificate
from bayesdp.errors import InputError, unknown_name
from bayesdp.populations import Population
from bayesdp.programs.verdict import ProgramVerdict
from bayesdp.release.certificates.certify import describe_program
from bayesdp.release.programs.planned import plan_programs
from bayesdp.release.results.release import Release
from bayesdp.release.study import Study
from bayesdp.report import beliefs, explained_programs
from bayesdp.report.circumstances import RELATED
from bayesdp.report.dependence import clean, leaves_open, members
from bayesdp.report.implied import RULE, follows
from bayesdp.report.layout import filled
from bayesdp.report.numbers import THOUSANDS
from bayesdp.report.passages import all_sections, refuted
from bayesdp.report.phrases import Section, section_html
from bayesdp.report.promise import (
    Promise,
    PromiseStatus,
    of_document,
    of_leakage,
    of_study,
    status_of,
)
from bayesdp.report.reach import LevelAtDelta, group_level
from bayesdp.theorems import ApproximateReport, LeakageReport
from bayesdp.verification import is_json, read, text_of

__all__ = ["Explanation", "Section", "explain"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is promised, as sections of sentences and as facts.

    `verdict` is the kernel's on a certificate (`VALID ASSUMING`, `INVALID`, `UNKNOWN`), else
    `BEFORE RELEASE`, `REFUSED` (a study over its budget) or `COMPUTED` (a level of theorems alone).
    `facts` are the numbers behind the sentences, limits rounded outward; of an INVALID certificate
    there are none but the verdict.
    """

    title: str
    verdict: str
    sections: tuple[Section, ...]
    facts: Mapping[str, Any]

    @property
    def holds(self) -> bool:
        """Whether the promise holds as far as is known: not refuted, unchecked or refused."""
        return PromiseStatus(self.verdict).holds

    def section(self, key: str) -> Section:
        """The section of this key. Raises `UnknownNameError` for any other."""
        for section in self.sections:
            if section.key == key:
                return section
        raise unknown_name("section", key, [section.key for section in self.sections])

    def text(self, width: int = 80) -> str:
        """Plain text in lines of at most `width` letters."""
        parts = [f"{filled(self.title, width)}\n{'=' * min(len(self.title), width)}"]
        parts += [_section_text(section, width) for section in self.sections]
        return "\n\n".join(parts) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesdp explain --json` prints it."""
        return {
            "title": self.title,
            "verdict": self.verdict,
            "holds": self.holds,
            "facts": dict(self.facts),
            "sections": [section.to_dict() for section in self.sections],
        }

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return self.html()

    def html(self) -> str:
        """A fragment for a page: a `section` without styles, scripts or outside addresses."""
        inside = "".join(section_html(section) for section in self.sections)
        return f'<section class="explanation"><h2>{escape(self.title)}</h2>{inside}</section>\n'


@singledispatch
def explain(subject: object, *, population: Population | None = None) -> Explanation:
    """What `subject` promises about one record, in plain English.

    `subject` is whatever `verify` takes (a `Release`, a `Certificate`, its document as plain data,
    its text or the name of its file), a `Study` or the name of its file (before its release: no
    data are read), a program's verdict, or a result of `leakage` (give its `population` too). New
    kinds are added with `explain.register`. Raises `InputError` for anything else, and what
    `Study.check` raises. Source: theory 1, 3.10b.

    >>> from bayesdp.populations import MarkovChain
    >>> chain = MarkovChain(transition=((0.9, 0.1), (0.1, 0.9)), length=100)
    >>> explained = explain(chain.leakage(0.5), population=chain)
    >>> explained.facts["beliefs"][1]["at_most"] < 0.77
    True
    """
    raise InputError(
        "explain",
        type(subject).__name__,
        expected="a certificate or a study, or the name of a file with one, a Release, or a result "
        "of leakage",
    )


@explain.register(Mapping)
def _document(subject: Mapping[str, Any], *, population: Population | None = None) -> Explanation:
    """A certificate as parsed JSON."""
    status = status_of(subject)
    if status.verdict == "INVALID":
        return _nothing(status)
    try:
        if subject["derivation"]["rule"] == RULE:
            return Explanation(_FOLLOWS, status.verdict, *follows(subject, status))
        if subject["derivation"]["rule"] == explained_programs.RULE:
            explained = explained_programs.of_certificate(subject, status)
            return Explanation(_PROGRAM, status.verdict, *explained)
        return _explained(of_document(subject, status), subject.get("programs", ()))
    except (
        LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError,
    ):  # fmt: skip
        # Only a certificate that the kernel knows nothing of can be malformed here.
        if status.verdict == "UNKNOWN":
            return _nothing(status)
        raise


@explain.register(Certificate)
def _certificate(subject: Certificate, *, population: Population | None = None) -> Explanation:
    try:
        document = subject.to_dict()
    except (
        TypeError,
        ValueError,
        RecursionError,
    ) as error:  # not JSON, so the kernel can't read it
        return _nothing(PromiseStatus("INVALID", "content", f"malformed: {error}"))
    return _document(document)


@explain.register(str)
@explain.register(Path)
def _file(subject: str | Path, *, population: Population | None = None) -> Explanation:
    """The name of a certificate's or a study's file, or the text of a certificate."""
    opened: Explanation = explain(subject_of(subject))
    return opened


def subject_of(file: str | Path, key: str = "subject") -> object:
    """The certificate's document in a file or a text, else the study of a file.

    Raises `InputError` about `key` for a file that can't be read, and for a program.
    """
    text = text_of(file, key)
    if is_json(text) and Path(str(file)).suffix != ".toml":
        document = read(text)
        return (
            document if isinstance(document, Mapping) else {"format": None}
        )  # the kernel refutes it
    path = Path(file)
    if path.suffix == ".py":
        raise InputError(
            key,
            str(path),
            expected="a certificate (JSON) or a study (TOML), not a program",
            remedy=f"Check the program first: `bayesdp program check {path} --certificate OUT`, "
            "then `bayesdp explain OUT`.",
        )
    return Study.load(path)


@explain.register(Release)
def _release(subject: Release, *, population: Population | None = None) -> Explanation:
    return _certificate(subject.certificate)


@explain.register(Study)
def _study(subject: Study, *, population: Population | None = None) -> Explanation:
    n = subject.spec.data.n
    programs = plan_programs(subject.spec, n if isinstance(n, int) else None)
    return _explained(of_study(subject), [describe_program(program) for program in programs])


@explain.register(ProgramVerdict)
def _verdict(subject: ProgramVerdict, *, population: Population | None = None) -> Explanation:
    """What the checker says of a program."""
    status = "COMPUTED" if subject.verdict == "ACCEPTED" else "REFUSED"
    title, sections, result = explained_programs.of_verdict(subject)
    return Explanation(title, status, sections, result)


@explain.register(LeakageReport)
@explain.register(ApproximateReport)
def _leakage(
    subject: LeakageReport | ApproximateReport, *, population: Population | None = None
) -> Explanation:
    return _explained(of_leakage(subject, population))


_FOLLOWS = "What follows from given levels of privacy"
_PROGRAM = "What a program promises about one record"


def _explained(promise: Promise, programs: Sequence[Mapping[str, Any]] = ()) -> Explanation:
    title = {
        "release": f"What the release from '{clean(promise.dataset)}' promises about one record",
        "study": f"What a release from '{clean(promise.dataset)}' would promise about one record",
    }.get(promise.subject, "What such a release promises about one record")
    if promise.status.repeats:
        title = title.replace("What a release", "What another release")
    if promise.status.verdict == "UNKNOWN":
        title = title.replace("promises", "claims to promise")
    sections = explained_programs.with_programs(all_sections(promise), programs)
    result = facts(promise)
    if programs:
        result |= {"programs": [dict(program) for program in programs]}
    return Explanation(title, promise.status.verdict, sections, result)


def _nothing(status: PromiseStatus) -> Explanation:
    """The explanation of a certificate that doesn't hold: it repeats no number of it."""
    section = refuted(status.verdict, status.step, status.reason)
    result = {"verdict": status.verdict, "step": status.step, "reason": status.reason}
    title = "A certificate that promises nothing"
    return Explanation(title, status.verdict, (section,), result)


def facts(promise: Promise) -> dict[str, Any]:
    """The numbers behind the words as plain data, limits rounded outward, `None` for no limit."""
    level = promise.level
    result: dict[str, Any] = {
        "subject": promise.subject,
        "verdict": promise.status.verdict,
        "step": promise.status.step,
        "reason": promise.status.reason,
        "notion": promise.notion,
        "adversary": promise.adversary,
        "scope": _scope(promise),
        **_numbers(level),
        "beliefs": [row.to_dict() for row in beliefs.beliefs(level.epsilon, level.delta)],
        "this_release": _numbers(promise.own),
        "if_independent": _numbers(promise.cost),
        "earlier_queries": promise.earlier,
        "limit": None if promise.limit is None else _numbers(promise.limit),
        "secrets": [
            {"column": place.column, "interval": list(place.ends or ()), "unit": place.unit}
            for place in promise.places
        ],
        "outside": None if promise.outside is None else _numbers(promise.outside),
        "related_at_most": promise.group,
        "joint": None if promise.joint is None else _numbers(promise.joint),
        "dataset": promise.dataset,
        **({"people": promise.people} if promise.people else {}),
        "records": promise.n,
        "unit": promise.unit,
        **({"parts": promise.parts} if promise.parts else {}),
        "theorem": promise.theorem,
        "assumptions": list(promise.assumptions),
    }
    if promise.status.repeats:
        result["repeats"] = promise.status.repeats
    if promise.notion == "dp":
        result["related_records"] = [
            {"records": size, **_numbers(group_level(level, size))} for size in RELATED
        ]
    return result


def _numbers(level: LevelAtDelta) -> dict[str, float | None]:
    factor = beliefs.odds_factor(level.epsilon, level.delta)
    return {
        "level": _finite(level.epsilon),
        "delta": level.delta,
        "odds_factor": _finite(beliefs.double_up(factor)),
        "exception": beliefs.double_up(beliefs.exception(level.delta)),
    }


def _finite(value: float) -> float | None:
    return value if value < float("inf") else None


def _scope(promise: Promise) -> str:
    """One word for which populations the promise is about."""
    if promise.notion == "dp":
        return "all populations"
    spec = promise.population
    if spec is None:
        return "the population of the table of levels"
    if members(spec):
        return f"a family of {len(members(spec))} populations"
    return "a family of populations" if leaves_open(spec) else "this population"


# -- as text and as a page ------------------------------------------------------------------


def _section_text(section: Section, width: int) -> str:
    lines = [filled(section.title, width), "-" * min(len(section.title), width)]
    lines += [filled(text, width) for text in section.paragraphs]
    lines += _table_text(section.table, width)
    lines += [filled(item, width, "- ", "  ") for item in section.items]
    lines += [filled(text, width) for text in section.after]
    return "\n".join(lines)


def _table_text(table: Sequence[Sequence[str]], width: int) -> list[str]:
    """Columns side by side, or row by row where the lines are too short for that."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    if sum(widths) + 3 * len(widths) - 1 <= width:
        plain = [[cell.replace(THOUSANDS, " ") for cell in row] for row in table]
        cells = ([c.rjust(size) for c, size in zip(row, widths, strict=True)] for row in plain)
        return ["  " + "   ".join(row) for row in cells]
    header, *rows = table
    lines = (", ".join(f"{name}: {c}" for name, c in zip(header, row, strict=True)) for row in rows)
    return [filled(line, width, "  ", "    ") for line in lines]
