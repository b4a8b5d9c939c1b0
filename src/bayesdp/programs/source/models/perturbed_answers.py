"""Models of numbers that each record answered with noise: `per_record_exponential`.

The law of an answer is known where a score reads one column and nothing else of the record: then a
posterior can know of the noise. The column's bounds are those between which its cells are held.
"""

from __future__ import annotations

import ast
from fractions import Fraction

from bayesdp.programs.ir import Expr, columns
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import (
    Data,
    Items,
    LoweredValue,
    ModelObject,
    Scalar,
    constant,
    static_of,
)
from bayesdp.programs.source.syntax.diagnostics import ProgramError, place, refuse

LINE = "answered_line"
"""The family of a line through answers: both the feature and the response have noise."""
LINES = "observe((1, noisy_x, noisy_y), linear_model(noise_sd=...), prior=normal(0, sd=...))"
MOST_WHOLE = 4096
"""The most values of a column of whole numbers whose answers a model can know of."""


def answered_column(data: Data, score: Expr, context: Context) -> tuple[LoweredValue, ...]:
    """The column that answers are about, if the law of an answer depends on its value alone.

    `score` is the score of one record's candidate.
    """
    row = data.row
    if not isinstance(row, Scalar) or row.expr.op != "field":
        return ()
    name = str(row.expr.data[0])
    kind = context.draft.columns[name]
    if columns(score) != {name} or kind.kind not in ("int", "real"):
        return ()
    assert kind.low is not None
    assert kind.high is not None
    wide = kind.kind == "int" and kind.high - kind.low >= MOST_WHOLE
    return () if wide or kind.low == kind.high else (row,)


def check_known(answers: ModelObject, node: ast.AST) -> None:
    """Refuse answers whose law is not that of one column's value."""
    if answers.about:
        return
    raise refuse(
        "type",
        node,
        "What the noise does to these answers depends on more than one column's value.",
        "Let the rows be a column as it is, with bounds, and the score read it alone: "
        "per_record_exponential(people.score, score=lambda x, c: -abs(x - c), ...). "
        "plug_in takes the answers as if they were true.",
    )


def is_line(data: LoweredValue) -> bool:
    """Whether a tuple holds answers, which only a line observes together."""
    return isinstance(data, Items) and any(
        isinstance(part, ModelObject) and part.kind == "noisy-data" for part in data.items
    )


def line_through(
    data: Items, likelihood: ModelObject, prior: ModelObject, node: ast.Call
) -> ModelObject:
    """A model of a line through two lists of answers, about the same records in the same order.

    `data` are the answers, with a 1 before them for an intercept.
    """
    leading = static_of(data.items[0]) if data.items else None
    skipped = 1 if leading == 1 else 0
    answers = [part for part in map(_numbers, data.items[skipped:]) if part is not None]
    if likelihood.family != "linear_model" or len(answers) != 2 or len(data.items) > 2 + skipped:
        raise refuse(
            "type",
            node.args[0] if node.args else node,
            "Answers are observed together as a line: a feature and a response.",
            LINES,
        )
    if prior.expr.op != "prior":
        raise _written_out(node)
    feature, response = answers
    for part in (feature, response):
        check_known(part, node)
    flag = constant(Fraction(skipped))
    line = Expr("likelihood", (*likelihood.expr.args, flag), (LINE,), likelihood.expr.where)
    expr = Expr("observe", (response.expr, line, prior.expr), (), place(node))
    about = (Items((feature, response)), likelihood, prior)
    return ModelObject("noisy-model", expr, LINE, about, True)


def _numbers(part: LoweredValue) -> ModelObject | None:
    """The part as answers of numbers, if it is that."""
    if isinstance(part, ModelObject) and part.kind == "noisy-data" and part.family == "number":
        return part
    return None


def _written_out(node: ast.Call) -> ProgramError:
    return refuse("prior", node, "The prior of a line's coefficients is written out.", LINES)


def parts_after(op: str, model: ModelObject, node: ast.expr) -> tuple[Expr, ...]:
    """What a posterior of noisy answers is made of. Refused where their noise is not known.

    `op` is what is asked for of the `model`, at `node`.
    """
    answers = model.about[0]
    if isinstance(answers, Items):
        if op != "noise-aware":
            raise refuse(
                "type",
                node,
                "A feature with noise makes a line flatter than it is, as if answers were true.",
                "noise_aware(model) knows of the noise.",
            )
        feature = answers.items[0]
        assert isinstance(feature, ModelObject)
        return (feature.expr, model.expr)
    if isinstance(answers, ModelObject) and answers.family == "number" and op != "plug-in":
        if op == "nuts":
            raise refuse("type", node, "This posterior is exact.", "noise_aware(model)")
        check_known(answers, node)
    return (model.expr,)
