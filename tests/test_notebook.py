"""Results in a notebook: tables of what was released, in which all text is escaped."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import bayesdp as bdp
from bayesdp import notebook
from bayesdp.accounting.costs.rounded import up_words, value_words
from bayesdp.notions import ApproxDP, Cost
from bayesdp.programs.verdict import ProgramVerdict
from bayesdp.release import Study
from bayesdp.release.results.result import ResultList
from bayesdp.theorems import Question, approximate
from bayesdp.theorems.with_delta import report_with_delta
from tests.release.program_studies import asks
from tests.release.program_studies import study as program_study
from tests.release.test_in_python import BOTH, BY, HISTOGRAM, MEAN, study

EVIL = "<script>alert('x')</script>&\""


class Outline(HTMLParser):
    """The tags of a fragment, and the texts of its cells."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.cells: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self._inside = tag == "td"
        if self._inside:
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.cells[-1] += data


def outline(shown: Any) -> Outline:
    parser = Outline()
    parser.feed(shown._repr_html_())
    parser.close()
    assert parser.tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "p", "pre"}
    return parser


def test_everything_is_escaped() -> None:
    shown = notebook.table(EVIL, [EVIL], [[EVIL, None]]) + notebook.paragraph(EVIL)
    shown += notebook.verbatim(f"{EVIL}\n  ^")
    assert "<script" not in shown
    assert shown.count("&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;&amp;&quot;") == 5
    assert "\n  ^" in shown
    hidden = notebook.paragraph("a\u202eb\x1b[31m")  # what turns or colours what follows
    assert hidden == r"<p>a\u202eb\x1b[31m</p>"


def test_a_release_is_a_table_of_what_was_released(tmp_path: Path) -> None:
    release = study(tmp_path, MEAN, BY | {"name": EVIL}, HISTOGRAM, BOTH).release()
    page = outline(release)
    rows = [page.cells[i : i + 5] for i in range(0, len(page.cells), 5)]
    assert [row[2] for row in rows] == [
        value_words(result.value, result.error(0.95)) for result in release
    ]
    assert [row[0] for row in rows] == [result.query for result in release]
    assert rows[-1][1] == "m, [170, 220]"
    numbers = set(re.findall(r"-?\d+\.\d+", release._repr_html_()))
    known = set(re.findall(r"-?\d+\.\d+", str(release)))
    assert numbers <= known, "nothing but what print shows"
    part = release["heights by sex"]
    assert outline(part).cells == [cell for row in rows if row[0] == part[0].query for cell in row]
    assert outline(ResultList()).cells == []


def test_programs_are_in_the_table(tmp_path: Path) -> None:
    budget = {"epsilon": 8.0, "delta": 1e-5}
    release = program_study(tmp_path, asks("smokers"), asks("both"), budget=budget).release()
    page = outline(release)
    assert page.cells[::5] == ["smokers", "both, 1", "both, 2"]
    assert page.cells[3] == f"{release['smokers'].each()[0].spread_words()} (95 %)"


def test_a_check_is_a_price_list(tmp_path: Path) -> None:
    made = study(tmp_path, MEAN, BY | {"name": EVIL})
    check = made.check()
    page = outline(check)
    for name, error, cost in zip(*[iter(page.cells)] * 3, strict=True):
        assert f"{name}: {error}, {cost}" in str(check)
        assert error.endswith("(95 %)")
    assert notebook.paragraph(str(check).splitlines()[-1]) in check._repr_html_()
    planned = program_study(tmp_path, asks("smokers")).check()
    assert outline(planned).cells == ["smokers", "", "DP cost 0.25"]


def test_levels_are_tables() -> None:
    chain = bdp.MarkovChain(transition=((0.9, 0.1), (0.2, 0.8)), length=20)
    report = chain.leakage(0.5)
    cells = outline(report).cells
    assert cells[:4] == [report.best.theorem, up_words(report.best.epsilon), "exact", cells[3]]
    assert len(cells) == 4 * (len(report.bounds) + len(report.refused))
    question, cost = Question(bdp.Clusters(2), "any"), Cost(rho_any=0.01)
    with_delta = report_with_delta(question, cost, 1e-6)
    assert outline(with_delta).cells[:3] == [
        "cluster-size",
        up_words(with_delta.best.epsilon),
        "1e-06",
    ]
    pairs = outline(approximate(Question(bdp.Clusters(2), "any"), ApproxDP(0.5, 1e-6))).cells
    assert pairs[0] == "cluster-size"
    assert float(pairs[1]) >= 1.0


