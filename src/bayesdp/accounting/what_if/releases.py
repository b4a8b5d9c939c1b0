"""The list of releases that `compose` reads: the document is read here, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayesdp.accounting.costs.blocks import Block
from bayesdp.accounting.costs.spend import Spend
from bayesdp.accounting.expressions.expression import Mechanism
from bayesdp.accounting.what_if.blocks import (
    PublicBlock,
    RecordBlock,
    ReleaseBlock,
    check_together,
    parse_block,
)
from bayesdp.accounting.what_if.kinds import Lipschitz, parse_lipschitz
from bayesdp.errors import InputError, check_keys
from bayesdp.notions import ZCDP, ApproxDP, Kind, PureDP
from bayesdp.numbers import ZERO, UpperBound
from bayesdp.populations.files import json_object_in

_DOCUMENT_KEYS = ("population", "releases", "adversary", "source")
_COSTS = ("dp_epsilon", "rho", "bdp_epsilon")
_KEYS = (
    "name",
    "dp_epsilon",
    "dp_delta",
    "rho",
    "bdp_epsilon",
    "any_history",
    "channel",
    "block",
    "add_remove",
    "kind",
    "column",
    "interval",
)
MOST_RELEASES = 2000

DPCost = PureDP | ApproxDP | ZCDP
"""What a release costs under differential privacy."""


@dataclass(frozen=True, slots=True)
class StatedRelease:
    """A release as the document states it.

    `cost` is for replacing a record, `None` where no DP cost is stated; `add_remove` is what adding
    or removing a record costs, in the same measure. `bdp_epsilon` is a Bayesian level, which holds
    whatever earlier answers were if `any_history` says so. Or it states a `channel`, a nested
    array, of which cost and level are measured. `lipschitz` is `None` for the kind `any`.
    """

    name: str
    cost: DPCost | None = None
    bdp_epsilon: float | None = None
    add_remove: float | None = None
    any_history: bool = False
    channel: Any = None
    block: ReleaseBlock | None = None
    lipschitz: Lipschitz | None = None

    @property
    def kind(self) -> Kind:
        """What is known of the mechanism."""
        return "any" if self.lipschitz is None else "lipschitz"

    @property
    def records(self) -> frozenset[Any] | None:
        """The records that the release names; `None` where it names none."""
        return _records(self.block)

    def mechanism(self, kind: Kind | None = None) -> Mechanism:
        """The release as a part of a composition, perhaps of another kind; or `InputError`."""
        dp_epsilon, rho = by_measure(self.cost)
        return Mechanism(
            self.name,
            dp_epsilon,
            rho,
            self.bdp_epsilon,
            self.kind if kind is None else kind,
            self.records,
            self.add_remove,
            self.any_history,
        )

    def spends(self) -> list[Spend] | None:
        """The spends that a ledger keeps of the release; `None` where it can't keep them.

        The list is empty where nothing is spent. A ledger knows no deltas, and no blocks of record
        numbers or private values.
        """
        if self.cost is None:
            return []
        if isinstance(self.cost, ApproxDP):
            return None
        if self.block is None:
            return spends_of(self.cost)
        return (
            spends_of(self.cost, self.block.kept) if isinstance(self.block, PublicBlock) else None
        )


def _records(block: ReleaseBlock | None) -> frozenset[Any] | None:
    return frozenset(block.records) if isinstance(block, RecordBlock) else None


def by_measure(cost: DPCost | None) -> tuple[UpperBound | None, UpperBound | None]:
    """The `dp_epsilon` and the `rho` of a cost; `None` for the measure that it doesn't have."""
    if cost is None:
        return None, None
    return (None, cost.rho) if isinstance(cost, ZCDP) else (cost.epsilon, None)


