"""Ibis expressions in PostgreSQL's words, with the values that DuckDB computes for them.

Ibis translates each operation to what a database offers, and the same name may mean other values.
Here each operation that tables are read with either agrees with DuckDB or is written out so that it
does; all others are refused, so that a new expression can't be computed in another way by chance.
What differs and is written out:

* a product or quotient of doubles that is too large or too small is an error in PostgreSQL, and an
  infinity or 0 in DuckDB (`visit_Multiply`, `visit_Divide`, but for products of two columns);
* halves are rounded to even numbers (`visit_Round`), and casts of doubles to whole numbers too
  (refused);
* a text is cast to a time or a number only if it is one, and what is one is another question
  (`visit_TryCast`);
* times before the year 1 and the infinite ones (`visit_ExtractYear` and its kin);
* the order of texts is that of the database's language (`_in_bytes`);
* 15 digits of a double that becomes a decimal are kept (never done), and a double's text is another
  one (refused).

Loaded only with a PostgreSQL connection, because Ibis loads slowly.

Public name: `COMPILER`.
"""

from __future__ import annotations

import itertools
import math
import string
import struct
from collections.abc import Callable
from typing import Any

import ibis.common.exceptions as com
import ibis.expr.datatypes as dt
import ibis.expr.operations as ops
import sqlglot as sg
import sqlglot.expressions as sge
from ibis.backends.sql.compilers.base import NULL
from ibis.backends.sql.compilers.postgres import PostgresCompiler

from bayesdp.tables.engines.operations import KNOWN

_NUMBER = "^[0-9]+([.][0-9]+)?$"
_WHOLE = "^[0-9]{1,18}$"
_TIME = (
    "^(?:[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{4}/[0-9]{1,2}/[0-9]{1,2})"
    "(?:(?:T| +)[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.][0-9]+)?)?)?$"
)
_BETWEEN_PARTS = "[-/T :.]+"
_FORMATS = {"%Y-%m-%d %H:%M:%S.%f": "YYYY-MM-DD HH24:MI:SS.US"}
_FIRST, _LAST = "4713-01-01 BC", "294246-12-31"
"""Times between these are known to both engines."""

_DOUBLE = dt.float64(nullable=True)
_BIGINT = dt.int64(nullable=True)


_NAMES = itertools.count()


