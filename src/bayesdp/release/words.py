"""A confidence and a cost, as all parts of a release say them."""

from __future__ import annotations

from bayesdp.accounting.costs.rounded import up_words


def confidence_words(confidence: float) -> str:
    """A confidence as a percentage, such as 95 %."""
    return f"{100.0 * confidence:g} %"


def cost_words(dp_epsilon: float, dp_rho: float) -> str:
    """A pure cost, a cost in zCDP, or both, in words; each is rounded up."""
    pure = [f"DP cost {up_words(dp_epsilon)}"] if dp_epsilon > 0.0 or dp_rho == 0.0 else []
    return " and ".join([*pure, *([f"zCDP cost {up_words(dp_rho)}"] if dp_rho > 0.0 else [])])
