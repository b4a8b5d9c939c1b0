"""The bound of each rule, and the hypotheses on kinds, models and adversaries of all."""

from __future__ import annotations

import importlib

from flint import arb

from bayesdp.kernel.arithmetic import InvalidError, UnknownError, ball, require
from bayesdp.kernel.judgement import (
    DIVERGENCE_RULES,
    GAUSSIAN_RULES,
    MODELS,
    Conversion,
    OfMember,
)
from bayesdp.kernel.models.described import check_numbers


def bounded(conversion: Conversion, of_member: OfMember | None = None) -> arb:
    """The rule's bound on the level, or on the Rényi divergence of order `alpha` of two secrets.

    `of_member` derives the level of one step under a family's, which is the rule's only premise.

    Never below the DP cost, which every theorem allows for; but 0 where the rule finds that no
    record has two possible values, and records have no other values either.
    """
    models = MODELS.get(conversion.rule.split("-")[0])
    about = models is None or conversion.population.model in models
    reason = f"the theorem is not about the model {conversion.population.model!r}"
    require(about, reason, conversion.rule)
    total = ball(conversion.of_group(1))
    divergence = conversion.rule in DIVERGENCE_RULES
    require(
        conversion.alpha is None or divergence,
        "the theorem bounds no Rényi divergence, which Gaussian noise needs",
        conversion.rule,
    )
    of_members = conversion.rule == "family" and conversion.rho > 0
    listed = bool(conversion.members)
    looked_into = conversion.rule == "finite-law"
    if conversion.adversary == "informed" and not (of_members or listed or looked_into):
        check_numbers(conversion.population)
        return total
    if conversion.rule == "cluster-size":
        check_numbers(conversion.population)
    if conversion.rule in GAUSSIAN_RULES:
        moved = conversion.cost.lipschitz + conversion.cost.rho_lipschitz > 0 or bool(
            conversion.cost.columns
        )
        nothing = conversion.cost.any == conversion.cost.rho_any == 0
        require(moved or nothing, "no mechanism is Lipschitz", conversion.rule)
        require(conversion.secrets == "bounded", "secrets must be bounded", conversion.rule)
    if conversion.total == conversion.rho == 0 and not listed:
        return total
    name = conversion.rule.replace("-", "_")
    try:
        module = importlib.import_module(f"bayesdp.kernel.rules.{name}")
    except ModuleNotFoundError:
        raise UnknownError("this kernel has no file for the rule", conversion.rule) from None
    try:
        family = (of_member,) if conversion.rule == "family" else ()
        derived: arb = module.bound(conversion, *family)
    except InvalidError as error:
        error.step = error.step or conversion.rule
        raise
    nothing = looked_into and not conversion.has_other_values and derived.is_zero()
    return derived if nothing else derived.max(total)