class _Compiler(PostgresCompiler):  # type: ignore[misc]  # Ibis publishes no types
    """See the module."""

    __slots__ = ()

    def visit_node(self, op: Any, **kwargs: Any) -> Any:
        """Refuse what is not known to agree."""
        kind = type(op).__name__
        if not isinstance(op, ops.ScalarUDF) and kind not in KNOWN:
            raise com.UnsupportedOperationError(f"{kind} that is known to agree")
        return super().visit_node(op, **kwargs)

    def visit_Select(self, op: Any, **parts: Any) -> Any:
        """Columns that are computed in a query are computed once: see `_once`."""
        query = super().visit_Select(op, **parts)
        plain = all(isinstance(value, ops.Field) for value in op.selections.values())
        limited = query.args.get("limit") or query.args.get("offset")
        return query if plain or limited or not isinstance(query, sge.Select) else query.offset(0)

    # -- fields and literals -------------------------------------------------------------------

    def visit_Field(self, op: Any, *, rel: Any, name: str) -> Any:
        """A column of a type that is read."""
        if op.dtype.is_unknown():
            raise _unsupported(f"a column of type {op.dtype.raw_type}")
        return super().visit_Field(op, rel=rel, name=name)

    def visit_NonNullLiteral(self, op: Any, *, value: Any, dtype: Any) -> Any:
        """Doubles from their shortest text, which is read back exactly."""
        if dtype.is_floating():
            if not math.isfinite(value):
                raise _unsupported("a literal that is not finite")
            return self._double(float(value))
        if isinstance(value, str) and "\0" in value:
            raise _unsupported("a text with the character U+0000")
        return super().visit_NonNullLiteral(op, value=value, dtype=dtype)

    def _double(self, value: float) -> Any:
        return self.cast(sge.convert(repr(value)), _DOUBLE)

    # -- casts ---------------------------------------------------------------------------------

    def visit_Cast(self, op: Any, *, arg: Any, to: Any) -> Any:
        """Casts that are exact, or rounded to the nearest double in both engines."""
        from_ = op.arg.dtype
        if from_.is_boolean() and to.is_integer():
            return self.cast(self.if_(arg, 1, self.if_(sg.not_(arg), 0, NULL)), to)
        numbers = from_.is_integer() or from_.is_decimal() or from_.is_float32()
        exact = (
            (numbers and to.is_float64())
            or (from_.is_float64() and to.is_float64())
            or (from_.is_integer() and to.is_integer())
            or (from_.is_string() and to.is_string())
            or (isinstance(op.arg, ops.Literal) and from_.is_string() and to.is_float64())
            or ((from_.is_integer() or from_.is_decimal() or from_.is_boolean()) and to.is_string())
        )
        if exact:
            return self.cast(arg, to)
        if to.is_string() and (from_.is_date() or from_.is_timestamp()):
            return self._text_of_time(from_, arg)
        raise _unsupported(f"a {from_} as {to}")

    def _text_of_time(self, kind: Any, arg: Any) -> Any:
        """The standard text: both engines' is the same in the years 1 to 9999."""
        earliest, latest = (
            self.cast(sge.convert(bound), kind) for bound in ("0001-01-01", "9999-12-31")
        )
        inside = sg.and_(
            sge.GTE(this=arg, expression=earliest), sge.LTE(this=arg, expression=latest)
        )
        return self.if_(inside, _in_bytes(self.cast(arg, dt.string)), NULL)

    def visit_TryCast(self, op: Any, *, arg: Any, to: Any) -> Any:
        """NULL where DuckDB has NULL, for the texts that `reading` casts."""
        from_ = op.arg.dtype
        if from_.is_string() and to.is_integer():
            return self.if_(self._like(arg, _WHOLE), self.cast(arg, to), NULL)
        if from_.is_string() and to.is_float64():
            return self.if_(self._like(arg, _NUMBER), self.cast(arg, to), NULL)
        if from_.is_string() and to.is_timestamp() and to.timezone is None:
            return self._time_of_text(arg)
        if to.is_timestamp() and to.timezone is None:
            if from_.is_date() or (from_.is_timestamp() and from_.timezone is None):
                return self._once(arg, lambda time: self._known(time, self.cast(time, to)))
            if from_.is_timestamp():
                return self._once(
                    arg, lambda time: self._known(time, self.f.anon.timezone("UTC", time))
                )
        raise _unsupported(f"a {from_} as {to}")

    def _known(self, time: Any, value: Any) -> Any:
        """NULL for infinite times, and for those that one of the engines doesn't know."""
        first, last = (sge.convert(bound) for bound in (_FIRST, _LAST))
        inside = sg.and_(
            self.f.anon.isfinite(time),
            sge.GTE(this=time, expression=first),
            sge.LTE(this=time, expression=last),
        )
        return self.if_(inside, value, NULL)

    def _time_of_text(self, text: Any) -> Any:
        """The time of a text, which is checked in its parts: a cast would raise an error."""

        def parts(known: Any) -> Any:  # groups of a pattern would take many times as long
            split = self.f.anon.regexp_split_to_array(known, _BETWEEN_PARTS)
            return self.if_(self._like(known, _TIME), split, NULL)

        return self._once(text, lambda known: self._once(parts(known), self._time_of_parts))

    def _time_of_parts(self, parts: Any) -> Any:
        """The time of year, month, day and so on: NULL without them, and for no such day."""

        def part(index: int, default: str = "0") -> Any:
            return self.f.coalesce(_at(parts, index), default)

        def whole(index: int) -> Any:
            return self.cast(part(index), dt.int32)

        hour, minute, second = map(whole, (4, 5, 6))
        fraction = self.cast(
            self.f.anon.rpad(self.f.anon.left(part(7), 6), 6, sge.convert("0")), dt.int32
        )
        month, day = whole(2), whole(3)
        leap = sg.and_(
            (whole(1) % 4).eq(0), sg.or_((whole(1) % 100).neq(0), (whole(1) % 400).eq(0))
        )
        last = sge.Case(
            ifs=[self.if_(month.isin(4, 6, 9, 11), 30), self.if_(month.neq(2), 31)],
            default=self.if_(leap, 29, 28),
        )
        midnight = sg.and_(hour.eq(24), minute.eq(0), second.eq(0), fraction.eq(0))
        sound = sg.and_(
            sge.Not(this=parts.is_(NULL)),
            sge.Between(this=month, low=sge.convert(1), high=sge.convert(12)),
            sge.Between(this=day, low=sge.convert(1), high=sge.paren(last)),
            sg.or_(hour <= 23, midnight),
            minute <= 59,
            second <= 59,
        )
        year = self.if_(whole(1).eq(0), -1, whole(1))  # the year before 1
        days = self.f.anon.make_date(year, month, day)
        clock = self.f.anon.make_interval(0, 0, 0, 0, hour, minute, sge.convert(0))
        micros = sge.paren(sge.paren(self.cast(second, _BIGINT)) * 1_000_000 + fraction)
        microsecond = sge.Cast(this=sge.convert("1 microsecond"), to=sge.DataType.build("interval"))
        return self.if_(sound, self.cast(days, dt.timestamp) + clock + micros * microsecond, NULL)

    def _once(self, value: Any, body: Callable[[Any], Any]) -> Any:
        """The `body` of a value that is computed once, although the body uses it several times.

        Otherwise expressions within expressions would grow beyond all bounds. `OFFSET 0` keeps
        PostgreSQL from putting the value in its places again.
        """
        if isinstance(value, sge.Column):
            return body(value)
        name = f"once{next(_NAMES)}"
        inner = sg.select(value.as_("v")).offset(0).subquery(name)
        return sg.select(body(sg.column("v", table=name))).from_(inner).subquery()

    # -- numbers -------------------------------------------------------------------------------

    def visit_Multiply(self, op: Any, *, left: Any, right: Any) -> Any:
        """A product of doubles; infinite or 0 where an error would be, if one is a literal.

        A product of two columns that is too large or too small stays an error: who multiplies them
        (`sums`) sees to it that there is none, and the table is refused if there is.
        """
        doubles = op.left.dtype.is_float64() and op.right.dtype.is_float64()
        columns = _number(op.left) is None and _number(op.right) is None
        if op.dtype.is_integer() or (doubles and columns):
            return super().visit_Multiply(op, left=left, right=right)
        if (factor := _number(op.left)) is not None and _number(op.right) is None:
            left, other = right, op.right
        else:
            factor, other = _number(op.right), op.left
        if not factor or not (other.dtype.is_float64() or other.dtype.is_integer()):
            raise _unsupported("a product of columns")
        constant = self._double(factor)
        return self._once(
            left if other.dtype.is_float64() else self.cast(left, _DOUBLE),
            lambda x: self._guarded(x, x * constant, factor, lambda size: size * abs(factor)),
        )

    def visit_Divide(self, op: Any, *, left: Any, right: Any) -> Any:
        """A quotient of doubles by a literal; infinite or 0 where an error would be."""
        divisor = _number(op.right)
        if not divisor or not (op.left.dtype.is_float64() or op.left.dtype.is_integer()):
            raise _unsupported("a quotient of columns")
        constant = self._double(divisor)
        return self._once(
            left if op.left.dtype.is_float64() else self.cast(left, _DOUBLE),
            lambda x: self._guarded(x, x / constant, divisor, lambda size: size / abs(divisor)),
        )

    def _guarded(
        self, value: Any, result: Any, constant: float, magnitude: Callable[[float], float]
    ) -> Any:
        """The result, without the error for values whose `magnitude` is infinite or rounds to 0."""
        least = _first(lambda x: magnitude(x) > 0)
        beyond = _first(lambda x: magnitude(x) == math.inf)
        size = self.f.abs(value)
        cases = []
        if least > math.ulp(0.0):
            cases.append(self.if_(size < self._double(least), value * self._double(0.0)))
        if beyond < math.inf:
            infinite = self.POS_INF if constant > 0 else self.NEG_INF
            cases.append(self.if_(size >= self._double(beyond), value * sge.paren(infinite)))
        return sge.Case(ifs=cases, default=result) if cases else sge.paren(result)

    def visit_Round(self, op: Any, *, arg: Any, digits: Any) -> Any:
        """To the nearest whole number, halves away from 0."""
        if _number(op.digits) != 0.0 or not op.arg.dtype.is_float64():
            raise _unsupported("rounding to digits")

        def rounded(value: Any) -> Any:
            whole = self.f.trunc(value)
            away = self.f.abs(value - whole) >= self._double(0.5)
            return self.if_(away, whole + self.f.sign(value), whole)

        return self.cast(self._once(arg, rounded), op.dtype)

    def visit_Floor(self, op: Any, *, arg: Any) -> Any:
        """The floor of a double."""
        if not op.arg.dtype.is_float64():
            raise _unsupported(f"the floor of a {op.arg.dtype}")
        return super().visit_Floor(op, arg=arg)

    def visit_ScalarUDF(self, op: Any, **arguments: Any) -> Any:
        """The engine functions that `reading` names: DuckDB's, in other words."""
        name, values = self.__sql_name__(op), list(arguments.values())
        if name == "isfinite" and op.args[0].dtype.is_float64():
            return self.f.abs(values[0]) < self.POS_INF  # NaN is above it
        if name == "md5":
            return self.f.md5(*values)
        if name == "trim":
            return self.f.anon.btrim(*values)
        raise _unsupported(f"the function {name}")

    # -- texts ---------------------------------------------------------------------------------

    def visit_Strip(self, op: Any, *, arg: Any) -> Any:
        """Without white space of ASCII at both ends."""
        return self.f.anon.btrim(arg, string.whitespace)

    def visit_RegexSearch(self, op: Any, *, arg: Any, pattern: Any) -> Any:
        """Whether the pattern is in the text. Patterns mean the same in both dialects."""
        return arg.rlike(pattern)

    def visit_RegexExtract(self, op: Any, *, arg: Any, pattern: Any, index: Any) -> Any:
        """The part of the text that a group matches; empty where there is none."""
        if not isinstance(op.pattern, ops.Literal) or not isinstance(op.index, ops.Literal):
            raise _unsupported("a pattern that is not a literal")
        return self._group(arg, op.pattern.value, op.index.value)

    def _group(self, text: Any, pattern: str, index: int) -> Any:
        matches = self.f.anon.regexp_match(text, f"({pattern})")
        part = _at(sge.paren(matches), index + 1)
        absent = text.is_(NULL)
        return self.if_(absent, NULL, self.f.coalesce(part, ""))

    def _like(self, text: Any, pattern: str) -> Any:
        return text.rlike(sge.convert(pattern))

    # -- order ---------------------------------------------------------------------------------

    def visit_Less(self, op: Any, *, left: Any, right: Any) -> Any:
        """Texts in the order of their bytes."""
        return self._compared(sge.LT, op, left, right)

    def visit_LessEqual(self, op: Any, *, left: Any, right: Any) -> Any:
        """Texts in the order of their bytes."""
        return self._compared(sge.LTE, op, left, right)

    def visit_Greater(self, op: Any, *, left: Any, right: Any) -> Any:
        """Texts in the order of their bytes."""
        return self._compared(sge.GT, op, left, right)

    def visit_GreaterEqual(self, op: Any, *, left: Any, right: Any) -> Any:
        """Texts in the order of their bytes."""
        return self._compared(sge.GTE, op, left, right)

    def visit_Equals(self, op: Any, *, left: Any, right: Any) -> Any:
        """Texts are equal if their bytes are."""
        return self._compared(sge.EQ, op, left, right)

    def visit_NotEquals(self, op: Any, *, left: Any, right: Any) -> Any:
        """Texts are equal if their bytes are."""
        return self._compared(sge.NEQ, op, left, right)

    def _compared(self, how: Any, op: Any, left: Any, right: Any) -> Any:
        if op.left.dtype.is_string():
            left = _in_bytes(left)
        return self.binop(how, left, right)

    def visit_Between(self, op: Any, *, arg: Any, lower_bound: Any, upper_bound: Any) -> Any:
        """Only of numbers."""
        if not op.arg.dtype.is_numeric():
            raise _unsupported(f"a {op.arg.dtype} between others")
        return super().visit_Between(op, arg=arg, lower_bound=lower_bound, upper_bound=upper_bound)

    def visit_SortKey(self, op: Any, *, arg: Any, ascending: bool, nulls_first: bool) -> Any:
        """Texts in the order of their bytes."""
        arg = _in_bytes(arg) if op.arg.dtype.is_string() else arg
        return super().visit_SortKey(op, arg=arg, ascending=ascending, nulls_first=nulls_first)

    def visit_Min(self, op: Any, *, arg: Any, where: Any) -> Any:
        """The least; of truth values false, if any is."""
        return self._extreme(op, arg, where, self.agg.min, self.agg.bool_and)

    def visit_Max(self, op: Any, *, arg: Any, where: Any) -> Any:
        """The greatest; of truth values true, if any is."""
        return self._extreme(op, arg, where, self.agg.max, self.agg.bool_or)

    def _extreme(self, op: Any, arg: Any, where: Any, plain: Any, truth: Any) -> Any:
        if op.arg.dtype.is_boolean():
            return truth(arg, where=where)
        return plain(_in_bytes(arg) if op.arg.dtype.is_string() else arg, where=where)

    def visit_WindowFunction(self, op: Any, **parts: Any) -> Any:
        """Only in a stated order: rows have none of their own. Sums of whole groups need none."""
        if isinstance(op.func, ops.Sum):
            exact = parts.pop("func").this  # without its cast, which no window can follow
            return self.cast(super().visit_WindowFunction(op, func=exact, **parts), _BIGINT)
        if not op.order_by:
            raise _unsupported("rows in the order in which they are stored")
        return super().visit_WindowFunction(op, **parts)

    # -- sums ----------------------------------------------------------------------------------

    def visit_Sum(self, op: Any, *, arg: Any, where: Any) -> Any:
        """A sum of whole numbers: exact, and an error if it does not fit in 64 bits."""
        if not op.arg.dtype.is_integer() and not op.arg.dtype.is_boolean():
            raise _unsupported(f"a sum of {op.arg.dtype}")
        return self.cast(super().visit_Sum(op, arg=arg, where=where), _BIGINT)

    # -- times ---------------------------------------------------------------------------------

    def visit_ExtractYear(self, op: Any, *, arg: Any) -> Any:
        """The year, in which the one before 1 is 0; NULL for infinite times."""

        def counted(time: Any) -> Any:
            year = self.cast(self.f.extract("year", time), dt.int32)
            shifted = self.if_(sge.LT(this=year, expression=sge.convert(0)), year + 1, year)
            return self.if_(self.f.anon.isfinite(time), shifted, NULL)

        return self._once(arg, counted)

    def visit_ExtractMonth(self, op: Any, *, arg: Any) -> Any:
        """The month; NULL for infinite times."""

        def counted(time: Any) -> Any:
            month = self.cast(self.f.extract("month", time), dt.int32)
            return self.if_(self.f.anon.isfinite(time), month, NULL)

        return self._once(arg, counted)

    def visit_ExtractEpochSeconds(self, op: Any, *, arg: Any) -> Any:
        """Seconds since 1970 with their fraction: microseconds as a double, divided once."""

        def counted(time: Any) -> Any:
            exact = sge.paren(self.f.extract("epoch", time) * 1_000_000)
            micros = self.cast(self.cast(exact, _BIGINT), _DOUBLE)
            return self.if_(self.f.anon.isfinite(time), micros / self._double(1e6), NULL)

        return self._once(arg, counted)

    def visit_Strftime(self, op: Any, *, arg: Any, format_str: Any) -> Any:
        """The time's standard text with its microseconds."""
        form = op.format_str.value if isinstance(op.format_str, ops.Literal) else None
        if form not in _FORMATS:
            raise _unsupported("a format of times")
        return _in_bytes(self.f.anon.to_char(arg, _FORMATS[form]))


