"""Attackers that try: what a release really tells about a record, to hold against its level.

* Exact attacks: `models` (populations as attackers compute with them), `laws` (forward-backward:
  the law of a record and a sum), `observed` (what a mechanism shows), `attack` (the Bayes-optimal
  guess, its success, and the level it reaches), `membership` (the target's record or a
  stranger's), `normal` (Gaussian records), `smoothing` (all records of a chain at once).
* From samples: `draws` makes up records of a population, `bound` has lower bounds that hold with a
  stated confidence, for any sampler.
* Of studies: `contents` (what records can hold), `tables` (made-up tables on the way of a release),
  `hypotheses` (what is told apart), `study` (the claim and the strongest attack).

An attack is a lower bound. That none succeeds proves nothing; that one exceeds the claim proves the
claim wrong.
"""

from __future__ import annotations

from bayesdp.audit.attack import AttackerBelief, RecordAttack, attack, believe
from bayesdp.audit.bound import EmpiricalBound, lower_bound
from bayesdp.audit.membership import Membership, membership
from bayesdp.audit.normal import NormalAttack, attack_normal
from bayesdp.audit.observed import Responses, SumWithNoise
from bayesdp.audit.smoothing import beliefs
from bayesdp.audit.study import StudyAudit, audit_study

__all__ = [
    "AttackerBelief",
    "EmpiricalBound",
    "Membership",
    "NormalAttack",
    "RecordAttack",
    "Responses",
    "StudyAudit",
    "SumWithNoise",
    "attack",
    "attack_normal",
    "audit_study",
    "beliefs",
    "believe",
    "lower_bound",
    "membership",
]
