"""No statement takes the numbers 0 and 1 for truth values, wherever it has them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import bayesdp.statements
from bayesdp.statements import StatementError
from bayesdp.statements.certificates import read_certificate
from tests.kernel.all_kinds import certificate

FOLDER = Path(bayesdp.statements.__file__).parent


def test_only_the_base_names_a_truth_value_as_a_literal() -> None:
    """pydantic takes 1 for `Literal[True]`: `Yes` is the form that doesn't."""
    literals = [
        (file.name, node.lineno)
        for file in FOLDER.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == "Literal"
        and any(isinstance(part, ast.Constant) and part.value in (0, 1) for part in ast.walk(node))
    ]
    assert [file for file, _ in literals] == ["base.py"]


def test_balanced_records_are_a_truth_value() -> None:
    document = certificate("balanced release")
    assert document["balanced"] is True
    read_certificate(document)
    with pytest.raises(StatementError):
        read_certificate(document | {"balanced": 1})