def spends_of(cost: PureDP | ZCDP, block: Block | None = None) -> list[Spend]:
    """The spends that a ledger keeps of a cost; none where the cost is 0."""
    dp_epsilon, rho = by_measure(cost)
    if not dp_epsilon and not rho:
        return []
    return [Spend("what if", "row", "all", "any", dp_epsilon or ZERO, rho=rho or ZERO, block=block)]


def read_releases(path: Path) -> Mapping[str, Any]:
    """The JSON document of a list of releases.

    Raises `InputError` for a file that can't be read, or holds something else.
    """
    content = json_object_in(path, "FILE", '{"population": ..., "releases": [...]}')
    check_keys("", content, _DOCUMENT_KEYS)
    return content


def parse_releases(raw: object) -> tuple[StatedRelease, ...]:
    """The releases of a document. Raises `InputError` naming the release that is wrong."""
    if not isinstance(raw, list) or not raw:
        raise InputError("releases", raw, expected="a list of releases")
    if len(raw) > MOST_RELEASES:
        raise InputError(
            "releases",
            f"a list of {len(raw)}",
            expected=f"at most {MOST_RELEASES} releases",
            remedy="Ask about fewer at once.",
        )
    with_delta = any(isinstance(entry, Mapping) and "dp_delta" in entry for entry in raw)
    releases = tuple(_parse(entry, number, with_delta) for number, entry in enumerate(raw))
    check_together([release.block for release in releases])
    return releases


def _parse(raw: Any, number: int, with_delta: bool) -> StatedRelease:
    """One release; `with_delta` says that some release of the list states a `dp_delta`."""
    place = f"releases[{number}]"
    if not isinstance(raw, Mapping):
        raise InputError(place, raw, expected='an object such as {"name": ..., "dp_epsilon": 0.5}')
    if with_delta:
        _check_delta(raw, place)
    check_keys(place, raw, _KEYS)
    block = parse_block(raw.get("block"), f"{place}.block")
    if "channel" in raw:
        for key in _COSTS:
            if key in raw:
                raise InputError(f"{place}.{key}", raw[key], expected="nothing beside a channel")
    lipschitz = parse_lipschitz(raw, place)
    history = raw.get("any_history", "channel" in raw)
    if not isinstance(history, bool):
        raise InputError(f"{place}.any_history", history, expected="true or false")
    name = str(raw.get("name", f"release {number + 1}"))
    if raw.get("channel") is None:
        # Refuses costs that are out of range, missing, or two at once.
        Mechanism(
            name,
            raw.get("dp_epsilon"),
            raw.get("rho"),
            raw.get("bdp_epsilon"),
            records=_records(block),
            add_remove=raw.get("add_remove"),
        )
    return StatedRelease(
        name,
        _cost(raw),
        raw.get("bdp_epsilon"),
        raw.get("add_remove"),
        history,
        raw.get("channel"),
        block,
        lipschitz,
    )


def _cost(raw: Mapping[str, Any]) -> DPCost | None:
    """The cost that a checked release states."""
    if raw.get("rho") is not None:
        return ZCDP(raw["rho"])
    if raw.get("dp_epsilon") is None:
        return None
    if "dp_delta" in raw:
        return ApproxDP(raw["dp_epsilon"], raw["dp_delta"])
    return PureDP(raw["dp_epsilon"])


def _check_delta(raw: Mapping[str, Any], place: str) -> None:
    """The release's own delta, and that nothing stands beside it that its rules can't read."""
    value = raw.get("dp_delta", 0.0)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0.0 <= value < 1.0:
        raise InputError(f"{place}.dp_delta", value, expected="a probability below 1")
    if "dp_delta" in raw and "dp_epsilon" not in raw:
        raise InputError(f"{place}.dp_delta", value, expected="dp_epsilon beside it")
    for key in ("block", "rho", "bdp_epsilon"):
        if key in raw:
            raise InputError(
                f"{place}.{key}",
                expected="releases on everything with dp_epsilon, in a list where one has dp_delta",
                remedy="Price it on its own, or state dp_epsilon and dp_delta.",
                shown=False,
            )
