"""Reading a program file: it is parsed, never imported and never executed.

At module level a file holds imports from `bayesdp.programs`, constants, type aliases, `@record`
classes, `@helper` and `@program` functions.
"""

from __future__ import annotations

import ast
import hashlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from unicodedata import name

from bayesdp.errors import InputError, did_you_mean, text_of_file
from bayesdp.programs.ir import Type, Where
from bayesdp.programs.language_names import SURFACE
from bayesdp.programs.source.syntax.annotations import read_type, record_fields
from bayesdp.programs.source.syntax.diagnostics import Diagnostic, ProgramError, refuse, unseen
from bayesdp.programs.source.syntax.literals import Literal, attach, lines_of, literal
from bayesdp.programs.source.syntax.suggestions import INSTEAD
from bayesdp.programs.source.syntax.whitelist import check_name

MOST_CHARACTERS = 200_000


@dataclass(frozen=True)
class SourceFile:
    """A program file that was read: the names it defines, and its functions as syntax trees."""

    path: str
    text: str
    surface: Mapping[str, str]  # name here -> name in bayesdp.programs
    constants: Mapping[str, Literal]
    types: Mapping[str, Type]
    records: Mapping[str, tuple[tuple[str, Type], ...]]
    helpers: Mapping[str, ast.FunctionDef]
    programs: Mapping[str, ast.FunctionDef]
    options: Mapping[str, Mapping[str, Literal]] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """The SHA-256 of the text, in hex."""
        return "sha256:" + hashlib.sha256(self.text.encode("utf-8")).hexdigest()

    def located(self, error: ProgramError) -> ProgramError:
        """The same error with the file's name and the line that it points at."""
        diagnostic = error.diagnostic
        lines = lines_of(self.text)
        line, where = "", diagnostic.where
        if where is not None and 1 <= where.line <= len(lines):
            line = lines[where.line - 1]
            # The parser counts bytes; a reader counts characters.
            start, end = (_characters(line, column - 1) + 1 for column in (where.column, where.end))
            where = replace(where, column=start, end=end)
        return ProgramError(replace(diagnostic, source_line=line, file=self.path, where=where))


def read_file(path: Path | str) -> SourceFile:
    """Read a program file. Raises `InputError` where it can't be read, else `ProgramError`.

    Refusals of a program show its lines: a file of another kind, such as a table, is not read.
    """
    path = Path(path)
    if path.suffix != ".py" and path.exists():
        raise InputError("program", str(path), expected="a file whose name ends in .py")
    return read_text(text_of_file(path, "program", expected="a readable text file"), path.name)


def read_text(text: str, path: str = "program") -> SourceFile:
    """Read the text of a program file. Raises `ProgramError`; `path` is for its messages."""
    if len(text) > MOST_CHARACTERS:
        message = f"The file has more than {MOST_CHARACTERS} characters."
        raise ProgramError(Diagnostic("size", message, "", Where(1, 1, 2), file=path))
    reader = _Reader(path, text)
    try:
        _all_seen(text)
        tree = _parsed(text)
        for statement in tree.body:
            reader.take(statement)
    except ProgramError as error:
        raise reader.done().located(error) from None
    except RecursionError:
        refusal = refuse("size", Where(1, 1, 2), "This file is nested too deeply.", "")
        raise reader.done().located(refusal) from None
    return reader.done()


def _all_seen(text: str) -> None:
    """Refuse what a reader can't see: with it a text may look like another one."""
    if text.isascii() and text.isprintable():
        return
    for number, line in enumerate(lines_of(text), 1):
        for place, letter in enumerate(line):
            if unseen(letter):
                # Places count bytes, as the parser's do.
                before = len(line[:place].encode()) + 1
                raise refuse(
                    "syntax",
                    Where(number, before, before + len(letter.encode())),
                    "Here stands a character that is not seen "
                    f"(U+{ord(letter):04X} {name(letter, 'control character').lower()}).",
                    "Delete it: a program must say what it does. In a label write its escape.",
                )


