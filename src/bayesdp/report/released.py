"""From Python: the HTML report of a release, and the figure of its numbers or of a stress test."""

from __future__ import annotations

from pathlib import Path

from bayesdp.errors import InputError
from bayesdp.notebook import Figure
from bayesdp.release.checking.stress import Stress
from bayesdp.release.results.release import Release
from bayesdp.release.study import Study
from bayesdp.report import html
from bayesdp.report.figures import released_numbers, stress_levels
from bayesdp.report.output import check_target
from bayesdp.report.sections import result_rows, study_section


def write_report(
    path: str | Path, study: Study, release: Release, *, certificate: str | Path = ""
) -> Path:
    """Write the HTML report of a release of this study, and return its path.

    It is what `bayesdp release --report` writes: one file without scripts or outside addresses, for
    screens and paper. `certificate` is the file to name as the release's certificate, which this
    function does not write. Raises `InputError` where `path` is another file than an older report,
    or can't be written, and for a release of another data set.
    """
    target = Path(path)
    released = release.certificate.body["dataset"]
    if released != study.spec.data.dataset:
        raise InputError(
            "release",
            released,
            expected=f"a release of the study's data set, '{study.spec.data.dataset}'",
        )
    try:
        check_target(target, "report", reserved=study.ledger_files)
    except InputError as refused:
        raise refused.at("path") from None
    return html.write_report(target, [study_section(study, release, str(certificate))])


def figure(shown: Release | Stress) -> Figure:
    """The figure of a release's numbers with their errors, or of the levels of a stress test.

    A whole SVG file as text, in colours for light and dark; a notebook shows it as a picture, and
    `pathlib.Path("figure.svg").write_text(figure)` keeps it. Raises `InputError` for anything else,
    and for a release without a number that has an error.
    """
    if isinstance(shown, Stress):
        return stress_levels(shown)
    if not isinstance(shown, Release):
        expected = "a Release, or the answer of Study.stress"
        raise InputError("shown", type(shown).__name__, expected=expected)
    rows = result_rows(shown)
    if all(row.error is None for row in rows):
        raise InputError(
            "shown",
            expected="a release with numbers that have an error",
            remedy="What its programs returned, and quantiles, are in to_pandas().",
            shown=False,
        )
    return released_numbers(
        html.panels_of(rows),
        title=f"Released numbers of {shown.certificate.body['dataset']}, with their errors",
        confidence=" or ".join(html.confidences(rows)),
    )
