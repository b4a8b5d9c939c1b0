"""The law of what a record answers by `per_record_exponential`, as a function of one column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesdp.programs.ir import Release, columns
from bayesdp.programs.run.draws.choices import answer_scores
from bayesdp.programs.run.draws.noise import NoiseCalibration
from bayesdp.programs.run.numerics.observed import AnswerChannel
from bayesdp.programs.run.tables.columns import Rows
from bayesdp.programs.run.tables.rows import RowValues
from bayesdp.programs.run.values.private import PrivateValues

if TYPE_CHECKING:
    from bayesdp.arrays import Floats


def channel_of(
    release: Release, values: PrivateValues, calibration: NoiseCalibration
) -> AnswerChannel | None:
    """The law of a record's answer; None where it depends on more than one column of numbers."""
    read = sorted(columns(release.args[1].args[0]))
    if len(read) != 1 or values.public.kinds[read[0]].kind not in ("int", "real"):
        return None
    name, kind = read[0], values.public.kinds[read[0]]
    assert kind.low is not None
    assert kind.high is not None
    listed, scores, scale = answer_scores(release, values, calibration)
    answers, places = np.unique(listed, return_inverse=True)

    def law(at: Floats) -> Floats:
        rows = RowValues(Rows({name: np.asarray(at, dtype=np.float64)}, len(at)), {name: kind})
        weights = np.exp(scores(rows) / scale)
        merged = np.zeros((len(at), len(answers)))
        np.add.at(merged.T, places.ravel(), weights.T)
        return np.asarray(merged / merged.sum(axis=1, keepdims=True))

    return AnswerChannel(answers, float(kind.low), float(kind.high), kind.kind == "int", law)
