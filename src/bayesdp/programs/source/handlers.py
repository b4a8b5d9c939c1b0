"""The table of the language: the handler of each kind of syntax and of each function.

A handler is `(node, context) -> value`, in the file that is about it. What stands in no table is
refused.
"""

from __future__ import annotations

import ast

from bayesdp.programs.source import access, calls
from bayesdp.programs.source.drafts.context import Handlers
from bayesdp.programs.source.expressions import (
    aggregates,
    arithmetic,
    categories,
    clipping,
    conditions,
    dictionaries,
    functions,
    generators,
    sequences,
    transitions,
)
from bayesdp.programs.source.models import hypotheses, likelihoods, models, pooling, standard
from bayesdp.programs.source.posteriors import distributions, inference
from bayesdp.programs.source.records import group_by
from bayesdp.programs.source.releases import candidates, choices, noise, thresholds
from bayesdp.programs.source.statements import assignments, branches, loops

HANDLERS = Handlers(
    expressions={
        ast.Constant: access.literal_value,
        ast.Name: access.name,
        ast.Tuple: access.tuple_or_list,
        ast.List: access.tuple_or_list,
        ast.Dict: dictionaries.dictionary,
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
        ast.Assign: assignments.assignment,
        ast.AnnAssign: assignments.annotated,
        ast.AugAssign: assignments.augmented,
        ast.Expr: assignments.expression,
        ast.Return: assignments.early_return,
        ast.Pass: assignments.nothing,
        ast.For: loops.stopping_loop,
        ast.Break: loops.misplaced_break,
        ast.If: branches.condition,
    },
    calls={
        # data
        "sum": aggregates.call_sum,
        "count": aggregates.call_count,
        "len": aggregates.call_len,
        "any": aggregates.call_any,
        "all": aggregates.call_all,
        "group_by": group_by.call_group_by,
        "partition": aggregates.call_partition,
        "field": aggregates.call_field,
        "fold": aggregates.call_fold,
        "transition_counts": transitions.call_transition_counts,
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
        "range": sequences.call_range,
        "zip": sequences.call_zip,
        "enumerate": sequences.call_zip,
        "tuple": sequences.call_tuple,
        "list": sequences.call_tuple,
        # models
        "bernoulli": standard.call_bernoulli,
        "categorical": standard.call_categorical,
        "poisson": standard.call_poisson,
        "linear_model": standard.call_linear_model,
        "logistic": likelihoods.call_logistic,
        "poisson_regression": likelihoods.call_poisson_regression,
        "geometric": likelihoods.call_geometric,
        "negative_binomial": likelihoods.call_negative_binomial,
        "exponential_time": likelihoods.call_exponential_time,
        "normal_inverse_gamma": likelihoods.call_normal_inverse_gamma,
        "mixture": likelihoods.call_mixture,
        "chances": hypotheses.call_chances,
        "hypotheses": hypotheses.call_hypotheses,
        "markov_chain": likelihoods.call_markov_chain,
        "partial_pooling": pooling.call_partial_pooling,
        "normal": standard.call_normal,
        "beta": standard.call_beta,
        "gamma": standard.call_gamma,
        "dirichlet": standard.call_dirichlet,
        "observe": models.call_observe,
        "infer": models.call_infer,
        "statistics": models.call_statistics,
        "parameters": models.call_parameters,
        # releases, and what they choose among
        "laplace": noise.call_laplace,
        "gaussian": noise.call_gaussian,
        "randomized_response": noise.call_randomized_response,
        "exponential": choices.call_exponential,
        "per_record_exponential": choices.call_per_record_exponential,
        "posterior_sample": choices.call_posterior_sample,
        "above_threshold": thresholds.call_above_threshold,
        "hellinger": choices.call_hellinger,
        "posteriors_of": candidates.call_posteriors_of,
        "linspace": candidates.call_linspace,
        "grid_of": candidates.call_grid_of,
        # after a release
        "plug_in": inference.call_plug_in,
        "noise_aware": inference.call_noise_aware,
        "nuts": inference.call_nuts,
        "predictive": distributions.call_predictive,
        "require": assignments.call_require,
    },
)
