"""What is fed with damaged inputs: a command that reads them, with limits on time and memory.

A target makes an input from a source of chance; `run` gives it to the command. The answer must be
an exit status of 0, 1 or 2 with something said, within `SECONDS` of processor time and `BYTES`.
"""

from __future__ import annotations

import contextlib
import json
import resource
import signal
import tomllib
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from typer.testing import CliRunner

from bayesdp.cli import app
from tests.fuzz import ledgers, seeds
from tests.fuzz.mutations import as_json, bytes_damaged, damaged, text_damaged

SECONDS = 10.0
BYTES = 2 * 2**30

Make = Callable[[Random], bytes]


@dataclass(frozen=True)
class Target:
    """A file of a name, made by `make`, and the commands that read it."""

    file: str
    make: Make
    commands: tuple[tuple[str, ...], ...]


class TooLongError(Exception):
    """A command took more than `SECONDS` of processor time."""


def toml_of(document: Any) -> str:
    """A document as TOML, as far as TOML can say it; else as text that no reader takes."""
    return "\n".join(f"{_key(key)} = {_value(value)}" for key, value in document.items())


def _key(key: Any) -> str:
    return json.dumps(str(key))


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, float):
        return repr(value)
    return '"null"' if value is None else json.dumps(value)


def _study(random: Random) -> bytes:
    text = random.choice(seeds.studies())
    if random.random() < 0.4:
        return text_damaged(text, random).encode("utf-8", "replace")
    document = damaged(tomllib.loads(text), random)
    return toml_of(document).encode("utf-8", "replace")


def _population(random: Random) -> bytes:
    document = damaged(random.choice(seeds.POPULATIONS), random)
    if not isinstance(document, dict) or random.random() < 0.6:
        return as_json(document, random).encode("utf-8", "replace")
    return text_damaged(as_json(document, random), random).encode("utf-8", "replace")


def _certificate(random: Random) -> bytes:
    text = random.choice(seeds.certificates())
    if random.random() < 0.2:
        return text_damaged(text, random).encode("utf-8", "replace")
    document = damaged(json.loads(text), random)
    if isinstance(document, dict) and "digest" in document and random.random() < 0.9:
        from bayesdp.certificate import content_of, digest

        with contextlib.suppress(ValueError, TypeError, RecursionError):
            document["digest"] = digest(content_of(document))
    return as_json(document, random).encode("utf-8", "replace")


def _program(random: Random) -> bytes:
    return text_damaged(random.choice(seeds.programs()), random).encode("utf-8", "replace")


def _text(text: Callable[[], str]) -> Make:
    return lambda random: (
        text_damaged(text(), random).encode("utf-8", "replace")
        if random.random() < 0.7
        else bytes_damaged(text().encode(), random)
    )


def _causal(random: Random) -> bytes:
    spec = tomllib.loads((seeds.EXAMPLES / "relatives.toml").read_text())
    return as_json(damaged(spec, random), random).encode("utf-8", "replace")


def _releases(random: Random) -> bytes:
    spec = {
        "population": random.choice(seeds.POPULATIONS),
        "releases": [
            {"name": "a", "dp_epsilon": 0.5},
            {"name": "b", "rho": 0.1, "block": "x"},
            {"name": "c", "dp_epsilon": 0.1, "dp_delta": 1e-7},
        ],
    }
    return as_json(damaged(spec, random), random).encode("utf-8", "replace")


def _model(random: Random) -> bytes:
    spec = {
        "population": {"model": "finite", "probabilities": [[0.4, 0.1], [0.1, 0.4]]},
        "channel": [[[0.6, 0.4], [0.5, 0.5]], [[0.5, 0.5], [0.4, 0.6]]],
    }
    return as_json(damaged(spec, random), random).encode("utf-8", "replace")


def _table(kind: str) -> Target:
    """A table of people in a file of another kind."""
    return Target(
        seeds.FORMATS[kind].partition("::")[0],
        lambda random: bytes_damaged(seeds.in_format(kind), random),
        (("check", f"{kind}.toml", "--data"), ("release", f"{kind}.toml", "--json")),
    )


