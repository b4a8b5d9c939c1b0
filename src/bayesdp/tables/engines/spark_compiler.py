"""Ibis' words for Spark, mended where Spark would compute something else than DuckDB does.

Public name: `COMPILER`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ibis.expr.datatypes as dt
import ibis.expr.operations as ops
import sqlglot as sg
import sqlglot.expressions as sge
from ibis.backends.sql.compilers.base import NULL
from ibis.backends.sql.compilers.pyspark import PySparkCompiler
from ibis.common.exceptions import UnsupportedOperationError

from bayesdp.tables.engines.operations import KNOWN

_NUMBER = r"^\s*[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?\s*\z"
"""Spark reads the text "1d" as 1, too."""
_DAY = "^([0-9]{4})([-/])([0-9]{1,2})\\2([0-9]{1,2})"
_TIME = _DAY + r"(?:(?:T| +)([0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.][0-9]+)?)?))?\z"
"""The year, the month, the day and the clock are groups 1, 3, 4 and 5."""
_MIDNIGHT = _DAY + r"(?:T| +)24:00(?::00(?:[.]0+)?)?\z"
"""The end of a day, which is the start of the next."""


class SparkCompiler(PySparkCompiler):  # type: ignore[misc]  # Ibis publishes no types
    """Expressions in Spark's SQL, with DuckDB's values."""

    __slots__ = ()

    def visit_node(self, op: Any, **arguments: Any) -> Any:
        """Raises `UnsupportedOperationError` for what is not known to agree."""
        kind = type(op).__name__
        if not isinstance(op, ops.ScalarUDF) and kind not in KNOWN:
            raise UnsupportedOperationError(f"{kind} on Spark")
        return super().visit_node(op, **arguments)

    def visit_NonNullLiteral(self, op: Any, *, value: Any, dtype: Any) -> Any:
        """Doubles from their shortest text: 0.5 would be a decimal."""
        if dtype.is_floating():
            return self.cast(sge.convert(repr(float(value))), dt.float64)
        return super().visit_NonNullLiteral(op, value=value, dtype=dtype)

    def visit_IsNull(self, op: Any, *, arg: Any) -> Any:
        """NaN is no NULL: it must not be imputed."""
        return arg.is_(NULL)

    def visit_NotNull(self, op: Any, *, arg: Any) -> Any:
        """See `visit_IsNull`."""
        return arg.is_(sg.not_(NULL))

    def visit_IsNan(self, op: Any, *, arg: Any) -> Any:
        """NULL for NULL; Spark's function is false there."""
        return self.if_(arg.is_(NULL), NULL, self.f.isnan(arg))

    def visit_ScalarUDF(self, op: Any, **arguments: Any) -> Any:
        """The function that tells finite numbers has no name in Spark, where NaN is the largest."""
        if self.__sql_name__(op) != "isfinite":
            return super().visit_ScalarUDF(op, **arguments)
        (number,) = arguments.values()
        return self.f.abs(number) < self.POS_INF

    def visit_CountStar(self, op: Any, *, arg: Any, where: Any) -> Any:
        """0 where there is no row to count, instead of NULL."""
        return self.f.count(sge.Star() if where is None else self.if_(where, 1, NULL))

    def visit_ArrayCollect(self, op: Any, *, arg: Any, order_by: Any, **options: Any) -> Any:
        """Sorted values: Spark sorts arrays, and has no order inside of aggregates.

        Raises `UnsupportedOperationError` for an order other than that of the values, upward.
        """
        if not order_by:
            return super().visit_ArrayCollect(op, arg=arg, order_by=order_by, **options)
        (key,) = order_by
        if key.this != arg or key.args.get("desc"):
            raise UnsupportedOperationError("values collected in the order of others")
        return self.f.array_sort(super().visit_ArrayCollect(op, arg=arg, order_by=(), **options))

    def visit_ExtractEpochSeconds(self, op: Any, *, arg: Any) -> Any:
        """Seconds with their parts, as a double."""
        microseconds = self.f.anon.unix_micros(self.cast(arg, dt.timestamp))
        return self.cast(microseconds, dt.float64) / self.cast(sge.convert("1e6"), dt.float64)

    def visit_Cast(self, op: Any, *, arg: Any, to: Any) -> Any:
        """Casts that are exact, or rounded to the nearest double in both engines.

        Raises `UnsupportedOperationError` for texts of numbers with parts and of times with a zone,
        which are others than in DuckDB.
        """
        kind, whole = op.arg.dtype, op.arg.dtype.is_integer()
        is_number = whole or kind.is_decimal() or kind.is_floating()
        constant = isinstance(op.arg, ops.Literal) and kind.is_string()
        plain = whole or kind.is_boolean() or kind.is_string() or kind.is_date()
        plain = plain or (kind.is_timestamp() and kind.timezone is None)
        agrees = (
            (to.is_float64() and (is_number or constant))
            or (to.is_integer() and (whole or kind.is_boolean()))
            or (to.is_string() and plain)
        )
        if not agrees and not kind.is_null():
            raise UnsupportedOperationError(f"a {kind} as {to}")
        return super().visit_Cast(op, arg=arg, to=to)

    def visit_TryCast(self, op: Any, *, arg: Any, to: Any) -> Any:
        """NULL for texts that DuckDB does not read as a number; times are put into Spark's form."""
        read = super().visit_TryCast
        if op.arg.dtype.is_string() and to.is_floating():
            is_number = self.f.anon.rlike(arg, _text(_NUMBER))
            return self.if_(is_number, read(op, arg=arg, to=to), NULL)
        if op.arg.dtype.is_string() and to.is_timestamp():
            return self._time(arg, lambda text: read(op, arg=text, to=to))
        return read(op, arg=arg, to=to)

    def _time(self, arg: Any, read: Callable[[Any], Any]) -> Any:
        """The time that a text is; Spark would read times of day, offsets and zones, too."""
        replace, like = self.f.anon.regexp_replace, self.f.anon.rlike
        day = sge.Interval(this=sge.convert("1"), unit=sge.Var(this="DAY"))
        start = read(replace(arg, _text(_MIDNIGHT), "$1-$3-$4"))
        time = read(replace(arg, _text(_TIME), "$1-$3-$4 $5"))
        next_day = self.if_(like(arg, _text(_MIDNIGHT)), start + day, NULL)
        return self.if_(like(arg, _text(_TIME)), self.f.coalesce(time, next_day), NULL)

    def visit_RegexSearch(self, op: Any, *, arg: Any, pattern: Any) -> Any:
        """The end of a text is `$`, and not the place before a line end.

        Raises `UnsupportedOperationError` for a pattern that the column holds.
        """
        return self.f.anon.rlike(arg, _to_the_end(pattern))

    def visit_RegexExtract(self, op: Any, *, arg: Any, pattern: Any, index: Any) -> Any:
        """See `visit_RegexSearch`, which raises `UnsupportedOperationError` too."""
        return self.f.anon.regexp_extract(arg, _to_the_end(pattern), index)

    def visit_RegexReplace(self, op: Any, *, arg: Any, pattern: Any, replacement: Any) -> Any:
        """See `visit_RegexSearch`, which raises `UnsupportedOperationError` too."""
        return self.f.anon.regexp_replace(arg, _to_the_end(pattern), replacement)


def _to_the_end(pattern: Any) -> Any:
    """The pattern for Java, where `$` holds before a line end, too."""
    if not isinstance(pattern, sge.Literal):
        raise UnsupportedOperationError("a pattern that is not a constant")
    return _text(re.sub(r"(\\.)|\$", lambda match: match[1] or r"\z", str(pattern.this)))


def _text(text: str) -> Any:
    return sge.convert(text)


COMPILER = SparkCompiler()