def _parsed(text: str) -> ast.Module:
    """The syntax tree. Python's own warnings about odd code are not shown: nothing runs it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except SyntaxError as error:
        where = Where(error.lineno or 1, error.offset or 1, (error.offset or 1) + 1)
        raise refuse("syntax", where, f"This is not Python: {error.msg}.") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise refuse("syntax", Where(1, 1, 2), f"This can't be parsed: {error}.") from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            _check_text(node, node.value)
    attach(tree, text)
    return tree


def _check_text(node: ast.Constant, text: str) -> None:
    """Refuse half a character (a lone surrogate): neither tables nor ledgers can hold it."""
    half = next((letter for letter in text if "\ud800" <= letter <= "\udfff"), None)
    if half is not None:
        raise refuse(
            "syntax",
            node,
            f"U+{ord(half):04X} is half a character, and no text holds it.",
            "Write the character itself.",
        )


class _Reader:
    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text
        self.surface: dict[str, str] = {}
        self.constants: dict[str, Literal] = {}
        self.types: dict[str, Type] = {}
        self.records: dict[str, tuple[tuple[str, Type], ...]] = {}
        self.helpers: dict[str, ast.FunctionDef] = {}
        self.programs: dict[str, ast.FunctionDef] = {}
        self.options: dict[str, dict[str, Literal]] = {}

    def done(self) -> SourceFile:
        return SourceFile(
            self.path,
            self.text,
            self.surface,
            self.constants,
            self.types,
            self.records,
            self.helpers,
            self.programs,
            self.options,
        )

    def take(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.ImportFrom):
            self._import(statement)
        elif isinstance(statement, ast.Import):
            raise refuse(
                "import",
                statement,
                "A program file imports nothing but the names of bayesdp.programs.",
                "Write `from bayesdp.programs import ...`.",
            )
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            self._constant(statement)
        elif isinstance(statement, ast.ClassDef):
            self._record(statement)
        elif isinstance(statement, ast.FunctionDef):
            self._function(statement)
        elif not _is_text(statement):
            raise refuse(
                "module",
                statement,
                "At module level stand imports from bayesdp.programs, constants, type aliases, "
                "@record classes, @helper and @program functions.",
                "Nothing else is read.",
            )

    def _new(self, name: str, node: ast.AST) -> None:
        taken = (self.surface, self.constants, self.types, self.records, self.helpers)
        if any(name in names for names in (*taken, self.programs)):
            raise refuse("name", node, f"'{name}' is defined twice.", "Give it another name.")
        check_name(name, node)

    def _import(self, statement: ast.ImportFrom) -> None:
        names = [alias.name for alias in statement.names]
        if (statement.level, statement.module, names) == (0, "__future__", ["annotations"]):
            return
        if statement.level or statement.module != "bayesdp.programs":
            raise refuse(
                "import",
                statement,
                f"Nothing is imported from {statement.module or '.'!r}.",
                "Write `from bayesdp.programs import ...`.",
            )
        for alias in statement.names:
            if alias.name == "*":
                raise refuse(
                    "import", alias, "Names are imported one by one.", "A reader sees what is used."
                )
            if alias.name not in SURFACE:
                raise refuse(
                    "import",
                    alias,
                    f"bayesdp.programs has no '{alias.name}'.",
                    INSTEAD.get(alias.name) or did_you_mean(alias.name, sorted(SURFACE)),
                )
            if alias.asname is not None and alias.asname != alias.name:
                raise refuse(
                    "import",
                    alias,
                    "A name of the language keeps its name, so that programs read alike.",
                    f"Import {alias.name} without `as`.",
                )
            self.surface[alias.name] = alias.name

    def _constant(self, statement: ast.Assign | ast.AnnAssign) -> None:
        if isinstance(statement, ast.AnnAssign):
            targets: list[ast.expr] = [statement.target]
        else:
            targets = statement.targets
        target = targets[0]
        if len(targets) != 1 or not isinstance(target, ast.Name) or statement.value is None:
            raise refuse("module", statement, "A constant is one name with one literal.")
        self._new(target.id, target)
        if _is_type(statement.value, self.surface, self.types):
            self.types[target.id] = read_type(statement.value, self)
            return
        self.constants[target.id] = literal(statement.value, self.constants)

    def _record(self, statement: ast.ClassDef) -> None:
        self._new(statement.name, statement)
        marks = [mark.id for mark in statement.decorator_list if isinstance(mark, ast.Name)]
        if marks != ["record"] or "record" not in self.surface:
            raise refuse(
                "module", statement, "A class here is a @record.", "Write @record above it."
            )
        if statement.bases or statement.keywords:
            raise refuse("module", statement, "A @record has no base classes.")
        self.records[statement.name] = record_fields(statement, self)

    def _function(self, statement: ast.FunctionDef) -> None:
        self._new(statement.name, statement)
        marks = statement.decorator_list
        if len(marks) != 1:
            raise refuse(
                "module",
                statement,
                "A function here is either a @program or a @helper.",
                "Write one of the two above it, and no other decorator.",
            )
        mark: ast.expr = marks[0]
        keywords: list[ast.keyword] = []
        if isinstance(mark, ast.Call):
            if mark.args:
                raise refuse("arguments", mark, "@program takes keyword arguments only.")
            keywords = mark.keywords
            mark = mark.func
        name = mark.id if isinstance(mark, ast.Name) else ""
        if name not in ("program", "helper") or name not in self.surface:
            raise refuse(
                "module",
                marks[0],
                "A function here is either a @program or a @helper of bayesdp.programs.",
                "Import the decorator and write it above the function.",
            )
        if name == "helper":
            if keywords:
                raise refuse("arguments", marks[0], "@helper takes no arguments.")
            self.helpers[statement.name] = statement
            return
        self.options[statement.name] = {
            self._option(keyword): literal(keyword.value, self.constants) for keyword in keywords
        }
        self.programs[statement.name] = statement

    def _option(self, keyword: ast.keyword) -> str:
        known = ("adjacency", "epsilon", "delta")
        if keyword.arg not in known:
            raise refuse(
                "arguments",
                keyword,
                f"@program has no argument {keyword.arg!r}.",
                "It takes adjacency, epsilon and delta.",
            )
        value = literal(keyword.value, self.constants)
        if keyword.arg == "adjacency":
            if value not in ("replace-one", "add-remove"):
                raise refuse(
                    "arguments",
                    keyword.value,
                    f"{value!r} is not an adjacency.",
                    'It is "replace-one" (the default) or "add-remove".',
                )
        elif (
            not isinstance(value, Fraction) or value < 0 or (keyword.arg == "delta" and value >= 1)
        ):
            raise refuse(
                "arguments",
                keyword.value,
                f"{keyword.arg} is a number of at least 0"
                + (" and below 1." if keyword.arg == "delta" else "."),
            )
        return keyword.arg


def _characters(line: str, count: int) -> int:
    return len(line.encode("utf-8")[:count].decode("utf-8", "ignore"))


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _is_type(node: ast.expr, surface: Mapping[str, str], types: Mapping[str, Type]) -> bool:
    """Whether a module-level value is a type alias: Bool, Int[...], another alias."""
    head = node.value if isinstance(node, ast.Subscript) else node
    if not isinstance(head, ast.Name):
        return False
    return head.id in types or (head.id in surface and head.id[:1].isupper())
