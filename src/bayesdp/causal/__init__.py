"""Structural causal models: what setting a record changes, and what learning it changes."""

from __future__ import annotations

from bayesdp.causal.effects import Attains, Effect, SeeingAndDoing
from bayesdp.causal.mechanism import Channel, NoisyCount, NoisySum
from bayesdp.causal.model import CausalModel, CausalNode
from bayesdp.causal.strength import Strengths, strengths, weakened

__all__ = [
    "Attains",
    "CausalModel",
    "CausalNode",
    "Channel",
    "Effect",
    "NoisyCount",
    "NoisySum",
    "SeeingAndDoing",
    "Strengths",
    "strengths",
    "weakened",
]
