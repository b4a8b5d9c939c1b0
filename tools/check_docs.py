"""Check the documentation by using it (`make docs`, or this with the pages to check).

In README.md, CONTRIBUTING.md, CHANGELOG.md, SECURITY.md and docs/, per file, in order, in the
place that the file has in a temporary copy of the repository, which holds the demo data and
docs/examples/ only: data that a page uses, the page itself must bring.

* links to files of the repository, and to headings in them, lead somewhere;
* ```python blocks run; where they show a prompt, as doctests. One file is one namespace;
* ```python program.py only writes that file: programs are read, by the commands below it;
* ```toml and ```json blocks parse, and ```toml study.toml also writes that file;
* ```console blocks: each line `$ bayesdp ...` runs. It ends with status 0, or with the status that
  a comment on it says (`# exits with 1`). Output that is shown is compared, `...` stands for
  anything, and a command without output under it may print what it likes. Lines `$ cp ...` and
  `$ rm ...` run as well. Lines that start other programs are not run.

A block that is none of these says what it is (```text, ```math, ...); bash and sh are refused,
because a command that nobody runs stops working.
"""

from __future__ import annotations

import argparse
import doctest
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOOSE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
RUN = ("bayesdp", "cp ", "rm ")
SHELLS = {"bash", "sh", "shell", "zsh"}
FENCE = re.compile(r"^( *)(`{3,}|~{3,}) *(.*)$")
LINK = re.compile(r"(?<!\\)\[(?:[^\[\]]|\[[^\]]*\])*\]\(<?([^)>\s]+)>?(?: \"[^\"]*\")?\)")
SECONDS_PER_COMMAND = 300


@dataclass(frozen=True)
class Block:
    """A fenced block: the words after its fence, its text, the line where the text starts."""

    language: str
    name: str
    text: str
    line: int


def split(text: str) -> tuple[str, list[Block]]:
    """The prose of a page, line for line (blocks blanked), and its fenced blocks."""
    prose: list[str] = []
    blocks: list[Block] = []
    lines = iter(enumerate(text.splitlines(), start=1))
    for number, line in lines:
        fence = FENCE.match(line)
        if fence is None:
            prose.append(line)
            continue
        indent, marks, info = fence.groups()
        inside: list[str] = []
        for _, body in lines:
            if body.strip().startswith(marks) and not body.strip().strip(marks[0]):
                break
            inside.append(body.removeprefix(indent))
        language, _, name = info.strip().partition(" ")
        blocks.append(Block(language.lower(), name.strip(), "\n".join(inside) + "\n", number + 1))
        prose.extend([""] * (len(inside) + 2))
    return "\n".join(prose), blocks


def anchors(page: Path) -> set[str]:
    """The anchors that a page offers: its headings, spelled as code hosts spell them, and ids."""
    prose, _ = split(page.read_text(encoding="utf-8"))
    actual = set(re.findall(r"""\b(?:id|name)=["']([^"']+)""", prose))
    seen: dict[str, int] = {}
    for heading in re.findall(r"^#{1,6} +(.*?)#* *$", prose, re.M):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-")
        again = seen.get(slug, 0)
        seen[slug] = again + 1
        actual.add(f"{slug}-{again}" if again else slug)
    return actual


def broken_links(page: Path, prose: str) -> Iterator[tuple[int, str]]:
    """Links of `page` to files or headings that are not there."""
    for number, line in enumerate(prose.splitlines(), start=1):
        plain = re.sub(r"`[^`]*`|\$[^$]+\$", "", line)
        for target in LINK.findall(plain):
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            path, _, anchor = target.partition("#")
            there = (page.parent / path).resolve() if path else page
            if not there.exists() or not there.is_relative_to(ROOT):
                yield number, f"the link {target} leads nowhere"
            elif anchor and there.suffix == ".md" and anchor not in anchors(there):
                yield number, f"the link {target} names a heading that is not there"


