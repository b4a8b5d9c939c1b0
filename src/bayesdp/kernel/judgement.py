"""What is judged: the theorems that have a rule, a step from DP to BDP, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeVar

from flint import arb

from bayesdp.kernel.arithmetic import InvalidError
from bayesdp.kernel.costs.composition import Cost
from bayesdp.statements import conversions
from bayesdp.statements.populations import Population

RULES = conversions.THEOREMS
"""Every theorem that the kernel re-proves: the file of the same name in `rules/`."""

GAUSSIAN_RULES = frozenset(
    rule for rule in RULES if rule.startswith("gaussian-") or rule == "autoregressive"
)
"""Theorems about secrets inside the clipping intervals."""

DIVERGENCE_RULES = GAUSSIAN_RULES | {"independent", "cluster-size"}
"""Theorems that bound Rényi divergences too: they couple databases, whatever reads them."""

Form = TypeVar("Form")
"""A form in which a population is declared."""

_CHAINS, _GRAPHS = frozenset({"markov"}), frozenset({"graph", "tree", "network"})
MODELS: Mapping[str, frozenset[str]] = {
    "markov": _CHAINS,
    "graph": _GRAPHS,
    "tree": frozenset({"tree", "network"}),
    "finite": _CHAINS | _GRAPHS | {"finite"},
    "gaussian": frozenset({"gaussian"}),
    "panel": frozenset({"panel"}),
    "autoregressive": frozenset({"autoregressive"}),
    "independent": frozenset({"independent"}),
    "family": frozenset({"family"}),
}
"""The models that a rule is about, by the first word of its name; `cluster-size` is about all."""


@dataclass(frozen=True)
class Verdict:
    """VALID ASSUMING, INVALID or UNKNOWN; `step` and `reason` say where and why not valid.

    A verdict is true where the certificate is valid, and false for all else.
    """

    verdict: Literal["VALID ASSUMING", "INVALID", "UNKNOWN"]
    assuming: tuple[str, ...] = ()
    step: str = ""
    reason: str = ""

    def __bool__(self) -> bool:
        """Whether the certificate is valid."""
        return self.verdict == "VALID ASSUMING"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        plain = {"verdict": self.verdict, "assuming": list(self.assuming), "step": self.step}
        return plain | ({"reason": self.reason} if self.reason else {})


@dataclass(frozen=True)
class Conversion:
    """A step from DP to BDP: everything that a rule may use.

    `cost` is what the step counts: pure costs as such, or as zCDP. `zcdp` are the costs with the
    pure ones counted as zCDP. `details` is evidence that the rule re-proves; a family has the
    steps of its `members`. `mechanism` is that of all spends, `None` where they don't all have
    the same one.

    `proof` says how the level follows at `delta` (`approximate`); `alpha` is the Rényi order of the
    divergence that a rule bounds, `None` for a pure level. `for_any_mechanism`: the level is that
    of every mechanism of the stated cost, not of a release. `has_other_values`: records have values
    in independent columns, of which the population says nothing.
    """

    rule: str
    population: Population
    adversary: str
    secrets: str
    cost: Cost
    details: Mapping[str, Any]
    members: tuple[conversions.Conversion, ...] = ()
    mechanism: str | None = None
    delta: Fraction = Fraction(0)
    proof: conversions.Renyi | conversions.Point | conversions.Stated | None = None
    alpha: Fraction | None = None
    zcdp: Cost | None = None
    for_any_mechanism: bool = False
    has_other_values: bool = False

    @property
    def total(self) -> Fraction:
        """The pure DP cost of everything."""
        return self.cost.total

    @property
    def rho(self) -> Fraction:
        """The zCDP cost of everything that is Gaussian noise."""
        return self.cost.rho

    def declared(self, form: type[Form], reason: str) -> Form:
        """The population, which has this form; `InvalidError` with the reason for any other."""
        if not isinstance(self.population, form):
            raise InvalidError(reason)
        return self.population

    def of_group(self, size: int) -> Fraction:
        """What `size` records that change together cost: `m eps`, or `m eps + alpha m^2 rho`."""
        pure = size * self.total
        return pure if self.alpha is None else pure + self.alpha * size**2 * self.rho


OfMember = Callable[[Conversion, Population, conversions.Conversion], arb]
"""The level of a family's member, derived from its step under the family's."""
