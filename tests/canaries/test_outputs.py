"""Every command at its most verbose on a table of canaries: no output holds a private value.

Outputs are what is printed, the files that are written (reports, figures, certificates, the ledger
as bytes, populations, synthetic tables), what any library logs, and errors with all their causes.
Noise is replaced by numbers that do not depend on what was counted, so that nothing is by chance.
"""

from __future__ import annotations

import hashlib
import json
import logging
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bayesdp.cli import app
from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace
from bayesdp.mechanisms.selection import NoisyMax
from tests.canaries import studies, tables
from tests.cli.test_help import commands

PRIVATE_FILES = {"people.csv", "other.csv", "people.parquet", "habits.csv"}


def _unrelated(values: Sequence[int]) -> list[int]:
    """Numbers of three digits that tell nothing of the values."""
    return [int(hashlib.sha256(f"{i}{v}".encode()).hexdigest(), 16) % 997 for i, v in
            enumerate(values)]  # fmt: skip


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for law in (DiscreteLaplace, DiscreteGaussian):
        monkeypatch.setattr(law, "release", lambda _, values: _unrelated(values))
    monkeypatch.setattr(NoisyMax, "choose", lambda _, scores: len(scores) // 2)
    Path("people.csv").write_text(tables.csv())
    Path("wealth.py").write_text(studies.PROGRAM)
    Path("people.toml").write_text(studies.people())
    Path("answers.toml").write_text(studies.PEOPLE + studies.ANSWERS)
    Path("chain.toml").write_text(studies.CHAIN)
    Path("habits.csv").write_text(tables.habits())
    Path("habits.toml").write_text(studies.HABITS)


class Outputs:
    """What commands print, write, log and raise."""

    def __init__(self, log: pytest.LogCaptureFixture) -> None:
        self._log = log
        self._looked_at: set[tuple[Path, int, int]] = set()

    def run(self, *arguments: str, reads_table: bool = True) -> int:
        """The exit status of a command, none of whose outputs may hold a canary.

        Where it `reads_table`, nor may errors that no traceback shows, behind those that are.
        """
        result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"})
        assert isinstance(result.exception, SystemExit | None), f"{arguments}: a traceback"
        self.hold_no_canary(
            " ".join(arguments),
            result.stdout,
            result.stderr,
            words(result.exception, hidden=reads_table),
        )
        return result.exit_code

    def hold_no_canary(self, what: str, *texts: str) -> None:
        """Look at these texts, at all files that were written and at the log."""
        for text in texts:
            if seen := tables.canaries_in(text):
                pytest.fail(f"{what} shows {seen[:3]}: {around(text, seen[0])}")
        for path in Path().rglob("*"):
            there = (path, path.stat().st_mtime_ns, path.stat().st_size)
            if path.is_file() and path.name not in PRIVATE_FILES and there not in self._looked_at:
                self._looked_at.add(there)
                text = path.read_bytes().decode("utf-8", "replace")
                seen = tables.canaries_in(text)
                assert not seen, f"{what} writes {seen}: {path}"
        logged = "\n".join(
            record.getMessage() + "".join(traceback.format_exception(*record.exc_info))
            if record.exc_info
            else record.getMessage()
            for record in self._log.records
        )
        self._log.clear()
        seen = tables.canaries_in(logged)
        assert not seen, f"{what} logs {seen}"


def around(text: str, canary: str) -> str:
    """The line of a text in which a canary stands, cut to what is near it."""
    lines = [line for line in text.splitlines() if canary in tables.canaries_in(line)]
    place = max(lines[0].find(canary[:6]), 0) if lines else 0
    return lines[0][max(place - 200, 0) : place + 100] if lines else ""


def words(error: BaseException | None, *, hidden: bool = True) -> str:
    """An error as a traceback; with `hidden` also all errors that led to it."""
    if error is None:
        return ""
    texts = ["".join(traceback.format_exception(error))]
    behind: BaseException | None = error
    while hidden and behind is not None:  # also causes that a traceback would leave out
        texts.append(f"{behind!r} {behind.args!r}")
        behind = behind.__cause__ or behind.__context__
    return "\n".join(texts)


@pytest.fixture
def outputs(caplog: pytest.LogCaptureFixture) -> Iterator[Outputs]:
    """The outputs of commands, with everything logged that any library logs."""
    with caplog.at_level(logging.DEBUG):
        loggers = [logging.getLogger(name) for name in list(logging.root.manager.loggerDict)]
        levels = [logger.level for logger in loggers]
        for logger in [*loggers, logging.getLogger("sqlalchemy.engine")]:
            logger.setLevel(logging.DEBUG)
        yield Outputs(caplog)
        logging.getLogger("sqlalchemy.engine").setLevel(logging.NOTSET)
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


# -- canaries are recognised -----------------------------------------------------------------------


def test_a_canary_is_recognised_however_it_is_written() -> None:
    number = float(tables.INCOMES[1])
    total = float(sum(tables.INCOMES))
    for text in (
        *(f"x={number}", f"{number:.6g}", f"{number:.5e}", f"{number:,.2f}", f"-{number:.0f}"),
        *(
            f"({number / 100})",
            f"{number:_.0f}",
            f"{number:,.0f}".replace(",", " "),
            f"[0, {number}]",
            f"{total:.7g}",
        ),
        *(tables.NOTES[3], f"'{tables.HOUSES[0]}'", f"{tables.DAYS[2]}T00:00:00"),
    ):
        assert tables.canaries_in(f"the value {text}."), text
    for text in ("73918", "0x73918264f", "a73918264", "cafe7391826442ff", "100000000", "zqnote"):
        assert not tables.canaries_in(text), text


def test_a_command_that_shows_a_canary_is_noticed(outputs: Outputs) -> None:
    Path("note.txt").write_text(tables.NOTES[5])
    with pytest.raises(AssertionError, match=r"note\.txt"):
        outputs.run("check", "people.toml")
    Path("note.txt").unlink()
    logging.getLogger("any.library").debug("cell %s", tables.INCOMES[0])
    with pytest.raises(AssertionError, match="logs"):
        outputs.run("check", "people.toml")


# -- every command ---------------------------------------------------------------------------------

POPULATION = '{"model":"clusters","size":4}'
CHANNEL = '{"channel": [[[0.6, 0.4], [0.5, 0.5]], [[0.5, 0.5], [0.4, 0.6]]]}'
PUBLIC_ONLY = {
    ("demo",): "reads the two tables that come with the package",
}


def test_no_command_shows_a_private_value(
    outputs: Outputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = outputs.run
    for study in ("people.toml", "answers.toml", "chain.toml", "habits.toml"):
        for more in ([], ["--verbose", "--data"], ["--json", "--data"], ["--target", "0.5,4"]):
            assert run("check", study, *more) == 0, (study, more)
        run("check", study, "--stress", "--figure", "stress.svg")
        assert run("explain", study) == run("explain", study, "--json") == 0
        for more in (["--report", "report.html", "--certificate", f"{study}.json"], ["--json"]):
            assert run("release", study, *more) == 0, (study, more)
        assert run("ledger", "register", study) == 0
        assert run("ledger", "register", study, "--json") == 0
    fit = ("fit", "habits.toml", "--private", "--column", "ill", "--dp-epsilon", "1")
    length = ("--length", "100")
    assert run(*fit, *length, "--plan") == run(*fit, *length, "--plan", "--json") == 0
    assert run(*fit, *length, "--out", "population.toml") == 0
    assert run(*fit, *length, "--json", "--again") == 0
    assert run("ledger", "show") == run("ledger", "show", "--json") == 0
    assert run("key", "new", "me.key") == 0
    for certificate in ("people.toml.json", "answers.toml.json", "chain.toml.json"):
        assert run("sign", certificate, "--key", "me.key") == 0
        assert run("verify", certificate, "--public-key", "me.key.pub") == 0
        assert run("verify", certificate, "--json") == 0
        assert run("explain", certificate) == run("explain", certificate, "--json") == 0
    assert run("synthesize", "people.toml.json", "--out", "made.csv", "--rows", "50") == 0
    Path("made.csv").unlink()
    assert run("synthesize", "people.toml.json", "--out", "made.csv", "--json") == 0
    for program in (["check", "wealth.py", "--certificate", "p.json"], ["falsify", "wealth.py"]):
        assert run("program", *program) == run("program", *program[:2], "--json") == 0


def test_no_command_that_reads_no_table_shows_it_when_given_it(outputs: Outputs) -> None:
    """The table as the argument of every command: somebody mistook it for a study.

    Of documents of keys and values the keys are shown: without them no mistake could be named.
    """
    named = [dict(zip(tables.HEADER.split(","), row, strict=True)) for row in tables.rows()]
    for name, text in {
        "first.csv": tables.csv(header=""),
        "values.toml": "".join(f'key{i} = "{note}"\n' for i, note in enumerate(tables.NOTES)),
        "list.json": json.dumps(tables.NOTES),
        "map.json": json.dumps(dict(enumerate(tables.NOTES))),
        "rows.json": json.dumps(named),
        "row.json": json.dumps(named[:1]),
    }.items():
        Path(name).write_text(text)
        PRIVATE_FILES.add(name)
    for path, command in commands():
        if hasattr(command, "commands") or path in PUBLIC_ONLY or path == ("key", "new"):
            continue
        for file in sorted(PRIVATE_FILES - {"other.csv", "people.parquet", "habits.csv"}):
            for more in (_needed(path, file), ["--json"], []):
                status = outputs.run(*path, file, *more, reads_table=False)
                assert status in (1, 2), (path, file)


def _needed(path: tuple[str, ...], file: str) -> list[str]:
    """The options without which a command looks at nothing."""
    return {
        ("leakage",): ["--epsilon", "1", "--mechanism", file],
        ("calibrate",): ["--target", "1"],
        ("compose",): ["--population", file],
        ("sign",): ["--key", file],
        ("verify",): ["--public-key", file],
        ("synthesize",): ["--out", "made.csv"],
        ("notions",): ["--given", "dp=1", "--population", file],
        ("causal",): ["--mechanism", file],
        ("fit",): ["--private", "--column", "ill", "--dp-epsilon", "1", "--length", "5"],
        ("ledger", "show"): ["--ledger", file],
    }.get(path, [])
