"""Labels as candidates: a choice among texts is one among their places.

In a score the candidate `g` is the number of its place. `p.group == g` is written out: the group is
the first label and the place is 0, or the second and 1, and so on. What is chosen becomes a text
again by a condition for each label.
"""

from __future__ import annotations

import ast
from fractions import Fraction

from bayesdp.programs.ir import Branch, Derive, Expr, Type
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import BOOL, TEXT, Scalar, constant, highest, operation
from bayesdp.programs.source.syntax.diagnostics import place, refuse

CHOICE = "choice"
"""The kind of a candidate that is one of some texts."""
MOST_TEXTS = 64


def choice_among(labels: tuple[str, ...], name: Expr) -> Scalar:
    """The candidate in a score: the place of one of these labels, under a public name."""
    return Scalar("public", name, Type(CHOICE, labels=labels))


def is_choice(value: Scalar) -> bool:
    """Whether a value is a candidate that is one of some texts."""
    return value.type.kind == CHOICE


def same_label(choice: Scalar, other: Scalar, node: ast.AST) -> Scalar:
    """Whether the candidate `choice` is the label `other`."""
    if other.type.kind not in ("category", "text"):
        raise refuse(
            "type",
            node,
            "A candidate that is a label is compared with a label.",
            "count(p for p in people if p.group == g)",
        )
    where, parts = place(node), []
    for i, label in enumerate(choice.type.labels):
        held = Expr("eq", (choice.expr, constant(Fraction(i))), (), where)
        if other.level == "static":
            if other.expr.data[0] == label:
                parts.append(held)
            continue
        if other.type.kind == "category" and label not in other.type.labels:
            continue
        named = Expr("eq", (other.expr, constant(label)), (), where)
        parts.append(Expr("and", (named, held), (), where))
    if not parts:
        raise refuse(
            "type",
            node,
            "No candidate is one of the labels that it is compared with.",
            f"The candidates are {', '.join(choice.type.labels)}.",
        )
    either = parts[0] if len(parts) == 1 else Expr("or", tuple(parts), (), where)
    level = highest(choice.level, "public" if other.level == "static" else other.level)
    return Scalar(level, either, BOOL, other.released)


def other_label(choice: Scalar, other: Scalar, node: ast.AST) -> Scalar:
    """Whether the candidate `choice` is another label than `other`."""
    same = same_label(choice, other, node)
    return Scalar(same.level, operation("not", node, same), BOOL, same.released)


def chosen_label(labels: tuple[str, ...], name: Expr, node: ast.AST, context: Context) -> Scalar:
    """The label at the place that was released under `name`, by one condition after the other."""
    where, label = place(node), constant(labels[-1], node)
    for i in range(len(labels) - 2, -1, -1):
        shared = context.draft.fresh("label")
        context.draft.commands.append(
            Branch(
                Expr("eq", (name, constant(Fraction(i))), (), where),
                (Derive(shared, constant(labels[i], node)),),
                (Derive(shared, label),),
                where,
            )
        )
        label = Expr("public", (), (shared,), where)
    return Scalar("public", label, TEXT, released=True)
