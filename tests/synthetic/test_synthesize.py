"""Synthetic tables: close to the released counts, the same for a seed, and honest about both."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import bayesdp as bdp
from bayesdp.cli import app
from bayesdp.errors import InputError, Refusal, UnsupportedError
from bayesdp.mechanisms import DiscreteLaplace
from bayesdp.release.results.release import Release
from bayesdp.statements.certificates import LookUp, RowParts
from bayesdp.synthetic import estimate, synthesis
from bayesdp.synthetic.attributes import Attribute, Interval
from bayesdp.synthetic.releases import _check_same, read_releases
from tests.synthetic.studies import AGES, COLUMNS, ILL_SMOKES, ROWS, released, table

Document = dict[str, Any]
needs_mbi = pytest.mark.skipif(
    importlib.util.find_spec("mbi") is None,
    reason="the extra 'synthetic' brings mbi",
)
ILL_OLD: Document = {"name": "ill, old", "kind": "histogram", "column": ["ill", "old"]}
MEAN: Document = {"name": "mean", "kind": "mean", "column": "age", "by": "region"}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """Its noise has the law that it is stated to have, and a seed."""
    rng = np.random.default_rng(0)

    def noisy(law: DiscreteLaplace, values: list[int]) -> list[int]:
        drawn = rng.geometric(-np.expm1(-1.0 / law.scale), (2, len(values)))
        return [int(v) for v in np.array(values) + drawn[0] - drawn[1]]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DiscreteLaplace, "release", noisy)
        return released(tmp_path_factory.mktemp("d"), ILL_SMOKES, ILL_OLD, AGES, MEAN, epsilon=2.0)


@pytest.fixture(scope="module")
def synthetic(release: Release) -> pd.DataFrame:
    pytest.importorskip("mbi", reason="the extra 'synthetic' brings mbi")
    return bdp.synthesize(release)


# -- the table -------------------------------------------------------------------------------------


def test_its_counts_are_within_the_noise_of_the_released_ones(
    release: Release, synthetic: pd.DataFrame
) -> None:
    """Within twice the error of each, and within the error for most."""
    assert len(synthetic) == ROWS
    assert list(synthetic) == ["region", "age", "ill", "smokes"]
    old = synthetic.assign(old=np.searchsorted([18.0, 65.0], synthetic.age, side="right"))
    bins = synthetic.assign(bin=pd.cut(synthetic.age, [0, 30, 65, 91], right=False, labels=False))
    labels = {"[0, 30)": 0, "[30, 65)": 1, "[65, 90]": 2}
    off = []
    for result in release.results[:4]:
        ill, smokes = result.cell
        rows = (synthetic.ill == ill) & (synthetic.smokes == smokes)
        off.append(abs(rows.sum() - result.value) / result.error())
    for result in release["ill, old"]:
        rows = (old.ill == result.cell[0]) & (old.old == result.cell[1])
        off.append(abs(rows.sum() - result.value) / result.error())
    for result in release["ages"]:
        rows = (bins.region == result.group) & (bins.bin == labels[result.cell])
        off.append(abs(rows.sum() - result.value) / result.error())
    assert max(off) < 2.0
    assert np.mean(np.array(off) < 1.0) > 0.8
    sizes = table().region.value_counts()  # which the means say, without noise
    exact = (synthetic.region.value_counts() - sizes).abs() <= 1
    assert synthetic.attrs["note"]["agreement"] == {
        "numbers": len(off) + len(exact),
        "within_their_error": np.sum(np.array(off) <= 1.0) + exact.sum(),
    }


def test_the_association_of_columns_is_kept_where_it_was_released(synthetic: pd.DataFrame) -> None:
    """Also that of smoking and age, which follows through illness."""
    actual = table()
    assert synthetic.ill.corr(synthetic.smokes == "yes") == pytest.approx(
        actual.ill.corr(actual.smokes == "yes"), abs=0.05
    )
    smoking_old = synthetic.smokes[synthetic.age >= 65.0] == "yes"
    assert smoking_old.mean() == pytest.approx(
        (actual.smokes[actual.age >= 65.0] == "yes").mean(), abs=0.08
    )


def test_public_sizes_are_kept(synthetic: pd.DataFrame) -> None:
    sizes = table().region.value_counts()
    assert (synthetic.region.value_counts() - sizes).abs().max() <= 30


def test_the_form_of_the_table_is_that_of_the_study(synthetic: pd.DataFrame) -> None:
    assert set(synthetic.ill) == {0, 1}
    assert synthetic.age.between(0.0, 90.0).all()
    assert synthetic.age.nunique() > ROWS // 2


def test_documents_alone_and_a_seed_make_the_table(
    release: Release, synthetic: pd.DataFrame, tmp_path: Path
) -> None:
    """From the certificate's text: the same table for the same seed, whatever NumPy has drawn."""
    text = release.certificate.to_json()
    np.random.seed(7)
    state = np.random.get_state()[1].copy()
    again = bdp.synthesize(text)
    assert np.array_equal(np.random.get_state()[1], state)
    pd.testing.assert_frame_equal(again, synthetic)
    assert again.attrs == synthetic.attrs


