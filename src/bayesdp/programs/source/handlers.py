"""The table of the language: the handler of each kind of syntax and of each function.

A handler is `(node, context) -> value`, in the file that is about it. What stands in no table is
refused.
"""

from __future__ import annotations

import ast

from bayesdp.programs.source import (
    access,
    after,
    aggregates,
    arithmetic,
    branches,
    calls,
    candidates,
    categories,
    choices,
    clipping,
    conditions,
    functions,
    generators,
    laws,
    loops,
    models,
    releases,
    statements,
    tables,
)
from bayesdp.programs.source.context import Handlers

HANDLERS = Handlers(
    expressions={
        ast.Constant: access.literal_value,
        ast.Name: access.name,
        ast.Tuple: access.tuple_or_list,
        ast.List: access.tuple_or_list,
        ast.Dict: tables.dictionary,
        ast.Attribute: access.attribute,
        ast.Subscript: access.entry,
        ast.Lambda: access.misplaced_lambda,
        ast.UnaryOp: arithmetic.unary,
        ast.BinOp: arithmetic.binary,
        ast.Compare: conditions.compare,
        ast.BoolOp: conditions.boolean,
        ast.IfExp: branches.choice,
        ast.GeneratorExp: generators.generator,
        ast.ListComp: generators.generator,
        ast.Call: calls.call,
    },
    statements={
        ast.Assign: statements.assignment,
        ast.AnnAssign: statements.annotated,
        ast.AugAssign: statements.augmented,
        ast.Expr: statements.expression,
        ast.Return: statements.early_return,
        ast.Pass: statements.nothing,
        ast.For: loops.loop,
        ast.If: branches.condition,
    },
    calls={
        # data
        "sum": aggregates.call_sum,
        "count": aggregates.call_count,
        "len": aggregates.call_len,
        "partition": aggregates.call_partition,
        "field": aggregates.call_field,
        "fold": aggregates.call_fold,
        # numbers, categories, sequences
        "clip": clipping.call_clip,
        "abs": clipping.call_abs,
        "min": clipping.call_min,
        "max": clipping.call_max,
        "sqrt": functions.call_sqrt,
        "log": functions.call_log,
        "exp": functions.call_exp,
        "lgamma": functions.call_lgamma,
        "floor": functions.call_floor,
        "round": functions.call_round,
        "onehot": categories.call_onehot,
        "cross": categories.call_cross,
        "range": loops.call_range,
        "zip": loops.call_zip,
        "enumerate": loops.call_zip,
        "tuple": loops.call_tuple,
        "list": loops.call_tuple,
        # models
        "bernoulli": models.call_bernoulli,
        "categorical": models.call_categorical,
        "poisson": models.call_poisson,
        "linear_model": models.call_linear_model,
        "normal": models.call_normal,
        "beta": models.call_beta,
        "gamma": models.call_gamma,
        "dirichlet": models.call_dirichlet,
        "observe": models.call_observe,
        "infer": models.call_infer,
        "statistics": models.call_statistics,
        "parameters": models.call_parameters,
        # releases, and what they choose among
        "laplace": releases.call_laplace,
        "gaussian": releases.call_gaussian,
        "randomized_response": releases.call_randomized_response,
        "exponential": choices.call_exponential,
        "per_record_exponential": choices.call_per_record_exponential,
        "posterior_sample": choices.call_posterior_sample,
        "hellinger": choices.call_hellinger,
        "posteriors_of": candidates.call_posteriors_of,
        "linspace": candidates.call_linspace,
        "grid_of": candidates.call_grid_of,
        # after a release
        "plug_in": after.call_plug_in,
        "noise_aware": after.call_noise_aware,
        "nuts": after.call_nuts,
        "predictive": laws.call_predictive,
        "require": statements.call_require,
    },
)