_LEVEL = ("--epsilon", "0.5", "--seconds", "1")
TARGETS: dict[str, Target] = {
    "study": Target("study.toml", _study, (("check", "study.toml"), ("explain", "study.toml"))),
    "released study": Target("study.toml", _study, (("release", "study.toml", "--json"),)),
    "population": Target(
        "population.json",
        _population,
        (
            ("leakage", "population.json", *_LEVEL, "--certificate", "out.json"),
            ("verify", "out.json"),
        ),
    ),
    "certificate": Target("c.json", _certificate, (("verify", "c.json"), ("explain", "c.json"))),
    "synthesis": Target("c.json", _certificate, (("synthesize", "c.json", "--out", "made.csv"),)),
    "program": Target("program.py", _program, (("program", "check", "program.py"),)),
    "bif": Target(
        "net.bif", _text(seeds.bif), (("leakage", '{"model":"network","bif":"net.bif"}', *_LEVEL),)
    ),
    "edges": Target(
        "edges.csv",
        _text(lambda: seeds.EDGES),
        (
            (
                "leakage",
                '{"model":"graph","records":5,"edges":"edges.csv","table":[[2,1],[1,2]]}',
                *_LEVEL,
            ),
        ),
    ),
    "matrix": Target(
        "matrix.mtx",
        _text(lambda: seeds.MARKET),
        (
            (
                "leakage",
                '{"model":"gaussian","precision":"matrix.mtx"}',
                *_LEVEL,
                "--kind",
                "lipschitz",
            ),
        ),
    ),
    "csv": Target(
        "people.csv",
        _text(lambda: seeds.PEOPLE_CSV),
        (("check", "people.toml", "--data"), ("release", "people.toml", "--json")),
    ),
    "public csv": Target(
        "public.csv",
        _text(lambda: seeds.DAYS_CSV),
        (
            (
                *("fit", "public.csv", "--model", "markov", "--column", "active"),
                *("--series", "person", "--time", "day", "--length", "3"),
            ),
        ),
    ),
    **{kind: _table(kind) for kind in seeds.FORMATS},
    "causal": Target("causal.json", _causal, (("causal", "causal.json"),)),
    "releases": Target("releases.json", _releases, (("compose", "releases.json"),)),
    "model": Target("model.json", _model, (("profile", "model.json"),)),
    "ledger export": Target(
        "all.jsonl", ledgers.export, (("ledger", "import", "all.jsonl"), *ledgers.COMMANDS)
    ),
    "ledger file": Target("ledger.db", ledgers.file, (*ledgers.COMMANDS, *ledgers.WRITING)),
    "ledger against": Target(
        "held.json",
        ledgers.certificate,
        (("ledger", "verify", "--ledger", "whole.db", "--against", "held.json"),),
    ),
}


def prepare() -> None:
    """Write into the folder what commands read beside the damaged file."""
    for name, text in seeds.TABLES.items():
        Path(name).write_text(text)
    Path("people.toml").write_text(seeds.PEOPLE)
    for kind, source in seeds.FORMATS.items():
        Path(f"{kind}.toml").write_text(seeds.PEOPLE.replace("people.csv", source))
    whole, _, certificate = ledgers.ledger()
    Path("whole.db").write_bytes(whole)
    Path("kept.json").write_text(certificate)


def run(target: Target, content: bytes) -> str | None:
    """What is wrong with the answers to this input, or `None`."""
    for name in ("out.json", "made.csv", "made.note.json", *map(str, Path().glob("ledger.db*"))):
        Path(name).unlink(missing_ok=True)
    Path(target.file).write_bytes(content)
    try:
        for command in target.commands:
            if command[1] == "out.json" and not Path("out.json").exists():
                continue
            if problem := _problem(command):
                return f"{' '.join(command)}: {problem}"
    finally:
        for name, text in seeds.TABLES.items():
            if target.file == name:
                Path(name).write_text(text)
    return None


def _problem(command: tuple[str, ...]) -> str | None:
    try:
        with time_limit():
            result = CliRunner().invoke(app, list(command))
    except TooLongError:
        return f"more than {SECONDS} seconds"
    if isinstance(result.exception, TooLongError):
        return "".join(["too long: ", *traceback.format_exception(result.exception)[-6:]])
    if not isinstance(result.exception, SystemExit | None):
        return "".join(traceback.format_exception(result.exception))
    if result.exit_code not in (0, 1, 2):
        return f"exit status {result.exit_code}"
    if not (result.stdout + result.stderr).strip():
        return "nothing was said"
    if peak() > BYTES:
        return f"{peak() / 2**30:.1f} GiB"
    return None


def peak() -> int:
    """The most memory that this process has held, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@contextlib.contextmanager
def time_limit() -> Iterator[None]:
    """Raises `TooLongError` inside, after `SECONDS` of processor time."""

    def stop(*_: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