@needs_mbi
def test_the_command_writes_a_table_and_its_note(release: Release, tmp_path: Path) -> None:
    certificate = tmp_path / "people.certificate.json"
    certificate.write_text(release.certificate.to_json(), encoding="utf-8")
    out = tmp_path / "made.csv"
    words = ["synthesize", str(certificate), "-o", str(out), "--rows", "50", "--seed", "1"]
    made = CliRunner().invoke(app, [*words, "--intervals", "--without", "ill, old"])
    assert made.exit_code == 0, made.output
    assert made.stdout.endswith(f"made.csv (50 rows)\nNote: {tmp_path / 'made.note.json'}\n")
    rows = pd.read_csv(out)
    assert len(rows) == 50
    assert set(rows.age) <= {"[0, 30)", "[30, 65)", "[65, 90]"}
    note = json.loads((tmp_path / "made.note.json").read_text(encoding="utf-8"))
    assert note["never_together"] == [
        ["region", "ill"], ["region", "smokes"], ["age", "ill"], ["age", "smokes"],
    ]  # fmt: skip
    assert note["rows"] == 50
    assert note["rows_of_the_table"] == ROWS
    assert {query["query"]: query["why"] for query in note["not_used"]} == {
        "ill, old": "it was left out on request",
        "mean": "a mean is not a number of rows",
    }
    assert note["releases"][0]["release"] == release.id
    assert "this release has the BDP level 2" in note["releases"][0]["claims"]
    for part in ("cost nothing", "not signed", "It is not a finding", "region and ill"):
        assert part in made.stdout
    again = CliRunner().invoke(app, [*words, "--json"])  # it replaces only what it wrote itself
    assert json.loads(again.stdout)["table"] == json.loads(
        (tmp_path / "made.note.json").read_text(encoding="utf-8")
    )["table"]  # fmt: skip
    out.write_text("mine", encoding="utf-8")
    refused = CliRunner().invoke(app, words)
    assert refused.exit_code == 2
    assert out.read_text(encoding="utf-8") == "mine"


def test_numbers_lie_in_their_intervals() -> None:
    closed, opened = Interval(2.0, 3.0, (True, True)), Interval(3.0, 4.0, (False, False))
    tight = Interval(1.0, float(np.nextafter(np.nextafter(1.0, 2), 2)), (False, False))
    attribute = Attribute(
        "x", (1.0, 2.0, 3.5, 5.0), (tight, closed, opened, Interval(5.0, 5.0, (True, True)))
    )
    atoms = np.array([0, 1, 2, 3] * 1000)
    for share in (0.0, 0.5, 1.0 - 2.0**-53):
        drawn = synthesis._cells(attribute, atoms, _Fixed(share), False)
        assert set(drawn[0::4]) == {np.nextafter(1.0, 2)}
        assert all(2.0 <= x <= 3.0 for x in drawn[1::4])
        assert all(3.0 < x < 4.0 for x in drawn[2::4])
        assert set(drawn[3::4]) == {5.0}
    unbounded = Attribute("x", (0.0, 2.0), (Interval(-np.inf, 1.0, (False, False)), closed))
    shown = synthesis._cells(unbounded, np.array([0, 1]), _Fixed(0.5), False)
    assert shown == ["below 1", "[2, 3]"]


class _Fixed:
    """A generator that always draws the same share."""

    def __init__(self, share: float) -> None:
        self.share = share

    def random(self, size: int) -> Any:
        return np.full(size, self.share)


# -- what is refused -------------------------------------------------------------------------------


def test_a_certificate_that_does_not_verify_is_refused(release: Release) -> None:
    document = json.loads(release.certificate.to_json())
    document["results"][0]["value"] += 1.0
    with pytest.raises(Refusal, match=r"releases: the certificate is INVALID \(digest"):
        bdp.synthesize(document)


