"""Fuzzing guided by coverage, with Atheris: `python -m tests.fuzz.coverage READER [options]`.

Atheris is in no lock file: install it beside (`pip install atheris`). READER is a key of `STARTS`;
options are libFuzzer's, such as `-max_total_time=600`. An error that is not bayesdp's own stops it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.fuzz import seeds


def _export() -> tuple[str, ...]:
    from tests.fuzz.ledgers import ledger  # after bayesdp was imported to be observed

    return (ledger()[1],)


STARTS: dict[str, Callable[[], tuple[str, ...]]] = {
    "program.py": seeds.programs,
    "population.json": lambda: tuple(map(json.dumps, seeds.POPULATIONS)),
    "net.bif": lambda: (seeds.bif(),),
    "certificate.json": seeds.certificates,
    "all.jsonl": _export,
}


def main(name: str, options: list[str]) -> None:
    import atheris

    with atheris.instrument_imports(include=["bayesdp"]):
        from bayesdp.accounting import Ledger
        from bayesdp.accounting.costs.composition import level
        from bayesdp.cli.programs import verdicts
        from bayesdp.errors import BayesdpError
        from bayesdp.populations import load
        from bayesdp.verification import verify
        from tests.fuzz.ledgers import chained_anew

    def restored(path: Path) -> None:
        """Import the lines, whose hashes are made to fit."""
        new = path.with_name("new.db")
        new.unlink(missing_ok=True)
        Ledger(new, level=level).restore(chained_anew(path.read_bytes()))

    readers: dict[str, Callable[[Path], Any]] = {
        "program.py": lambda path: verdicts(path, None, None, {}),
        "population.json": lambda path: load(str(path)),
        "net.bif": lambda path: load(json.dumps({"model": "network", "bif": str(path)})),
        "certificate.json": verify,
        "all.jsonl": restored,
    }
    with TemporaryDirectory(prefix="bayesdp-fuzz-") as folder:
        path, corpus = Path(folder, name), Path(folder, "corpus")
        corpus.mkdir()
        for i, text in enumerate(STARTS[name]()):
            (corpus / str(i)).write_text(text)

        def read(content: bytes) -> None:
            path.write_bytes(content)
            try:
                readers[name](path)
            except BayesdpError:
                return

        limits = ["-timeout=10", "-rss_limit_mb=2048", "-max_len=20000"]
        atheris.Setup([name, *options, str(corpus), *limits], read)
        atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
