"""The exact level of every notion on a finite model (theory 5.1).

`whole` puts them side by side; each other file evaluates one notion or a few of one kind, on the
arrays of `model`. `files` reads a model from JSON.
"""

from __future__ import annotations

from bayesdp.leakage.profile.deltas import Deltas
from bayesdp.leakage.profile.model import AttainedLevel, LawAndChannel, Witness
from bayesdp.leakage.profile.whole import Profile, profile

__all__ = ["AttainedLevel", "Deltas", "LawAndChannel", "Profile", "Witness", "profile"]