def test_releases_of_other_tables_are_refused(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in "abcd"]
    for folder in folders:
        folder.mkdir()
    data = table(100)
    release = released(folders[0], ILL_SMOKES, data=data)
    smaller = released(folders[3], ILL_SMOKES, data=data[:99])
    with pytest.raises(InputError, match=r"releases\[1\].n is 99: expected 100"):
        bdp.synthesize([release, smaller])
    other = released(folders[1], ILL_SMOKES, data=data, dataset="others")
    with pytest.raises(InputError, match=r"releases\[1\].dataset is 'others': expected people"):
        bdp.synthesize([release, other])
    states = COLUMNS | {"ill": {"states": [1, 0]}}
    turned = released(folders[2], ILL_SMOKES, data=data, columns=states)
    with pytest.raises(InputError, match=r"releases\[1\].columns.ill: expected the declaration"):
        bdp.synthesize([release, turned])
    with pytest.raises(InputError, match=r"releases\[1\] is .*: expected each release once"):
        bdp.synthesize([release, release.certificate])
    with pytest.raises(InputError, match="at least one release"):
        bdp.synthesize([])


def test_columns_of_other_public_tables_are_refused(release: Release) -> None:
    (stated,) = (verified.stated for verified in read_releases(release))
    by_place = LookUp(table="places", by=("place",), columns=("region",))
    joined = stated.model_copy(update={"joined": (by_place,)})
    _check_same(joined, joined, "other")
    with pytest.raises(InputError, match=r"other\.columns\.region: expected the declaration"):
        _check_same(stated, joined, "other")
    wide = stated.model_copy(update={"parts": RowParts(position="year", number=2)})
    with pytest.raises(InputError, match=r"other\.parts"):
        _check_same(stated, wide, "other")


def test_records_of_several_rows_are_refused(tmp_path: Path) -> None:
    people = table(400).assign(person=np.arange(400) // 2)
    columns = {"person": {"public": True}, "ill": {"states": [0, 1]}}
    query = {"name": "ill", "kind": "histogram", "column": "ill"}
    persons = released(
        tmp_path, query, data=people, columns=columns, n=200, unit="person", rows_per_unit=2,
        population={"model": "independent", "covers": ["ill"], "source": "us"},
    )  # fmt: skip
    with pytest.raises(InputError, match="releases is 'person': expected a release whose records"):
        bdp.synthesize(persons)


def test_without_counts_there_is_no_table(tmp_path: Path) -> None:
    mean = released(tmp_path, MEAN)
    with pytest.raises(UnsupportedError, match="mean: a mean is not a number of rows"):
        bdp.synthesize(mean)


def test_without_the_extra_the_install_line_is_said(
    release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimate.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UnsupportedError, match=r"pip install 'bayesdp\[synthetic\]'"):
        bdp.synthesize(release)


@needs_mbi
def test_columns_that_hang_together_too_closely_are_refused(
    release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimate, "MOST_CELLS", 10)
    message = r"tie .*age.* to each other, and all need \d+\. Leave out a query.*--without.*ages"
    with pytest.raises(UnsupportedError, match=message):
        bdp.synthesize(release)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": 0}, "rows is 0"),
        ({"rows": synthesis.MOST_ROWS + 1}, "rows is 10000001"),
        ({"seed": -1}, "seed is -1"),
        ({"without": "mean"}, "without is 'mean': expected a list"),
        ({"without": ["men"]}, "Did you mean 'mean'"),
    ],
)
def test_wrong_arguments(release: Release, options: Document, message: str) -> None:
    with pytest.raises(InputError, match=message):
        bdp.synthesize(release, **options)


def test_no_text_of_the_file_is_a_formula(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A spreadsheet computes such texts; here the study chose them."""
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text('"=x",s\n' + "=1+1,-2\n@a,-\n" * 20)
    Path("s.toml").write_text(
        '[data]\nsource = "t.csv"\ndataset = "d"\nn = 40\n[data.columns]\n'
        '"=x" = { states = ["=1+1", "@a"] }\ns = { states = ["-2", "-"] }\n'
        '[population]\nmodel = "independent"\ncovers = ["=x", "s"]\nsource = "us"\n'
        '[budget]\nepsilon = 50\n[[query]]\nname = "h"\nkind = "histogram"\ncolumn = ["=x", "s"]\n'
    )
    for command in ("release s.toml --certificate c.json", "synthesize c.json --out made.csv"):
        result = CliRunner().invoke(app, command.split())
        assert result.exit_code == 0, result.output
    lines = Path("made.csv").read_text().splitlines()
    assert lines[0] == "'=x,s"
    assert set(lines[1:]) <= {"'=1+1,-2", "'=1+1,-", "'@a,-2", "'@a,-"}
    assert len(lines) == 41
