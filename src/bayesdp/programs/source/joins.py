"""What two values are to each other where a condition chooses between them."""

from __future__ import annotations

from bayesdp.programs.source.values import (
    Data,
    Items,
    Parted,
    Row,
    Scalar,
    Thing,
    Value,
    described,
)


def unjoined(a: Value, b: Value, condition: str) -> str:
    """Why a name has no one value after a condition that chose between two, and what to write."""
    if is_private(a) or is_private(b):
        return (
            f"stands for private values that {condition} chooses between: release them inside it."
        )
    if isinstance(a, Items) and isinstance(b, Items) and len(a.items) == len(b.items):
        for one, other in zip(a.items, b.items, strict=True):
            if _shown(one) != _shown(other):
                return f"holds an entry that {unjoined(one, other, condition)}"
    kinds = {one.kind for one in (a, b) if isinstance(one, Thing)}
    if kinds == {"prior", "released-posterior"}:
        return (
            f"is a prior or a released posterior, as {condition} has it, and what follows takes "
            "one of both: release a posterior on both sides (with a small epsilon on one of "
            "them), or whatever the condition says."
        )
    if _shown(a) == _shown(b):
        return (
            f"stands for {_shown(a)}, one of two that {condition} chooses between: put what uses "
            "it on both sides, and join the results."
        )
    return (
        f"is {_shown(a)} or {_shown(b)}, as {condition} has it: give it one kind of value, and as "
        "many of them, on both sides."
    )


def _shown(value: Value) -> str:
    """What a value is, as far as two of them can be one after a condition."""
    if isinstance(value, Items):
        return f"a tuple of {len(value.items)}"
    if isinstance(value, Scalar):
        size = len(value.type.items)
        return "a text" if is_word(value) else f"a vector of {size}" if size else "a number"
    if isinstance(value, Thing) and value.kind == "prior":
        of = f" of {len(value.about)} numbers" if value.family == "dirichlet" else ""
        return f"a {value.family} prior{of}"
    if isinstance(value, Thing) and value.kind == "released-posterior":
        return f"a released {value.family} posterior"
    return described(value)


def is_private(value: Value) -> bool:
    """Whether something in a value is of private data, and not released."""
    if isinstance(value, Items):
        return any(is_private(one) for one in value.items)
    if isinstance(value, Scalar):
        return value.level == "private"
    if isinstance(value, Thing):
        return value.kind in ("model", "posterior", "score")
    return isinstance(value, Data | Parted | Row)


def alike_priors(a: Thing, b: Thing, test: Scalar) -> bool:
    """Whether a condition chooses between priors that are one with other numbers."""
    written = all(one.kind == "prior" and one.expr.op == "prior" for one in (a, b))
    same = a.family == b.family and len(a.about) == len(b.about)
    return written and same and test.level != "row"


def is_word(value: Value) -> bool:
    """Whether this is a text or a label."""
    return isinstance(value, Scalar) and value.type.kind in ("category", "text")
