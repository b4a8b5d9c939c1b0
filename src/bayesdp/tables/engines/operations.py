"""The operations of expressions whose values are DuckDB's on every engine.

An engine's compiler refuses every other one, so that none is used before it is known to agree.

Public name: `KNOWN`.
"""

from __future__ import annotations

KNOWN = frozenset(
    (
        # relations, and what Ibis makes of them
        *("DatabaseTable", "SQLQueryResult"),
        *("Select", "Project", "Filter", "Sort", "Limit", "Aggregate", "Distinct"),
        *("JoinChain", "JoinTable", "JoinLink", "JoinReference", "SelfReference", "Reference"),
        *("CTE", "Alias", "DropColumns", "Field", "SortKey", "AliasedRelation"),
        # truth values, missing values and choices
        *("And", "Or", "Not", "IsNull", "NotNull", "NullIf", "Coalesce", "IfElse", "SearchedCase"),
        *("Equals", "NotEquals", "InValues", "Less", "LessEqual", "Greater", "GreaterEqual"),
        *("Between", "Least", "Greatest", "Literal", "Cast", "TryCast"),
        # numbers
        *("Add", "Subtract", "Multiply", "Divide", "Abs", "Floor", "Round", "IsNan", "Negate"),
        # texts
        *("Strip", "RegexSearch", "RegexExtract", "RegexReplace", "LPad", "StringConcat"),
        # times
        *("ExtractYear", "ExtractMonth", "ExtractEpochSeconds", "Strftime"),
        *("IntervalFromInteger", "TimestampSub"),
        # aggregates and windows
        *("CountStar", "Count", "CountDistinct", "Sum", "Min", "Max", "ArrayCollect", "Array"),
        *("StructColumn", "WindowFunction", "Lag", "DenseRank", "RowNumber", "Unnest"),
    )
)
"""The names of the operations in Ibis."""
