"""Queries and spends on their own, as the statements of certificates are read."""

from __future__ import annotations

from typing import Any

from bayesdp.statements.base import Reader
from bayesdp.statements.queries import Query
from bayesdp.statements.spends import Spend

_QUERY = Reader(Query)
_SPEND = Reader(Spend)


def read_query(plain: object, place: str = "query") -> Any:
    """The query that plain data states. Raises `StatementError` for anything else."""
    return _QUERY.read(plain, place)


def read_spend(plain: object, place: str = "spend") -> Any:
    """The spend that plain data states. Raises `StatementError` for anything else."""
    return _SPEND.read(plain, place)
