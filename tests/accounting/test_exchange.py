"""Ledgers as JSON lines: exported, checked, imported; and backups that are put back."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bayesdp.accounting import Ledger
from bayesdp.accounting.canonical import canonical_json
from bayesdp.accounting.log.entries import Entry, hash_of
from bayesdp.accounting.log.exchange import entries_of
from bayesdp.accounting.stores import verified
from bayesdp.cli import app
from bayesdp.errors import BudgetExceededError, InputError, LedgerError, Refusal
from tests.accounting.chains import chain_anew, change, filled
from tests.accounting.helpers import debit, ledger, spend
from tests.accounting.test_version_2 import run as run_script


@pytest.fixture
def book(tmp_path: Path) -> Ledger:
    return filled(tmp_path / "ledger.db")


def restored(folder: Path, lines: list[str]) -> Ledger:
    copy = ledger(folder / "copy.db")
    copy.restore(lines)
    return copy


def test_what_is_exported_is_imported(book: Ledger, tmp_path: Path) -> None:
    debit(book, 0.25)  # without a result
    lines = book.export()
    assert [json.loads(line)["sequence"] for line in lines] == list(range(1, 20))
    assert all("\n" not in line for line in lines)
    copy = ledger(tmp_path / "copy.db")
    assert copy.restore(lines) == copy.head() == book.head()
    assert copy.export() == lines
    assert copy.faults() == []
    assert (copy.show(), copy.refusals()) == (book.show(), book.refusals())
    with pytest.raises(BudgetExceededError):  # what was spent is spent
        debit(copy, 0.25)
    debit(copy, 0.125)


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in (tmp_path / "pipe", tmp_path, Path("/dev/zero"), tmp_path / "missing"):
        words = ["ledger", "import", str(name), "--ledger", str(tmp_path / "new.db")]
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 2, done.output
        assert "FILE is" in done.output
        assert not (tmp_path / "new.db").exists()


ODD = "\x1b[31m\u202e\u200b\nx  released  [bold]<b>"


def test_names_in_an_import_do_nothing_but_stand_there(
    book: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Colours, marks of direction and lines in whatever people have written."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "10000")
    book.share("d", "Bo", 0.5)
    book.freeze("d", "why")
    plain = [json.loads(line) for line in book.export()]
    for entry in plain:
        said = entry["content"]
        words = {"analyst", "by", "study", "reason" if entry["kind"] == "frozen" else "study"}
        for key in words & set(said):
            said[key] += ODD
        for cost in said.get("spends", ()):
            cost["query"] += ODD
        if "columns" in said:
            said["columns"] = {name + ODD: flag for name, flag in said["columns"].items()}
        entry["dataset"] += ODD if entry["dataset"] else ""
    Path("odd.jsonl").write_text("\n".join(chained(plain)) + "\n")
    name = "d" + ODD
    for words, code in (
        ("import odd.jsonl", 0),
        ("show", 0),
        ("trail", 0),
        ("verify", 0),
        ("trail --analyst nobody", 2),
        ("show --data-set nobody", 2),
        (["share", name, "Cy", "0.5"], 0),
        (["share", name, "bo", "0.5"], 0),
        (["thaw", name], 0),
        (["freeze", name], 0),
    ):
        asked = words.split() if isinstance(words, str) else words
        done = CliRunner().invoke(app, ["ledger", *asked, "--ledger", "odd.db"])
        assert done.exit_code == code, done.output
        assert not set(done.output) & set("\x1b\u202e\u200b"), words
        if code == 0:
            assert not any(line.startswith("x ") for line in done.output.split("\n")), words
    with pytest.raises(Refusal) as caught:
        ledger("odd.db").debit(name, "row", [spend(dataset=name)], study="s", request={})
    assert ODD not in str(caught.value).replace(name, "")


def chained(plain: list[dict[str, Any]]) -> list[str]:
    """Entries of an export, with hashes that fit."""
    previous = ""
    for entry in plain:
        entry["previous"] = previous
        parts = [entry[key] for key in Entry.__slots__[:-1]]
        parts[Entry.__slots__.index("content")] = canonical_json(entry["content"])
        entry["hash"] = previous = hash_of(parts)
    return [json.dumps(entry) for entry in plain]


def test_a_ledger_is_imported_into_a_new_one_only(book: Ledger, tmp_path: Path) -> None:
    other = filled(tmp_path / "other.db")
    before = other.path.read_bytes()
    for there in (other, book):
        with pytest.raises(LedgerError, match="not there yet"):
            there.restore(book.export())
    assert other.path.read_bytes() == before


def test_the_loser_of_a_race_imports_nothing(
    book: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = ledger(tmp_path / "copy.db")
    link, winner = os.link, filled(tmp_path / "winner.db")

    def late(source: str, target: str) -> None:
        winner.path.rename(target)
        link(source, target)

    monkeypatch.setattr("bayesdp.accounting.stores.storage.os.link", late)
    with pytest.raises(LedgerError, match="not there yet"):
        copy.restore(book.export())
    assert copy.head() != book.head()


def test_edits_of_an_export_are_found_at_a_thousand_places(book: Ledger) -> None:
    lines = book.export()
    whole = "\n".join(lines)
    assert entries_of(lines)
    rng, made = random.Random(3), 0
    while made < 1000:
        place = rng.randrange(len(whole))
        sign = rng.choice([sign for sign in '01x"{}, ' if sign != whole[place]])
        edited = rng.choice(
            [
                whole[:place] + sign + whole[place + 1 :],
                whole[:place] + sign + whole[place:],
                whole[:place] + whole[place + 1 :],
            ]
        )
        if same(edited, whole):  # a space between two words of JSON
            continue
        made += 1
        with pytest.raises(InputError, match="Nothing was imported"):
            entries_of(edited.split("\n"))
    for number in range(len(lines) - 1):
        for edited_lines in (
            lines[:number] + lines[number + 1 :],
            [*lines[:number], lines[number + 1], lines[number], *lines[number + 2 :]],
            [*lines[: number + 1], *lines[number:]],
        ):
            with pytest.raises(InputError, match="Nothing was imported"):
                entries_of(edited_lines)


def same(edited: str, whole: str) -> bool:
    try:
        parsed = [json.loads(line) for line in edited.split("\n")]
    except ValueError:
        return False
    return repr(parsed) == repr([json.loads(line) for line in whole.split("\n")])


def test_a_cut_tail_is_a_shorter_ledger(book: Ledger, tmp_path: Path) -> None:
    """Which only the certificates of its releases tell."""
    lines = book.export()
    copy = restored(tmp_path, lines[:-4])
    (shown,) = copy.show()
    last = book.show()[0]["releases"][-1]
    certificate = {"release": last["id"], "ledger": {"sequence": 14, "head": last["head"]}}
    assert copy.faults() == []
    assert copy.uncounted({"c": certificate}) == []
    assert [fault.problem for fault in copy.faults({"c": certificate})] == [
        "the ledger has its debit and no result, though this one was handed out"
    ]
    shorter = ledger(tmp_path / "shorter.db")
    shorter.restore(lines[:-6])
    assert shorter.uncounted({"c": certificate}) == ["c"]
    assert shown["spent"] == 0.625


LINES: dict[str, tuple[Callable[[list[str]], list[str]], str]] = {
    "none": (lambda lines: [], "entry 1"),
    "no JSON": (lambda lines: ["x", *lines[1:]], "line 1"),
    "a list": (lambda lines: [*lines[:2], "[]"], "line 3"),
    "a number": (lambda lines: [*lines[:2], "5"], "line 3"),
    "another key": (lambda lines: [with_key(lines[0], "note", "x")], "other fields"),
    "a result of no result": (lambda lines: [with_key(lines[0], "result", "x")], "other fields"),
    "a type": (lambda lines: [with_key(lines[0], "sequence", True)], "other fields"),
    "another type": (lambda lines: [with_key(lines[0], "time", 5)], "other fields"),
    "a text in place of an object": (lambda lines: [with_key(lines[0], "content", "x")], "entry 1"),
    "a key twice": (lambda lines: ['{"sequence": 1, ' + lines[0][1:]], "given twice"),
    "no number": (lambda lines: [lines[0].replace('"3"', "NaN")], "NaN is not a number"),
    "deep": (lambda lines: ["[" * 100_000], "line 1"),
}


def with_key(line: str, key: str, value: Any) -> str:
    return json.dumps(json.loads(line) | {key: value})


@pytest.mark.parametrize("name", LINES)
def test_what_is_no_export_is_refused(book: Ledger, tmp_path: Path, name: str) -> None:
    changed, expected = LINES[name]
    with pytest.raises(InputError, match=expected):
        restored(tmp_path, changed(book.export()))
    assert not (tmp_path / "copy.db").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.db"]


def test_a_whole_chain_whose_entries_do_not_hold_is_refused(book: Ledger, tmp_path: Path) -> None:
    change(book.path, "UPDATE entries SET content = replace(content, '0.125', '0.75')")
    chain_anew(book.path)
    with pytest.raises(InputError, match=r"the releases are at 3\.75"):
        restored(tmp_path, book.export())
    change(book.path, "UPDATE entries SET kind = 'refusal' WHERE kind = 'release'")
    chain_anew(book.path)
    with pytest.raises(LedgerError, match="damaged"):
        book.export()


def test_empty_lines_say_nothing(book: Ledger, tmp_path: Path) -> None:
    lines = book.export()
    assert restored(tmp_path, ["", *lines, "\n"]).head() == book.head()


def test_an_older_ledger_is_brought_up_to_date_for_its_export(tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    run_script(old, (Path(__file__).parent / "version_2.sql").read_text(encoding="utf-8"))
    book = ledger(old)
    lines = book.export()
    assert book.faults() == []
    assert restored(tmp_path, lines).head() == book.head()


# -- the commands ----------------------------------------------------------------------------------


def ask(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["ledger", *arguments])
    return result.exit_code, " ".join(result.output.split())


def test_a_backup_is_put_back(
    book: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    head = book.head()
    assert ask("export", "backup.jsonl") == (0, f"Exported: 18 entries, head {head.hash}")
    assert ask("export", "--ledger", "ledger.db")[1].startswith('{"sequence": 1, "kind": "ledger"')
    for taken in ("ledger.db", "ledger.db-journal"):
        assert ask("export", taken)[0] == 2
    assert ask("export", "no/folder.jsonl")[0] == 2
    Path("diary.jsonl").write_text("mine")
    assert ask("export", "diary.jsonl")[0] == 2
    assert ask("export", "backup.jsonl")[0] == 0  # over the older one
    assert ask("import", "backup.jsonl")[0] == 2  # it is there still
    Path("ledger.db").rename("lost.db")
    assert ask("import", "backup.jsonl") == (0, f"Imported: 18 entries, head {head.hash}")
    assert ask("verify")[0] == 0
    assert book.head() == head
    status, said = ask("import", "backup.jsonl", "--ledger", "more.db", "--json")
    assert (status, json.loads(said)) == (0, {"entries": 18, "head": head.hash})
    Path("bytes.jsonl").write_bytes(b"\xff")
    for name in ("missing.jsonl", "bytes.jsonl", "."):
        status, said = ask("import", name, "--ledger", "new.db")
        assert (status, "an export to read" in said) == (2, True)
    assert not Path("new.db").exists()


def test_a_copy_of_the_file_is_a_backup_too(book: Ledger, tmp_path: Path) -> None:
    shutil.copy(book.path, tmp_path / "backup.db")
    debit(book, 0.25)
    shutil.copy(tmp_path / "backup.db", book.path)
    assert "an older copy was put back" in book.faults()[0].problem  # this process knows
    verified.forget()
    assert book.faults() == []
    assert book.show()[0]["spent"] == 0.625