def _in_bytes(text: Any) -> Any:
    """A text whose order is that of its bytes, whatever the database's language."""
    return sge.Collate(this=sge.paren(text), expression=sg.to_identifier("C", quoted=True))


def _at(array: Any, place: int) -> Any:
    """The element of an array at a place, from 1 on; `Bracket` counts from 0."""
    return sge.Bracket(this=array, expressions=[sge.convert(place - 1)])


def _number(op: Any) -> float | None:
    """The value of a literal number, also of one that is written as a text; else None."""
    if isinstance(op, ops.Cast) and op.to.is_float64() and isinstance(op.arg, ops.Literal):
        return float(op.arg.value)
    if isinstance(op, ops.Literal) and op.dtype.is_numeric():
        return float(op.value)
    return None


def _first(holds: Callable[[float], bool]) -> float:
    """The least double from 0 on for which this holds, as for all above; infinity if none does."""
    low, high = 0, _bits(math.inf)  # doubles from 0 on have the order of their bits
    while low < high:
        middle = (low + high) // 2
        if holds(_of_bits(middle)):
            high = middle
        else:
            low = middle + 1
    return _of_bits(low)


def _bits(x: float) -> int:
    return int(struct.unpack("<q", struct.pack("<d", x))[0])


def _of_bits(bits: int) -> float:
    return float(struct.unpack("<d", struct.pack("<q", bits))[0])


def _unsupported(what: str) -> Exception:
    error: Exception = com.UnsupportedOperationError(what)
    return error


COMPILER = _Compiler()