def test_calibrations_are_tables() -> None:
    calibration = bdp.calibrate(bdp.Clusters(3), 1.5)
    cells = outline(calibration).cells
    assert cells[:3] == ["1.5", repr(calibration.dp_epsilon), repr(calibration.certified_epsilon)]
    assert cells[3:] == [f"{calibration.noise_multiplier:.6g}", "cluster-size"]
    gaussian = bdp.calibrate_gaussian(bdp.Clusters(2), 1.0, 1e-6)
    assert outline(gaussian).cells[:2] == [
        repr(gaussian.certified_epsilon),
        repr(gaussian.certified_delta),
    ]
    chain = bdp.MarkovChain(transition=((0.9, 0.1, 0), (0.1, 0.8, 0.1), (0, 0.1, 0.9)), length=50)
    hasty = bdp.calibrate(chain, 1.0, seconds=1e-9)
    assert hasty.refused
    assert hasty._repr_html_().count("Left out for time: ") == len(hasty.refused)


def test_verifications_and_explanations_are_shown(tmp_path: Path) -> None:
    release = study(tmp_path, MEAN).release()
    verdict = bdp.verify(release)
    page = outline(verdict)
    assert "<p>VALID ASSUMING</p>" in verdict._repr_html_()
    assert [f"  - {cell}" for cell in page.cells] == [
        line for line in str(verdict).splitlines() if line.startswith("  - ")
    ]
    refuted = bdp.verify(release.certificate.to_dict() | {"n": EVIL})
    assert not refuted
    assert outline(refuted).cells == []
    assert "INVALID" in refuted._repr_html_()
    assert bdp.explain(release)._repr_html_() == bdp.explain(release).html()


def test_a_verdict_keeps_its_lines() -> None:
    verdict = ProgramVerdict("REJECTED", code="noise", shown="x < 1\n    ^ & here", name="f")
    assert verdict._repr_html_() == ("<pre>REJECTED f (noise)\nx &lt; 1\n    ^ &amp; here</pre>")


# -- results by name -----------------------------------------------------------------------


def test_a_list_of_results_tells_how_to_name_one(tmp_path: Path) -> None:
    release = study(tmp_path, MEAN, BY, HISTOGRAM, BOTH).release()
    groups = release["by sex"]
    assert isinstance(groups, ResultList)
    assert groups == [groups[0], groups[1]]
    assert groups["m"] is groups[1] is release["by sex", "m"]
    assert release["heights by sex"]["f"]["[120, 170)"] is release["heights by sex"][0]
    assert release["heights by sex"]["f", "[120, 170)"] is release["heights by sex"][0]
    assert groups[:1] == [groups[0]]
    with pytest.raises(AttributeError) as refused:
        _ = groups.value
    assert str(refused.value) == (
        "release['by sex'] has 2 results, each with its 'value': name one of them. Known: f, m. "
        "For example release['by sex', 'f']."
    )
    with pytest.raises(AttributeError, match=r"Known: f, \[120, 170\), f, \[170, 220\], m"):
        release["heights by sex"].error(0.95)
    with pytest.raises(AttributeError, match="has no attribute 'valu'"):
        _ = groups.valu
    with pytest.raises(AttributeError, match="has no attribute 'value'"):
        _ = ResultList().value
    with pytest.raises(bdp.InputError, match="Known: f, m"):
        groups["w"]


def test_a_wrong_name_is_told_all_names(tmp_path: Path) -> None:
    release = study(tmp_path, MEAN, BY, HISTOGRAM).release()
    with pytest.raises(KeyError) as refused:
        release["hights"]
    message = str(refused.value)
    assert "Did you mean 'heights'? Known: by sex, heights, mean." in message


