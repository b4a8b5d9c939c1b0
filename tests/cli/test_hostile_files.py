"""Files that are too large, unpack to too much, never end, are links, or hold a secret."""

from __future__ import annotations

import io
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from bayesdp import errors
from bayesdp.cli import app, common
from bayesdp.populations import files
from bayesdp.tables.files import parquet_files
from tests.golden.cases import PEOPLE, PEOPLE_CSV

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(PEOPLE_CSV)
    Path("people.toml").write_text(PEOPLE)


def shown(*command: str, status: int) -> str:
    result = CliRunner().invoke(app, list(command))
    assert result.exit_code == status, result.output
    return result.stdout + result.stderr


# -- limits ----------------------------------------------------------------------------------------

READERS = [
    ("check", "{}"),
    ("release", "{}"),
    ("explain", "{}"),
    ("verify", "{}"),
    ("sign", "{}", "--key", "me.key"),
    ("leakage", "{}", "--epsilon", "1"),
    ("calibrate", "{}", "--target", "1"),
    ("compose", "{}"),
    ("profile", "{}"),
    ("causal", "{}"),
    ("program", "check", "{}"),
    ("synthesize", "{}", "--out", "made.csv"),
]


@pytest.mark.parametrize("command", READERS, ids=" ".join)
def test_a_document_that_never_ends_is_read_as_far_as_its_limit(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(errors, "MOST_BYTES", 1 << 16)
    shown("key", "new", "me.key", status=0)
    Path("endless.py").symlink_to("/dev/zero")
    words = shown(*(part.format("endless.py") for part in command), status=2)
    assert "a text of at most 0 MiB" in words
    assert "Documents have no tables of data" in words


def test_a_document_as_large_as_the_limit_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    text = '{"model": "independent"}'
    monkeypatch.setattr(errors, "MOST_BYTES", len(text))
    Path("p.json").write_text(text)
    shown("leakage", "p.json", "--epsilon", "1", status=0)
    Path("p.json").write_text(text + " ")
    shown("leakage", "p.json", "--epsilon", "1", status=2)


def test_toml_is_limited_further_as_its_reader_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_LETTERS", len(PEOPLE))
    shown("check", "people.toml", status=0)
    Path("people.toml").write_text(PEOPLE + "#")
    for command in (["check", "people.toml"], ["leakage", "people.toml", "--epsilon", "1"]):
        assert "let it name files of its own" in shown(*command, status=2)


def test_texts_are_read_as_before() -> None:
    """Line ends of all kinds, and a byte order mark."""
    for content, text in ((b"\xef\xbb\xbfa\r\nb\rc\n", "a\nb\nc\n"), (b"", ""), (b"\xc3\xa9", "é")):
        Path("t").write_bytes(content)
        assert errors.text_of_file(Path("t"), "x") == text == Path("t").read_text("utf-8-sig")
    Path("t").write_bytes(b"\xff")
    with pytest.raises(errors.InputError, match="a text in UTF-8"):
        errors.text_of_file(Path("t"), "x")


def parquet(**columns: object) -> None:
    """The table as a new Parquet file, with other columns, and a study of it."""
    name = f"people{len(list(Path().glob('*.parquet')))}.parquet"
    frame = pd.read_csv(io.StringIO(PEOPLE_CSV)).assign(**columns)
    pq.write_table(pa.Table.from_pandas(frame), name, compression="zstd")
    Path("packed.toml").write_text(PEOPLE.replace("people.csv", name))


def test_a_text_of_a_small_parquet_file_that_unpacks_to_megabytes_is_refused() -> None:
    long = "y" * (parquet_files.MOST_BYTES_OF_A_CELL + 1)
    parquet(smokes=["yes", "no", long, "no", "yes", "no"])
    assert Path("people0.parquet").stat().st_size < 10_000
    words = shown("check", "packed.toml", "--data", status=1)
    assert "Column 'smokes' holds a text above 2 MB. Leave it out, or shorten it." in words
    general = shown("release", "packed.toml", status=1)
    assert "told to the curator only" in general
    assert "2 MB" not in general


def test_a_text_as_long_as_the_limit_and_columns_that_are_not_read_are_no_fault() -> None:
    most = parquet_files.MOST_BYTES_OF_A_CELL
    parquet(extra=["y" * (most + 1)] * 6, other=[b"y" * (most + 1)] * 6)
    shown("release", "packed.toml", status=0)
    parquet(smokes=["yes", "no", "é" * (most // 2), "no", "yes", "no"])
    assert "not declared states" in shown("check", "packed.toml", "--data", status=1)
    parquet(smokes=["yes", "no", "é" * (most // 2) + "e", "no", "yes", "no"])
    assert "above 2 MB" in shown("check", "packed.toml", "--data", status=1)


def large_study(source: str, rows: int) -> str:
    """A study of independent records, with eight quantiles and a histogram if there are texts."""
    texts = rows < 1_000_000
    columns = "height = { bounds = [120, 220] }\n"
    columns += 'smokes = { states = ["yes", "no"] }\n' if texts else ""
    queries = 'kind = "histogram"\ncolumn = "smokes"\n' if texts else ""
    return (
        f'[data]\nsource = "{source}"\ndataset = "large"\nn = {rows}\n[data.columns]\n{columns}'
        '[population]\nmodel = "independent"\ncovers = ["height"]\nsource = "us"\n'
        "[budget]\nepsilon = 1.0\n"
        + (f'[[query]]\nname = "texts"\n{queries}' if texts else "")
        + "".join(
            f'[[query]]\nname = "q{i}"\nkind = "quantile"\nprobability = 0.{i + 1}\n'
            'column = "height"\nstep = 0.5\n'
            for i in range(8)
        )
    ).replace('["height"]', '["height", "smokes"]' if texts else '["height"]')


def test_a_long_text_in_each_of_many_rows_takes_no_time() -> None:
    """One text in a dictionary, and a hundred thousand rows that point to it."""
    rows, long = 100_000, "y" * (1 << 23)
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([long]))
    pq.write_table(pa.table({"smokes": texts, "height": [150.0] * rows}), "people.parquet")
    Path("packed.toml").write_text(large_study("people.parquet", rows))
    before = time.process_time()
    assert "told to the curator only" in shown("release", "packed.toml", status=1)
    assert time.process_time() - before < 10.0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2 << 20


def test_sources_that_never_end_are_not_opened() -> None:
    Path("endless.csv").symlink_to("/dev/zero")
    os.mkfifo("pipe.csv")
    Path("circle.csv").symlink_to("circle.csv")
    for name in ("endless.csv", "pipe.csv", "circle.csv"):
        Path("s.toml").write_text(PEOPLE.replace("people.csv", name))
        assert "expected a file that exists" in shown("release", "s.toml", status=2)


# -- a way to see that a command works, and to stop it ---------------------------------------------


def test_a_command_that_takes_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(common, "PATIENCE", 0.05)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with common.patience():
        time.sleep(0.3)
    assert "At work for 0 s. Ctrl+C stops it." in sys.stderr.getvalue()
    assert sys.stderr.getvalue().endswith("\r\033[K")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with common.patience():
        pass
    assert sys.stderr.getvalue() == ""
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with common.patience():
        time.sleep(0.2)
    assert sys.stderr.getvalue() == ""


def test_an_interrupted_release_stops_at_once_and_spends_nothing() -> None:
    rows = 2_000_000
    table = pa.table({"height": [150.0] * rows})
    with pq.ParquetWriter("people.parquet", table.schema) as writer:
        for _ in range(10):
            writer.write_table(table)
    Path("s.toml").write_text(large_study("people.parquet", 10 * rows))
    code = (
        "import os, signal, threading\nfrom bayesdp.cli import main\n"
        "import bayesdp.release.drawing.table as place\nrun = place.run\n"
        "def watched(*given):\n"
        "    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "    return run(*given)\n"
        "place.run = watched\nmain()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "release", "s.toml"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
        timeout=120,
        check=False,
    )
    assert done.returncode == 128 + signal.SIGINT, done.stderr
    assert "Traceback" not in done.stderr
    assert not Path("ledger.db").exists()


# -- links -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--certificate", "--report"])
def test_an_output_that_is_a_link_to_a_ledger_or_a_table_is_refused(option: str) -> None:
    shown("release", "people.toml", status=0)
    before = {name: Path(name).read_bytes() for name in ("ledger.db", "people.csv", "people.toml")}
    Path("circle").symlink_to("circle")
    Path("chain").symlink_to("ledger.db")
    for target in (*before, "chain", "circle"):
        link = Path("link.json")
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        shown("release", "people.toml", option, "link.json", status=2)
        assert link.is_symlink()
    after = {name: Path(name).read_bytes() for name in before}
    assert after == before


def test_an_output_through_a_link_goes_where_the_link_points() -> None:
    Path("folder").mkdir()
    Path("c.json").symlink_to("folder/c.json")
    shown("release", "people.toml", "--certificate", "c.json", status=0)
    assert Path("c.json").is_symlink()
    assert json.loads(Path("folder/c.json").read_text())["format"] == "bayesdp-certificate"
    assert sorted(os.listdir("folder")) == ["c.json"]


def test_two_names_of_one_ledger_have_one_budget() -> None:
    Path("other.db").symlink_to("ledger.db")
    shown("release", "people.toml", status=0)
    linked = PEOPLE.replace("epsilon = 3.0", 'epsilon = 3.0\nledger = "other.db"')
    Path("linked.toml").write_text(linked)
    for _ in range(2):
        shown("release", "linked.toml", status=0)
    shown("release", "people.toml", status=1)
    assert Path("other.db").is_symlink()


# -- secrets ---------------------------------------------------------------------------------------


def test_a_private_key_is_in_no_output() -> None:
    shown("key", "new", "me.key", status=0)
    lines = Path("me.key").read_text().splitlines()
    secret = max(lines, key=len)
    assert Path("me.key").stat().st_mode & 0o077 == 0
    shown("release", "people.toml", "--certificate", "c.json", status=0)
    Path("broken.key").write_text("\n".join([*lines[:-1], secret[5:], "x"]))
    Path("copy.json").write_text(Path("me.key").read_text())
    texts = [
        shown("sign", "c.json", "--key", "me.key", status=0),
        shown("verify", "c.json", "--public-key", "me.key.pub", status=0),
        shown("sign", "c.json", "--key", "broken.key", status=2),
        shown("sign", "copy.json", "--key", "me.key", status=2),
        shown("verify", "me.key", status=2),
        shown("verify", "c.json", "--public-key", "me.key", status=2),
        shown("explain", "me.key", status=2),
        shown("check", "me.key", status=2),
        shown("leakage", "me.key", "--epsilon", "1", status=2),
        shown("key", "new", "me.key", status=2),
        Path("c.json").read_text(),
        Path("me.key.pub").read_text(),
    ]
    for text in texts:
        assert not any(secret[i : i + 12] in text for i in range(len(secret) - 12)), text
