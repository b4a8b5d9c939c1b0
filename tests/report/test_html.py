"""The report is one safe, self-contained, complete file."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from bayesdp import explain
from bayesdp.programs.run.results import density_figures
from bayesdp.programs.run.results.density_figures import histogram, svg
from bayesdp.release import Study
from bayesdp.report import beliefs
from bayesdp.report.html import render, write_report
from bayesdp.report.numbers import level_words
from bayesdp.report.phrases import Section, becomes
from bayesdp.report.programs import ProgramRow, ShownOutput
from bayesdp.report.reach import LevelAtDelta
from bayesdp.report.sections import study_section
from bayesdp.report.study_section import BoundRow, RefusedRow, ResultRow, StudySection
from bayesdp.report.style import STYLE
from tests.report.explained import chain_study, dp_study, gaussian_study

VOID = {"meta", "line", "circle", "rect", "br"}


class Outline(HTMLParser):
    """Tags that balance, ids, links and everything that is loaded from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.attributes: set[str] = set()
        self.tags: list[str] = []
        self.unboxed: list[str] = []
        """Tables that no scrolling box is around, and figures that don't follow the width."""
        self.classes: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        kind = dict(attrs).get("class") or ""
        if tag == "table" and self.classes[-1:] != ["scroll"]:
            self.unboxed.append(f"table {kind}")
        if tag == "svg" and "svg" not in self.open and kind not in ("figure fluid", "meter"):
            self.unboxed.append(f"svg {kind}")
        if tag not in VOID:
            self.open.append(tag)
            self.classes.append(kind)
        for key, value in attrs:
            self.attributes.add(key)
            if key == "id":
                self.ids.append(value or "")
            if key == "href":
                self.targets.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()
            self.classes.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self.classes.pop()


def outline(text: str) -> Outline:
    parser = Outline()
    parser.feed(text)
    parser.close()
    assert parser.open == []
    return parser


@pytest.fixture
def section() -> StudySection:
    return StudySection(
        title="Heights",
        population_words="records form clusters",
        population_source="Galton (1886)",
        bounds=[
            BoundRow("cluster-size", 3.0, "upper", "theory 3.2"),
            BoundRow("gaussian-max-correlation", 1.85345, "upper", "theory 3.8 a"),
        ],
        refused=[RefusedRow("gaussian-covariance", "needs the covariance")],
        results=[
            ResultRow("mean", None, 169.3, 1.37, "cm"),
            ResultRow("by role", "role = child", 170.2, 2.0, "cm"),
        ],
        dp_epsilon=1.0,
        level=1.853451,
        adversary="any",
        dataset="galton-1886",
        total=2.0,
        certificate_path="c.json",
        notes=["a note"],
        secrets="bounded",
        interval="between 120 and 220 cm",
    )


def test_it_holds_everything_that_the_section_says(section: StudySection) -> None:
    text = render([section])
    for part in (
        "Heights",
        "Records form clusters.",
        "Galton (1886)",
        "<dd>1.85346</dd>",  # the level, rounded up
        "Needs the covariance.",
        "169.3",
        "role = child",
        "galton-1886",
        "of 2 ",
        "c.json",
        "A note.",
        "between 120 and 220 cm",
        "at most 41.5 %",
        "replace one record",
        "double precision",
    ):
        assert part in text, part
    assert text.index("gaussian-max-correlation") < text.index("cluster-size"), "best first"
    assert text.count("<span class=tag>") == 1


def test_it_is_self_contained(section: StudySection) -> None:
    page = outline(render([section, section]))
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    assert all(target.startswith("#") for target in page.targets)
    assert {target[1:] for target in page.targets} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids)), "ids are unique"
    assert not {a for a in page.attributes if a.startswith("on") or a in ("src", "style")}
    assert not re.search(r"url\(|@import|https?:", render([section]))


def test_paper_is_light_and_loses_nothing(section: StudySection) -> None:
    text = render([section, section])
    assert "@media screen and (prefers-color-scheme:dark)" in text
    assert "@media (prefers-color-scheme:dark)" not in text
    paper = text[text.index("@media print") : text.index("</style>")]
    assert ".scroll{overflow:visible}" in paper, "paper can't be scrolled"
    assert "th,td{overflow-wrap:anywhere}" in paper, "what is too wide must break instead"
    assert ".study+.study{break-before:page}" in paper, "no page with the title alone"


def test_a_phone_scrolls_tables_and_nothing_else(section: StudySection) -> None:
    """No browser is asked: what is wider than 420 px must be in a box of its own, or break."""
    drawn = svg([histogram("p", np.linspace(0.0, 1.0, 200))], "rate")
    row = ProgramRow("rate", "rate.py::rate", [ShownOutput("p", "Beta", "0.5")], [drawn])
    explained = [Section("who", "Who", table=(("who", "level"), ("a person", "2")))]
    wide = replace(section, programs=[row], explained=explained, certificate_path="c" * 200)
    text = render([section, wide])
    page = outline(text)
    assert page.tags.count("table") >= 8
    assert page.tags.count("svg") >= 5
    assert page.unboxed == []
    assert 'content="width=device-width, initial-scale=1"' in text
    screen = STYLE[: STYLE.index("@media print")]
    assert ".scroll{overflow-x:auto}" in screen
    assert "overflow-wrap:break-word" in screen[screen.index("body{") :].split("}")[0]
    assert "width:100%" in screen[screen.index(".figure{") :].split("}")[0]
    for declared in re.findall(r"(?<![\w-])width:([^;}]*)", STYLE):
        assert declared == "100%", "a fixed width may be wider than the screen"
    for columns in re.findall(r"minmax\(([\d.]+)rem", STYLE):
        assert float(columns) * 16 <= 420 - 2 * 24, "a column as wide as the screen"