def run_python(block: Block, page: str, names: dict[str, object]) -> str:
    """Run a block, as doctests where it shows prompts; what went wrong, or nothing."""
    if ">>>" not in block.text:
        try:
            exec(compile("\n" * (block.line - 1) + block.text, page, "exec"), names)
        except Exception as error:  # any failure of an example is the finding
            return f"the example fails: {type(error).__name__}: {error}"
        return ""
    test = doctest.DocTestParser().get_doctest(block.text, names, page, page, block.line - 1)
    said: list[str] = []
    # A doctest works on a copy of its names, and the next block needs what this one defines.
    runner = doctest.DocTestRunner(optionflags=LOOSE, verbose=False)
    runner.run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    return "".join(said)


def commands(text: str) -> Iterator[tuple[int, str, str]]:
    """Each command of a console block: its line within the block, itself, the output under it."""
    parts = re.split(r"^\$ ", text, flags=re.M)
    line = 1 + parts[0].count("\n")
    for part in parts[1:]:
        command = re.match(r"(?:.*\\\n)*.*", part)
        assert command is not None
        yield line, command.group(), part[command.end() :].strip("\n")
        line += part.count("\n")


def run_command(command: str, shown: str, folder: Path) -> str:
    """Run one command of the docs; what went wrong, or nothing."""
    comment = re.search(r" #.*\bexits? (?:with )?(?:status )?(\d)", command)
    expected = int(comment.group(1)) if comment else 0
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=SECONDS_PER_COMMAND,
        check=False,
    )
    if done.returncode != expected:
        return f"exit status {done.returncode}, not {expected}: $ {command}\n{done.stdout}"
    if shown and not doctest.OutputChecker().check_output(shown, done.stdout, LOOSE):
        return f"shows another output than it has: $ {command}\n{done.stdout}"
    return ""


def run_block(block: Block, page: str, folder: Path, names: dict[str, object]) -> Iterator[str]:
    """What is wrong with one block."""
    if block.language == "python" and block.name.endswith(".py"):
        (folder / block.name).write_text(block.text, encoding="utf-8")
    elif block.language == "python":
        yield run_python(block, page, names)
    elif block.language in ("toml", "json"):
        try:
            (tomllib if block.language == "toml" else json).loads(block.text)
        except ValueError as error:
            yield f"the {block.language} does not parse: {error}"
        if block.name:
            (folder / block.name).write_text(block.text, encoding="utf-8")
    elif block.language == "console":
        for line, command, shown in commands(block.text):
            if command.startswith(RUN):
                problem = run_command(command, shown, folder)
                yield f"(line {block.line + line - 1}) {problem}" if problem else ""
    elif block.language in SHELLS:
        yield "commands belong in a console block, with `$ ` before them, where they are run"


def check(page: Path) -> Iterator[str]:
    """Everything that is wrong with one page."""
    name = page.relative_to(ROOT).as_posix()
    prose, blocks = split(page.read_text(encoding="utf-8"))
    for line, problem in broken_links(page, prose):
        yield f"{name}:{line}: {problem}"
    names: dict[str, object] = {"__name__": "__main__"}
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary, "repository")
        folder = copy / page.parent.relative_to(ROOT)
        folder.mkdir(parents=True)
        data = "src/bayesdp/demo_data"
        for part, skipped in ((data, ("*.db*",)), ("docs/examples", ("__pycache__",))):
            if (ROOT / part).is_dir():
                shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns(*skipped))
        os.chdir(folder)
        try:
            for block in blocks:
                for problem in filter(None, run_block(block, name, folder, names)):
                    yield f"{name}:{block.line}: {problem}"
        finally:
            os.chdir(before)


def all_pages() -> list[Path]:
    """The pages of the repository."""
    pages = [
        ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
    ]
    return [page for page in pages if page.exists()] + sorted((ROOT / "docs").rglob("*.md"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the pages that are named, or all; say what is wrong; the exit status."""
    parser = argparse.ArgumentParser(description="Check the documentation by using it.")
    parser.add_argument("page", nargs="*", type=Path, help="a page; all, if none is named")
    pages = [page.resolve() for page in parser.parse_args(arguments).page] or all_pages()
    problems = [problem for page in pages for problem in check(page)]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(pages)} pages, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