def test_many_names_are_cut_short(tmp_path: Path) -> None:
    edges = [120 + 2 * i for i in range(31)]
    release = study(tmp_path, HISTOGRAM | {"bins": edges}).release()
    with pytest.raises(KeyError, match="and 10 more") as refused:
        release["heights", "tall"]
    assert len(str(refused.value)) < 500


# -- as a table ------------------------------------------------------------------------------


def frame(made: Study) -> tuple[Any, Any]:
    release = made.release()
    pandas, polars = release.to_pandas(), release.to_polars()
    assert list(pandas.columns) == polars.columns
    assert len(pandas) == len(polars)
    return release, pandas


def test_a_number_has_the_interval_of_its_error(tmp_path: Path) -> None:
    release, rows = frame(study(tmp_path, MEAN, BY))
    for result, row in zip(release, rows.to_dict("records"), strict=True):
        error = result.error(0.95)
        assert (row["low_95"], row["high_95"]) == (result.value - error, result.value + error)
        assert row["error_95"] == error


def test_posteriors_are_rows(tmp_path: Path) -> None:
    release, rows = frame(program_study(tmp_path, asks("smokers"), asks("height")))
    assert len(rows) == 2
    for name, (_, row) in zip(("smokers", "height"), rows.iterrows(), strict=True):
        answer = release[name]
        assert row["query"] == name
        assert row["value"] == answer.mean
        assert (row["low_95"], row["high_95"]) == answer.interval(0.95)
        assert row["low_95"] < row["value"] < row["high_95"]
    assert rows["error_95"].isna().all(), "an interval of a belief, not an error of noise"
    assert rows["unit"].tolist() == ["", "cm"]


def test_a_ledger_shows_what_was_spent(tmp_path: Path) -> None:
    made = study(tmp_path, MEAN)
    assert "nothing was released" in made.ledger()._repr_html_()
    release = made.release()
    shown = made.ledger()
    cells = outline(shown).cells
    assert release.id in cells
    assert "released" in cells
    assert repr(shown).startswith("Ledger(")
    assert "\n" not in repr(shown)


def test_a_study_in_short(tmp_path: Path) -> None:
    made = study(tmp_path, MEAN, BY)
    assert repr(made) == f"Study({made.spec.data.dataset!r}: n = 6, 2 queries, BDP budget 1)"


def test_levels_are_printed_rounded_up() -> None:
    chain = bdp.MarkovChain(transition=[[0.9, 0.1], [0.3, 0.7]], length=50)
    report = chain.leakage(0.5)
    lines = str(report).splitlines()
    assert lines[0] == "Levels against the adversary 'any'"
    assert len(lines) == 1 + len(report.bounds) + len(report.refused)
    for bound, line in zip(report.bounds, lines[1:], strict=False):
        shown = float(line.split()[0])
        assert bound.epsilon <= shown <= bound.epsilon * (1 + 1e-5)
        assert bound.theorem in line
        assert line.split()[0] in report._repr_html_()
    with_delta = approximate(Question(chain, "any"), ApproxDP(0.5, 1e-7))
    for bound, line in zip(with_delta.bounds, str(with_delta).splitlines()[1:], strict=False):
        level, _, _, delta = line.split()[:4]
        assert float(level) >= bound.epsilon
        assert float(delta) >= bound.delta


def test_rows_are_taken_by_their_place(tmp_path: Path) -> None:
    swept = study(tmp_path, MEAN).sweep([0.5, 1.0])
    assert len(swept) == 2
    assert swept[0].target == 0.5
    assert swept[-1] is list(swept)[1]
    assert swept[:1] == (swept[0],)
    assert swept.remarks == []
    sizes = {"f": 2, "m": 4}
    by_size = study(tmp_path, BY | {"group_sizes": sizes}).sweep([1.0])
    assert by_size.remarks == ["Of the groups of 'by sex' the largest error is shown."]
    assert str(by_size).endswith(by_size.remarks[0])
    assert by_size.remarks[0].replace("'", "&#x27;") in by_size._repr_html_()
