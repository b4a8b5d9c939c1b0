"""The falsifier's findings: for each obligation the pair of databases that comes closest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf

from bayesdp.programs.falsify.values import ExpressionValue, RecordValues
from bayesdp.programs.falsify.witnesses import Neighbours

SLACK = 1e-9
"""Doubles are compared with this relative slack; exact numbers with none."""

MeasuredNumber = Fraction | float


@dataclass(frozen=True)
class NeighbouringDatabases:
    """Two neighbouring databases, with the values that had been released before."""

    left: tuple[RecordValues, ...]
    right: tuple[RecordValues, ...]
    released: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class CheckedObligation:
    """What an obligation claims and what is true on a pair of databases.

    `release` is the release that the obligation is about, "" the whole program.
    """

    obligation: str
    release: str
    true: MeasuredNumber
    claimed: MeasuredNumber
    witness: NeighbouringDatabases | None = None

    @property
    def ratio(self) -> float:
        """The true number over the claimed one; 0 where nothing moves."""
        if not self.true:
            return 0.0
        return float(self.true) / float(self.claimed) if self.claimed else inf

    @property
    def exceeded(self) -> bool:
        """Whether the claim is wrong."""
        if isinstance(self.true, Fraction) and isinstance(self.claimed, Fraction):
            return self.true > self.claimed
        return float(self.true) > float(self.claimed) * (1 + SLACK) + 1e-15


@dataclass
class Findings:
    """For every obligation the worst finding, and how many databases were compared."""

    worst: dict[tuple[str, str], CheckedObligation] = field(default_factory=dict)
    pairs: int = 0
    left_out: set[str] = field(default_factory=set)
    """What of the databases over the witnesses was left out, in words."""
    skipped: set[str] = field(default_factory=set)
    """Releases whose law depends on a released distribution: their obligations are not checked."""
    sizes: list[int] = field(default_factory=list)
    """The numbers of records of the (larger) databases."""

    def see(
        self,
        finding: CheckedObligation,
        pair: Neighbours | None,
        rows: tuple[RecordValues, ...],
        names: Mapping[str, ExpressionValue],
    ) -> None:
        """Keep a finding that is worse than all earlier findings of its obligation."""
        key = (finding.obligation, finding.release)
        before = self.worst.get(key)
        if before is not None and before.ratio >= finding.ratio:
            return
        witness = None
        if pair is not None:
            name_texts = tuple((k, str(v)) for k, v in names.items())
            left, right = (tuple(rows[i] for i in database) for database in (pair.left, pair.right))
            witness = NeighbouringDatabases(left, right, name_texts)
        self.worst[key] = CheckedObligation(
            finding.obligation, finding.release, finding.true, finding.claimed, witness
        )

    @property
    def complete(self) -> bool:
        """Whether all databases over the witnesses, of these sizes, were tried.

        Those that the program can't tell apart are tried once.
        """
        return not self.left_out

    @property
    def excess(self) -> tuple[CheckedObligation, ...]:
        """The findings whose claim is wrong."""
        return tuple(finding for finding in self.worst.values() if finding.exceeded)

    @property
    def tightness(self) -> float:
        """The largest true loss of the whole transcript over the claimed cost."""
        law = self.worst.get(("law", ""))
        return law.ratio if law is not None else 0.0

    def largest(self, *obligations: str) -> float:
        """The largest ratio among these obligations."""
        return max((f.ratio for (o, _), f in self.worst.items() if o in obligations), default=0.0)
