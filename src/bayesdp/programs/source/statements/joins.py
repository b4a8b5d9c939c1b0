"""What two values are to each other where a condition chooses between them."""

from __future__ import annotations

from bayesdp.programs.source.drafts.values import (
    Data,
    Dictionary,
    Items,
    LoweredValue,
    ModelObject,
    Parted,
    RecordVariable,
    Scalar,
    described,
)


def unjoined(a: LoweredValue, b: LoweredValue, condition: str) -> str:
    """Why two values that a condition chooses between are not joined, and what to write instead."""
    if is_private(a) or is_private(b):
        return (
            f"stands for private values that {condition} chooses between: release them inside it."
        )
    if isinstance(a, Items) and isinstance(b, Items) and len(a.items) == len(b.items):
        for entry, other in zip(a.items, b.items, strict=True):
            if _shown(entry) != _shown(other):
                return f"holds an entry that {unjoined(entry, other, condition)}"
    kinds = {side.kind for side in (a, b) if isinstance(side, ModelObject)}
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


def _shown(value: LoweredValue) -> str:
    """A value in words that say whether it can be joined with another."""
    if isinstance(value, Items):
        return f"a tuple of {len(value.items)}"
    if isinstance(value, Scalar):
        size = len(value.type.items)
        return "a text" if is_word(value) else f"a vector of {size}" if size else "a number"
    if isinstance(value, ModelObject) and value.kind == "prior":
        length = f" of {len(value.about)} numbers" if value.family == "dirichlet" else ""
        return f"a {value.family} prior{length}"
    if isinstance(value, ModelObject) and value.kind == "released-posterior":
        return f"a released {value.family} posterior"
    return described(value)


def is_private(value: LoweredValue) -> bool:
    """Whether a value depends on private data without a release."""
    if isinstance(value, Items):
        return any(is_private(entry) for entry in value.items)
    if isinstance(value, Dictionary):
        return any(is_private(entry) for entry in value.values)
    if isinstance(value, Scalar):
        return value.level == "private"
    if isinstance(value, ModelObject):
        return value.kind in ("model", "posterior", "score")
    return isinstance(value, Data | Parted | RecordVariable)


def alike_priors(a: ModelObject, b: ModelObject, test: Scalar) -> bool:
    """Whether two priors differ in their numbers only, so that a condition can choose those."""
    written = all(prior.kind == "prior" and prior.expr.op == "prior" for prior in (a, b))
    same = a.family == b.family != "hypotheses" and len(a.about) == len(b.about)
    return written and same and test.level != "row"


def is_word(value: LoweredValue) -> bool:
    """Whether this is a text or a label."""
    return isinstance(value, Scalar) and value.type.kind in ("category", "text")
