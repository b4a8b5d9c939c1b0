"""What a study may spend instead, where the data set's budget doesn't allow its plan."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress

from bayesdp.accounting.costs.rounded import STEPS, scaled
from bayesdp.errors import InputError, Refusal
from bayesdp.release.certificates.derivation import provable_plan
from bayesdp.release.price.plan import Plan
from bayesdp.release.price.pricing import own_level


def smaller_spend(plan: Plan, fits: float, is_allowed: Callable[[Plan], bool]) -> float | None:
    """A level for the study to spend that its budget allows, in nats; `None` if none is found.

    `fits` is the multiple of the plan's costs that the budget allows, and `is_allowed` says whether
    it allows another plan of the study. The level is tried: wanted errors may cost more than it,
    and then none would help.
    """
    study = plan.study
    costs = [scaled(spend, math.floor(fits * STEPS)) for spend in plan.spends]
    reached = own_level(plan.reading, costs, study.budget.seconds)
    for share in (1.0 - 1e-6, 0.99, 0.9):
        spend = float(f"{reached * share * (1.0 - 1e-4):.4g}")
        if not 0.0 < spend <= study.budget.epsilon:
            continue
        budget = study.budget.model_copy(update={"spend": spend})
        with suppress(Refusal, InputError):
            cheaper = study.model_copy(update={"budget": budget})
            if is_allowed(provable_plan(cheaper, plan.n, reading=plan.reading)):
                return spend
    return None
