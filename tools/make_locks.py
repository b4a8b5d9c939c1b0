"""Make all requirements*.lock anew from pyproject.toml (`make lock`).

One lock holds for every platform and every Python that we support, with a hash for each file. It
names no index: where packages come from is the machine's business, what they are is the hash's.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOL = "uv==0.13.9"
ENVIRONMENT = ROOT / ".venv-lock"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Spark is a download of 400 MB: it has a lock of its own, and its tests are skipped without it.
EXTRAS = [f"--extra={name}" for name in sorted(PROJECT["optional-dependencies"]) if name != "spark"]
# The demo draws its figures with the report extra; the tests read Polars tables too.
LOCKS = {
    "requirements.lock": ["--extra", "report", "--group", "build"],
    "requirements-dev.lock": [*EXTRAS, "--group", "dev", "-c", "requirements.lock"],
    "requirements-spark.lock": ["--extra", "spark", "-c", "requirements-dev.lock"],
}
COMMON = [
    "--universal",
    "--python-version=3.11",
    "--generate-hashes",
    "--no-emit-index-url",
    "--no-emit-find-links",
    "--custom-compile-command=make lock",
    "--quiet",
]


def main(arguments: list[str]) -> None:
    """Compile the locks; arguments such as `--upgrade` go on to the resolver."""
    programs = ENVIRONMENT / ("Scripts" if sys.platform == "win32" else "bin")
    if not ENVIRONMENT.exists():
        venv.create(ENVIRONMENT, with_pip=True)
    subprocess.run([programs / "python", "-m", "pip", "install", "--quiet", TOOL], check=True)
    for lock, options in LOCKS.items():
        compile_it = [programs / "uv", "pip", "compile", "pyproject.toml", "-o", lock]
        subprocess.run([*compile_it, *COMMON, *options, *arguments], cwd=ROOT, check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
