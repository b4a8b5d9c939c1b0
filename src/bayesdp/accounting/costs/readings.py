"""How a data set's spends are to be read.

A spend is a record, not a number: what it means for a population depends on the kind of the
mechanism, the column and its clipping interval (theory 2.2). A reading is one such meaning with
the total that it may reach.

**Independent columns (corrected).** A column may be declared `independent` when, given the record's
own covered columns, it is independent of everything in the other records.

*Plain independence of the other records' covered columns isn't enough:* let `X2` and `Z1` be fair
bits and `X1 = Z1 xor X2`. `Z1` is independent of `X2`, and `X1` of `X2`, so that for the covered
columns alone `L(eps) = eps`. But `(X1, Z1)` together give `X2` away, and an eps-DP mechanism on all
columns leaks `2 eps` about record 1.

*Statement.* Let `L` be the conversion of the covered columns `X` and let the columns `Z` be
independent in this sense. Then the leakage from `(x_i, z_i)` to `(x_i', z_i')` is at most `L(eps)`
if `x_i != x_i'`, and at most `eps` otherwise. *Proof:* the hypothesis gives `P[z | x] = product
over j of P[z_j | x_j]`. Let `g` be log-Lipschitz in the records `(x_j, z_j)`. Fix what is known of
the `z` and average over `z_U` given `x_U`: the result is log-Lipschitz in the `x_j`, since `g(..,
(x_j, z_j), ..) <= e^eps g(.., (x_j', z_j'), ..)` for all `z_j, z_j'`. So is the function of `x_i`
that uses `z_i` at `x_i` and `z_i'` at `x_i'`. The law of `X_U` given what is known depends on `x_i`
only, and 2.1 for the covered columns gives `L(eps)`. If `x_i = x_i'` that law doesn't change, and
`e^eps` holds pointwise. ∎

*Lipschitz in the covered values.* For the theorems of 3.8 a query that reads an independent column
counts as *not* Lipschitz, even if it is a clipped sum of that column: the coupling moves the other
records' covered values, and what they say about `Z` may jump. *Counterexample:* two Gaussian
records with correlation 0.1, `Z_j = 1` if `X_j > 0.5` and -1 otherwise, Laplace noise on `Z_1 +
Z_2` at eps 1.2: for the secrets `X_1 = 3` and `-3` the leakage is 1.4827, above `1.1 eps = 1.32`.
Such a query costs `m eps`.

**States and raw values.** A chain over states (active or not) covers a query on the raw column
(steps) only if the state is a function of the raw value, and the raw values are independent of each
other and of everything else in the other records given the states. This is the previous statement
with the raw value as `Z`: two raw values of the same state then cost `eps`, of different states
`L(eps)`. It is an assumption to be stated; otherwise the query is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from bayesdp.accounting.canonical import canonical_form, canonical_json
from bayesdp.accounting.costs.field_checks import (
    check_choice,
    checked_fields,
    finite_field,
    interval_field,
    names_field,
)
from bayesdp.accounting.costs.spend import Spend
from bayesdp.errors import InputError, UnsupportedError
from bayesdp.notions import (
    ADVERSARIES,
    NOTIONS,
    SECRETS,
    Adversary,
    Notion,
    Secrets,
)
from bayesdp.numbers import UpperBound, float_below
from bayesdp.statements.assumptions import secrets_place
from bayesdp.statements.base import exact_text

SMALLEST_DELTA = 1e-30
"""Below it a delta is 0 for people, and too close to the end of doubles for searches."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One meaning of a data set's DP sum, and the total that it may not exceed.

    `total` is in nats of `notion`. For `bdp`, `population` is the population's canonical spec as
    plain data, `adversary` and `secrets` are as in the study, `covers` names the columns that the
    population speaks about, `independent` those that tell nothing about other records (theory 7).
    `interval` is where the secret values of the covered column lie, for a Gaussian population with
    one covered column: it belongs to the reading, so no later spend can narrow it (theory 2.2).
    `dataset` is set where the data set shares people: the columns are those of this one, and what
    is spent on the others is held against readings of theirs (`people`). It is not part of the key.
    For `dp` a population says nothing: `population` is None, and neither
    `adversary`, `secrets` nor columns make two readings different.

    With a `delta` above 0 the level is an epsilon at this delta, and Gaussian spends can be read;
    without one they can't: they have no pure level at any epsilon. `mechanism_delta` is the part of
    `delta` that is set aside, from the start, for spends with a `dp_delta`: theirs may add up to
    it, and Gaussian spends have the rest (theory 2.6b). Without it such spends can't be read.

    Raises `InputError` for a total that is not above 0 and for data that isn't plain JSON,
    `UnsupportedError` for a `mechanism_delta` under the notion `bdp`.
    """

    notion: Notion
    total: float
    population: dict[str, Any] | None = None
    adversary: Adversary = "any"
    secrets: Secrets = "bounded"
    covers: tuple[str, ...] = ()
    independent: tuple[str, ...] = ()
    interval: tuple[float, float] | None = None
    delta: float = 0.0
    mechanism_delta: float = 0.0
    dataset: str = field(default="", compare=False)
    population_text: str = field(default="", init=False, repr=False, compare=False)
    """The population's spec as canonical JSON, written once: it may be large."""

    def __post_init__(self) -> None:
        check_choice("reading.notion", self.notion, NOTIONS)
        check_choice("reading.adversary", self.adversary, ADVERSARIES)
        check_choice("reading.secrets", self.secrets, SECRETS)
        object.__setattr__(self, "total", finite_field("reading.total", self.total))
        if self.total <= 0:
            raise InputError("reading.total", self.total, expected="a total above 0")
        object.__setattr__(self, "delta", finite_field("reading.delta", self.delta))
        if not (self.delta == 0.0 or SMALLEST_DELTA <= self.delta < 1.0):
            raise InputError(
                "reading.delta",
                self.delta,
                expected=f"0, or a probability from {SMALLEST_DELTA:g} to below 1",
            )
        self._check_mechanism_delta()
        for name in ("covers", "independent"):
            object.__setattr__(self, name, names_field(f"reading.{name}", getattr(self, name)))
        if self.interval is not None:
            object.__setattr__(self, "interval", interval_field("reading.interval", self.interval))
        if (self.population is None) != (self.notion == "dp"):
            expected = "none for the notion 'dp'" if self.notion == "dp" else "a population's spec"
            raise InputError("reading.population", self.population, expected=expected)
        if self.population is not None:
            # A private copy: what is hashed and stored can't change in the caller's hands.
            text, copy = canonical_form(self.population)
            object.__setattr__(self, "population_text", text)
            object.__setattr__(self, "population", copy)

    def _check_mechanism_delta(self) -> None:
        """What is set aside is a part of delta, under DP alone."""
        value = finite_field("reading.mechanism_delta", self.mechanism_delta)
        object.__setattr__(self, "mechanism_delta", value)
        if value == 0.0:
            return
        if self.notion != "dp":
            raise UnsupportedError(
                "reading.mechanism_delta",
                value,
                expected="0 for Bayesian DP: no theorem says at which total costs with deltas, "
                "chosen after earlier answers, keep to one",
                remedy="Use the notion 'dp', or convert a stated pair: `bayesdp leakage --delta`.",
            )
        if not (0.0 < value <= self.delta and (self.rest == 0.0 or self.rest >= SMALLEST_DELTA)):
            raise InputError(
                "reading.mechanism_delta",
                value,
                expected=f"a part of the delta {exact_text(self.delta)}: all of it, or so much "
                f"that at least {SMALLEST_DELTA:g} is left",
            )

    @property
    def rest(self) -> float:
        """What of `delta` is not set aside for mechanisms with a delta, rounded down."""
        return float(float_below(Fraction(self.delta) - Fraction(self.mechanism_delta)))

    def __hash__(self) -> int:
        return hash(self.key())

    def key(self) -> str:
        """A stable name: the SHA-256, in hex, of the reading's canonical JSON."""
        return self._digest({**self._subject(), "total": self.total, **self._columns()})

    def subject_key(self) -> str:
        """The key without total and columns: readings that share it differ in nothing else."""
        return self._digest(self._subject())

    def words(self) -> str:
        """The reading in one line for people: notion, total, adversary and population."""
        most = f"at most {exact_text(self.total)}"
        if self.delta > 0:
            most += f" at delta {exact_text(self.delta)}"
        if self.mechanism_delta > 0:
            most += f" (of it {exact_text(self.mechanism_delta)} for mechanisms with a delta)"
        if self.population is None:
            return f"DP, {most}"
        columns = f", columns {', '.join(self.covers)}" if self.covers else ""
        if self.interval is not None:
            columns += f" {secrets_place(self.interval)}"
        return (
            f"Bayesian DP, {most}, for {_sketch(self.population)}, "
            f"adversary '{self.adversary}', secrets '{self.secrets}'{columns} "
            f"[{self.key()[:8]}]"
        )

    def to_dict(self) -> dict[str, Any]:
        """The reading as plain data for JSON."""
        population = json.loads(self.population_text) if self.population_text else None
        return self._plain(population)

    def text(self) -> str:
        """The same as canonical JSON."""
        return self._text(self._plain(None))

    def _plain(self, population: dict[str, Any] | None) -> dict[str, Any]:
        columns = {"covers": list(self.covers), "independent": list(self.independent)}
        interval = None if self.interval is None else list(self.interval)
        return {
            "notion": self.notion,
            "total": self.total,
            "population": population,
            "adversary": self.adversary,
            "secrets": self.secrets,
            **columns,
            "interval": interval,
            "delta": self.delta,
            **self._set_aside(),
        }

    def _set_aside(self) -> dict[str, float]:
        # Only where there is some: other readings keep their texts and keys.
        return {"mechanism_delta": self.mechanism_delta} if self.mechanism_delta > 0 else {}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Reading:
        """The inverse of `to_dict`; raises `InputError` for unknown or missing keys."""
        if "dataset" in data:
            raise InputError("reading.dataset", expected="nothing: the ledger knows it")
        return cls(**checked_fields(cls, "reading", data))

    def _subject(self) -> dict[str, Any]:
        # Only where there is one, so that readings without a delta keep the keys that they had.
        delta = ({"delta": self.delta} if self.delta > 0 else {}) | self._set_aside()
        if self.notion == "dp":
            return {"notion": "dp", **delta}
        return {
            "notion": self.notion,
            "adversary": self.adversary,
            "secrets": self.secrets,
            **delta,
        }

    def _digest(self, value: Mapping[str, Any]) -> str:
        """The SHA-256, in hex, of the canonical JSON with the population in it."""
        return hashlib.sha256(self._text(value).encode("ascii")).hexdigest()

    def _text(self, value: Mapping[str, Any]) -> str:
        """The canonical JSON with the population in it."""
        if not self.population_text:
            return canonical_json(value)
        text = canonical_json({**value, "population": None})
        # In a text within the text the quotes would be escaped: this is the key itself.
        before, after = text.split('"population":null')
        return f'{before}"population":{self.population_text}{after}'

    def _columns(self) -> dict[str, Any]:
        if self.notion == "dp":
            return {}
        columns = {"covers": list(self.covers), "independent": list(self.independent)}
        if self.interval is None:
            return columns
        return columns | {"interval": list(self.interval)}


LevelFunction = Callable[[Reading, Sequence[Spend]], UpperBound]
"""The level, in nats and rounded up, that spends of one data set reach under a reading.

It is asked about no spends at all, too, and must not fall when a spend is added or scaled up.
"""


def _sketch(population: Mapping[str, Any]) -> str:
    """The model and its short parameters; a transition matrix would hide the rest of a message."""
    short = [
        f"{key} = {value!r}"
        for key, value in population.items()
        if key not in ("model", "source", "covers") and isinstance(value, int | float | str)
    ]
    model = f"the population '{population.get('model', 'unnamed')}'"
    return f"{model} ({', '.join(short)})" if short else model
