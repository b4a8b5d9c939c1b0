"""What the kernel's other tests ask it: every certificate and every step, for mutants to be shown.

The tests are run by a process of their own, in their short version, with a recorder in the kernel.
So a test of a rule that is added anywhere shows its certificates to the rule's mutants as well.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from bayesdp.kernel import certificates
from bayesdp.kernel.conversions import conversion

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LONG = {"mutants", "time_limit", "witnesses", "forger", "leaves", "programs"}
"""Of these files the certificates are slow, or very many of one kind."""
OTHERS = (
    "verification/test_certificates.py",
    "release/test_program_answers.py",
    "release/test_program_certificates.py",
    "release/test_balanced.py",
    "release/test_blocks.py",
    "release/test_mechanism.py",
)
"""Files of other rooms that forge certificates, too."""
MOST_LETTERS = 200_000


def asked() -> list[dict[str, Any]]:
    """The documents: certificates, and steps alone."""
    with TemporaryDirectory(prefix="bayesdp-recorded-") as folder:
        out = Path(folder) / "asked.json"
        command = [sys.executable, "-W", "ignore", "-m", "tests.kernel.recorded", str(out)]
        subprocess.run(command, cwd=ROOT, env=os.environ | {"BAYESDP_PROVE": "0"}, check=True)
        documents: list[dict[str, Any]] = json.loads(out.read_text(encoding="utf-8"))
    return documents


def _record(out: Path) -> int:
    texts: dict[str, None] = {}
    recorded(certificates, "_check", texts)
    recorded(conversion, "_certified_level", texts)
    files = [str(p) for p in HERE.glob("test_*.py") if p.stem.removeprefix("test_") not in LONG]
    files += [str(HERE.parent / name) for name in OTHERS]
    missing = [name for name in files if not Path(name).exists()]
    assert not missing, missing
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header"]
    status = pytest.main([*options, *sorted(files)])
    out.write_text(f"[{','.join(texts)}]", encoding="utf-8")
    return int(status)


def recorded(module: Any, name: str, texts: dict[str, None]) -> None:
    """From here on the function takes note of what it is called with."""
    function = getattr(module, name)

    def noting(document: Any) -> Any:
        try:
            text = json.dumps(document, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            return function(document)  # not plain data: this test's own matter
        if len(text) < MOST_LETTERS and isinstance(document, dict):
            texts[text] = None
        return function(document)

    setattr(module, name, noting)


if __name__ == "__main__":
    sys.exit(_record(Path(sys.argv[1])))