def test_charts_are_read_at_every_width(section: StudySection) -> None:
    """Charts have no viewBox that would shrink their letters, which are 11 px or more."""
    assert 'class="figure fluid"' in render([section])
    for tag in re.findall(r'<svg class="figure fluid"[^>]*>', render([section])):
        assert "viewBox" not in tag
    rules = [*re.findall(r"\.figure[^{]*\{([^}]*)\}", STYLE), density_figures._STYLE]
    sizes = [float(size) for rule in rules for size in re.findall(r"([\d.]+)px (?:system|/)", rule)]
    sizes += [float(size) for rule in rules for size in re.findall(r"font-size:([\d.]+)px", rule)]
    assert len(sizes) >= 4
    assert min(sizes) >= 11.0
    assert not re.search(r"font-size:[\d.]+(?:em|rem|%)", "".join(rules))


def test_many_numbers_have_figures_that_fit_on_a_sheet_of_paper_each(section: StudySection) -> None:
    many = [ResultRow("by week", f"week {i}", 100.0 + i, 2.0, "") for i in range(50)]
    text = render([replace(section, results=many)])
    outline(text)
    heights = [float(h) for h in re.findall(r'<svg class="figure fluid"[^>]* height="(\d+)"', text)]
    assert len(heights) == 4
    assert max(heights) <= 760
    assert text.count("<figure>") == text.count("</figure>") == text.count("<figcaption>") == 4
    assert len(set(re.findall(r'<title id="([^"]*)"', text))) == 4
    assert all(f"<title>week {i}: " in text for i in range(50))
    assert "figure,tr,.cards,.warning{break-inside:avoid}" in STYLE


def test_everything_is_escaped(section: StudySection) -> None:
    evil = "<script>alert('x')</script>&\""
    hostile = replace(
        section,
        title=evil,
        population_words=evil,
        population_source=evil,
        bounds=[BoundRow(evil, 1.0, evil, evil)],
        refused=[RefusedRow(evil, evil)],
        results=[ResultRow(evil, evil, 1.0, 0.5, evil)],
        dataset=evil,
        certificate_path=evil,
        notes=[evil],
        interval=evil,
        rounding=evil,
    )
    text = render([hostile, hostile], title=evil, version=evil)
    assert "<script" not in text
    outline(text)


def test_a_demonstration_is_marked_as_one(section: StudySection) -> None:
    shown = replace(section, population_source="for demonstration only; a curator ...")
    assert '<p class="warning">' in render([shown])
    assert '<p class="warning">' not in render([section])
    assert "Nobody is named" in render([replace(section, population_source="")])


def test_sections_come_from_plain_data_too(section: StudySection) -> None:
    assert render([asdict(section)]) == render([section])
    with pytest.raises(ValueError, match="unknown keys in a report section: colour"):
        StudySection.from_dict({**asdict(section), "colour": "red"})


def test_earlier_releases_count(section: StudySection) -> None:
    later = replace(section, dataset_level=3.0, dataset_dp_epsilon=1.5, total=4.0)
    text = render([later])
    assert "3 with earlier releases, of 4 allowed" in text
    assert "level 3 of 4 is used, from a DP cost of 1.5" in text
    assert "at most 69.1 %" in text, "a belief of 10 %, at level 3"
    assert "ever released from this data set" in text
    assert "earlier releases" not in render([section])


def test_nothing_released_is_said(section: StudySection) -> None:
    text = render([replace(section, results=[], bounds=[], level=0.0, dp_epsilon=0.0)])
    assert "Nothing was released." in text
    assert "No theorem applies." in text
    outline(text)


def test_it_is_written_as_utf8(section: StudySection, tmp_path: Path) -> None:
    path = write_report(tmp_path / "r.html", [section], version="0.1.0")
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "bayesdp 0.1.0" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("make", [dp_study, chain_study, gaussian_study])
@pytest.mark.parametrize("earlier", [0, 1])
def test_what_it_says_of_beliefs_is_what_explain_says(
    make: Callable[..., Study], earlier: int, tmp_path: Path
) -> None:
    study = make(tmp_path, spend=0.4)
    for _ in range(earlier):
        study.release()
    release = study.release(again=True)
    actual, section = explain(release), study_section(study, release, "")
    table = actual.section("promise").table
    text = " ".join(render([section]).split())
    for before, least, most in table[1:]:
        row = f'{before}</th><td class="n">{least}</td><td class="n">{most}</td>'
        assert row in text
    assert "".join(f'<th scope="col" class="n">{name}</th>' for name in table[0]) in text
    _, least, most = table[2]
    assert f"they believe it with at most {most} and at least {least}" in text
    assert f"at most {most} likely, and at least {least} likely" in " ".join(actual.text().split())
    assert f"level {level_words(actual.facts['level'])} of" in text


def test_with_a_delta_the_chance_of_an_exception_is_that_of_explain(section: StudySection) -> None:
    text = render([replace(section, delta=1e-5)])
    level = LevelAtDelta(section.level, 1e-5)
    assert f"they believe it with {becomes(level)}." in text
    assert "except with a chance of at most 1 in 33\N{NARROW NO-BREAK SPACE}000." in text
    for row in beliefs.table(level.epsilon, level.delta):
        assert row[1] + '</td><td class="n">' + row[2] in text
