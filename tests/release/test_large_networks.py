"""Large networks, from the study to the certificate: what is long is read and written few times."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import bayesdp as bdp
from bayesdp.kernel import reading
from bayesdp.leakage import contraction
from bayesdp.populations import factors, network
from bayesdp.release import study
from bayesdp.release.price.plan import TooSlow

RECORDS = 300


def nodes(seed: float) -> list[dict[str, Any]]:
    """A family of 300, of whom each third has two parents."""
    ill = 0.1 + seed / 1000  # no other test has read this population before
    laws = [[[1 - ill, ill], [0.8, 0.2]], [[0.8, 0.2], [0.75, 0.25]]]
    people: list[dict[str, Any]] = []
    for i in range(RECORDS):
        if i < 3 or i % 3:
            people.append({"name": f"p{i}", "states": 2, "table": [1 - ill, ill]})
        else:
            above = [f"p{i - 1}", f"p{i - 3}"]
            people.append({"name": f"p{i}", "states": 2, "parents": above, "table": laws})
    return people


def written(folder: Path, seed: float) -> Path:
    """A study whose population is in a file beside it."""
    (folder / "family.json").write_text(json.dumps(nodes(seed)))
    (folder / "people.csv").write_text("ill\n" + "0\n1\n0\n" * (RECORDS // 3))
    path = folder / "study.toml"
    path.write_text(f"""
[data]
source = "people.csv"
dataset = "family"
n = {RECORDS}
[data.columns]
ill = {{ states = [0, 1] }}
[population]
model = "network"
nodes = "family.json"
covers = ["ill"]
source = "the register"
[budget]
epsilon = 3.0
spend = 1.0
[[query]]
name = "ill"
kind = "count"
where = "ill == 1"
[[query]]
name = "well"
kind = "count"
where = "ill == 0"
""")
    return path


class Counted:
    """How often a population was validated, written as plain data, and read by the kernel."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: Counter[str] = Counter()
        for owner, name in (
            (network.Network, "_table"),
            (network.Network, "spec"),
            (reading, "_read"),
        ):
            monkeypatch.setattr(owner, name, self._counting(getattr(owner, name), name))

    def _counting(self, function: Any, name: str) -> Any:
        def counting(*arguments: Any) -> Any:
            self.calls[name] += 1
            return function(*arguments)

        return counting

    def taken(self) -> dict[str, float]:
        """What has been counted since the last time; each node's table is validated."""
        calls, self.calls = self.calls, Counter()
        return {
            "validated": calls["_table"] / RECORDS,
            "written": calls["spec"],
            "read by the kernel": calls["_read"],
        }


def test_a_population_is_validated_once_from_the_study_to_the_certificate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Counted(monkeypatch)
    study = bdp.Study.load(written(tmp_path, 1))
    assert counted.taken() == {"validated": 1, "written": 1, "read by the kernel": 1}
    study.check()
    assert counted.taken() == {"validated": 0, "written": 1, "read by the kernel": 0}
    study.check()
    assert counted.taken() == {"validated": 0, "written": 0, "read by the kernel": 0}
    release = study.release()
    assert counted.taken() == {"validated": 0, "written": 1, "read by the kernel": 0}
    study.release(again=True)  # the data set's level is a step of its own
    assert counted.taken() == {"validated": 0, "written": 1, "read by the kernel": 0}
    assert bdp.verify(release)
    assert counted.taken() == {"validated": 0, "written": 0, "read by the kernel": 1}


def test_no_level_is_searched_twice_and_the_graph_is_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[float] = []
    made: list[int] = []
    iterate, group = contraction.Messages._iterate, factors.group_factors

    def iterating(messages: contraction.Messages, dp_epsilon: float, *rest: Any) -> Any:
        searched.append(dp_epsilon)
        return iterate(messages, dp_epsilon, *rest)

    def grouping(parts: Any) -> Any:
        made.append(1)
        return group(parts)

    monkeypatch.setattr(contraction.Messages, "_iterate", iterating)
    monkeypatch.setattr(factors, "group_factors", grouping)
    bdp.Study.load(written(tmp_path, 4)).release()
    assert len(searched) > 3
    assert len(searched) == len(set(searched))  # plan, preview and debit ask for the same level
    assert len(made) == 1


def test_a_plan_is_kept_for_looking_unless_something_had_no_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = bdp.Study.load(written(tmp_path, 5))
    plan = made.check().plan
    late = (TooSlow(("graph-contraction",), 1.0), None, None, None)
    plans = (replace(plan, too_slow=slow) for slow in late)
    monkeypatch.setattr(study, "provable_plan", lambda *_, **__: next(plans))
    assert made.inspect() == []
    assert made.check().plan is plan
    made._shown = None
    assert made.check().plan.too_slow is not None
    assert made.check().plan.too_slow is None, "the next time there was time"
    kept = made.check().plan
    assert made.check().plan is kept
    assert made._plan() is not kept, "a release is priced anew"
    made.spec = made.spec.model_copy()
    assert made.check().plan is not kept, "another study has another price"
    assert next(plans, None) is None


def test_the_certificate_names_the_file_and_verifies_without_it(tmp_path: Path) -> None:
    path = written(tmp_path, 2)
    digest = hashlib.sha256((tmp_path / "family.json").read_bytes()).hexdigest()
    release = bdp.Study.load(path).release()
    (tmp_path / "family.json").unlink()
    verdict = bdp.verify(release)
    assert verdict, verdict
    vouched = f"the register; nodes of family.json, SHA-256 {digest}"
    assert release.certificate.body["population"]["source"] == vouched
    assert any(vouched in assumption for assumption in verdict.assuming)
    assert release.certificate.body["population"]["nodes"] == nodes(2)


def test_what_a_caller_does_to_a_certificate_is_not_in_the_next(tmp_path: Path) -> None:
    study = bdp.Study.load(written(tmp_path, 3))
    first = study.release()
    body: Any = first.certificate.body
    for population in (body["population"], first.certificate.derivation.premises[0].evidence):
        for node in population.get("population", population)["nodes"]:
            node["table"] = [0.5, 0.5]
    second = study.release(again=True)
    assert second.certificate.body["population"]["nodes"] == nodes(3)
    assert bdp.verify(second)
    assert not bdp.verify(first)
