"""Certificates of programs that say more than follows: each lie, and how to tell it."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

Document = dict[str, Any]


def node_at(document: dict[str, Any], name: str) -> Any:
    """The derivation's node of the first release of this kind."""

    def search(node: Any) -> Any:
        if isinstance(node, dict):
            if str(node.get("release", "")).startswith(name):
                return node
            node = list(node.values())
        if isinstance(node, list):
            for item in node:
                if (inside := search(item)) is not None:
                    return inside
        return None

    return search(document["derivation"]["evidence"]["derivation"])


def claimed(document: dict[str, Any], **parts: Any) -> None:
    """Change the claim and the conclusion alike."""
    for claim in (document["claim"], document["derivation"]["conclusion"]):
        for key, item in parts.items():
            if key in ("epsilon", "delta"):
                claim["exact"][key] = item
                claim[key] = 1.0 if item.endswith("/0") else float(Fraction(item))
            else:
                claim[key] = item


def program_of(document: dict[str, Any]) -> dict[str, Any]:
    return document["derivation"]["evidence"]["program"]


def node_at_parts(document: dict[str, Any]) -> Any:
    """The derivation's node of the program's partition."""
    nodes = document["derivation"]["evidence"]["derivation"]["sequence"]
    return next(node for node in nodes if "parts" in node)


def stated(document: dict[str, Any], name: str, value: str) -> None:
    node_at(document, name)["sensitivity"]["value"] = ["const", [], [{"number": value}]]


def release_of(document: dict[str, Any], place: int) -> dict[str, Any]:
    return [item for item in program_of(document)["body"] if "release" in item][place]


def dropped_filter(document: dict[str, Any], place: int) -> None:
    """The certificate of the program without its filter, quoted for the one with it."""
    data = release_of(document, place)["args"][0]
    while data[0] != "data":
        data = data[1][0]
    data[1][0] = ["const", [], [True]]


def all_numbers(raw: Any, old: str, new: str) -> None:
    """Change a number everywhere."""
    if isinstance(raw, dict):
        for key, item in raw.items():
            if item == old and key == "number":
                raw[key] = new
            all_numbers(item, old, new)
    elif isinstance(raw, list):
        for item in raw:
            all_numbers(item, old, new)


def all_text(raw: Any, old: str, new: str) -> None:
    """Change a label everywhere."""
    if isinstance(raw, list):
        for i, item in enumerate(raw):
            if item == old:
                raw[i] = new
            all_text(item, old, new)


def cheaper(document: dict[str, Any], release: str, epsilon: str, total: str) -> None:
    node_at(document, release)["epsilon"] = epsilon
    claimed(document, epsilon=total)


ZERO = {"number": "0"}


def number_of(text: str) -> list[Any]:
    return ["const", [], [{"number": text}]]


def branch_of(document: dict[str, Any]) -> dict[str, Any]:
    """The program's first branch."""
    return next(item for item in program_of(document)["body"] if "if" in item)


def persons(document: dict[str, Any]) -> dict[str, Any]:
    part: dict[str, Any] = program_of(document)["persons"]
    return part


def fold(document: dict[str, Any], name: str) -> list[Any]:
    return next(part for part in persons(document)["folds"] if part[0] == name)


def column(document: dict[str, Any], name: str) -> dict[str, Any]:
    return dict(program_of(document)["record"])[name]


def evidence(document: dict[str, Any]) -> dict[str, Any]:
    return document["derivation"]["evidence"]


def first_arg(document: dict[str, Any], place: int) -> list[Any]:
    return release_of(document, place)["args"][0]


def nested(depth: int) -> list[Any]:
    actual: list[Any] = ["const", [], [{"number": "1"}]]
    for _ in range(depth):
        actual = ["neg", [actual], []]
    return actual


LIES: dict[str, tuple[str, Any]] = {
    # what is claimed
    "cheaper": ("sums", lambda d: claimed(d, epsilon="3999/1000")),
    "cheaper by 1e-12": ("sums", lambda d: claimed(d, epsilon="3999999999999/1000000000000")),
    "no delta": ("sums", lambda d: claimed(d, delta="0")),
    "smaller delta": ("sums", lambda d: claimed(d, delta="99999/1000000000")),
    "a double below": (
        "sums",
        lambda d: [c.update(epsilon=3.9) for c in (d["claim"], d["derivation"]["conclusion"])],
    ),
    "claim alone": ("sums", lambda d: d["claim"].update(kind="lipschitz", column="age")),
    "lipschitz": (
        "sums",
        lambda d: claimed(d, kind="lipschitz", column="age", interval=["18", "90"]),
    ),
    "another adjacency": ("sums", lambda d: claimed(d, adjacency="add-remove")),
    "another notion": ("sums", lambda d: claimed(d, notion="bdp")),
    "negative": ("sums", lambda d: claimed(d, epsilon="-1")),
    "a number with an exponent": (
        "sums",
        lambda d: [
            c["exact"].update(epsilon="1e1") for c in (d["claim"], d["derivation"]["conclusion"])
        ],
    ),
    # sensitivities
    "lower sensitivity": ("sums", lambda d: stated(d, "laplace_1", "89")),
    "sensitivity of an unfiltered sum": ("sums", lambda d: stated(d, "laplace_1", "72")),
    "one cell": ("sums", lambda d: stated(d, "laplace_2", "1")),
    "joint for one": ("sums", lambda d: stated(d, "laplace_3", "1")),
    "mean below": (
        "sums",
        lambda d: node_at(d, "laplace_3")["sensitivity"].update(
            value=["div", [["const", [], [{"number": "99"}]], ["public", [], ["db.size"]]], []]
        ),
    ),
    "mean over n + 1": (
        "sums",
        lambda d: node_at(d, "laplace_3")["sensitivity"].update(
            value=[
                "div",
                [
                    ["const", [], [{"number": "100"}]],
                    ["add", [["public", [], ["db.size"]], ["const", [], [{"number": "1"}]]], []],
                ],
                [],
            ]
        ),
    ),
    "asserted below": (
        "sums",
        lambda d: release_of(d, 2)["options"].update(
            sensitivity=[
                "div",
                [["const", [], [{"number": "99"}]], ["public", [], ["db.size"]]],
                [],
            ]
        ),
    ),
    "asserted one": (
        "sums",
        lambda d: release_of(d, 1)["options"].update(sensitivity=["const", [], [{"number": "1"}]]),
    ),
    "no square": ("sums", lambda d: stated(d, "gaussian", "1/2")),
    "another norm": ("sums", lambda d: node_at(d, "gaussian")["sensitivity"].update(norm="l1")),
    "hellinger rounded down": (
        "posteriors",
        lambda d: stated(d, "exponential", "4632513750/10000000000"),
    ),
    "hellinger of a Jeffreys prior": (
        "posteriors",
        lambda d: all_numbers(first_arg(d, 0), "1", "1/2"),
    ),
    "prior changed": (
        "posteriors",
        lambda d: all_numbers(first_arg(d, 0)[1][0][1][0][1][2], "1", "1/3"),
    ),
    "a score's": (
        "posteriors",
        lambda d: node_at(d, "exponential_")["sensitivity"].update(
            value=["const", [], [{"number": "1/4"}]]
        ),
    ),
    "another range of scores": ("answers", lambda d: stated(d, "per_record", "9")),
    "log-likelihood": ("posteriors", lambda d: stated(d, "posterior_sample", "2")),
    "halves by public column": ("halves", lambda d: stated(d, "laplace_1", "5")),
    "halves by private column": ("halves", lambda d: stated(d, "laplace_2", "15")),
    "halves by a cut": ("halves", lambda d: stated(d, "gaussian", "1")),
    "halves whose column is private": (
        "halves",
        lambda d: column(d, "region").update(public=False),
    ),
    "halves that overlap": (
        "halves",
        lambda d: all_text(first_arg(d, 0), "s", "n"),
    ),
    "halves cut at two places": (
        "halves",
        lambda d: all_numbers(release_of(d, 2)["args"][0][1][1], "5", "6"),
    ),
    "a wider sample of a piece": ("halves", lambda d: all_numbers(d["derivation"], "-4", "-5")),
    "entering a piece's sample": (
        "halves",
        lambda d: node_at(d, "posterior_sample").update(entering="2"),
    ),
    "fold": ("folded", lambda d: stated(d, "laplace", "3")),
    # transitions
    "all transitions": ("followed", lambda d: stated(d, "laplace_1", "39/10")),
    "squared transitions": ("followed", lambda d: stated(d, "gaussian", "59/10")),
    "those who stay": ("followed", lambda d: stated(d, "laplace_3", "1")),
    "those who leave": ("followed", lambda d: stated(d, "laplace_4", "1/2")),
    "those who stay, for those who leave": (
        "followed",
        lambda d: first_arg(d, 3)[2].__setitem__(0, {"number": "8"}),
    ),
    "a private order": ("followed", lambda d: column(d, "month").update(public=False)),
    "a private unit": ("followed", lambda d: column(d, "site").update(public=False)),
    "a private state in the place of the unit": (
        "followed",
        lambda d: all_text(first_arg(d, 0)[1][2], "site", "ill"),
    ),
    "another private order": ("followed", lambda d: all_text(first_arg(d, 0), "month", "count")),
    "an order between whole numbers": (
        "followed",
        lambda d: all_text(first_arg(d, 0), "month", "share"),
    ),
    "an order by labels": ("followed", lambda d: all_text(first_arg(d, 0), "month", "site")),
    "a private filter of transitions": (
        "followed",
        lambda d: first_arg(d, 1)[1][0][1].__setitem__(0, ["field", [], ["ill"]]),
    ),
    "a private piece of transitions": (
        "followed",
        lambda d: first_arg(d, 0)[1][0][2].__setitem__(0, [["state", "u"]]),
    ),
    "transitions without an order": ("followed", lambda d: first_arg(d, 0)[1].__delitem__(1)),
    "transitions of numbers": (
        "followed",
        lambda d: first_arg(d, 0)[1][0][1].__setitem__(1, ["field", [], ["count"]]),
    ),
    "transitions of other states": (
        "followed",
        lambda d: all_numbers(first_arg(d, 0)[1][0][1][1], "3", "2"),
    ),
    "transitions of too many states": (
        "followed",
        lambda d: first_arg(d, 0)[1][0][1].__setitem__(
            1, ["onehot", [["field", [], ["count"]]], [{"number": "65"}]]
        ),
    ),
    "transitions of no data": (
        "followed",
        lambda d: first_arg(d, 0)[1].__setitem__(0, ["field", [], ["count"]]),
    ),
    "transitions by three columns": (
        "followed",
        lambda d: first_arg(d, 0)[1].append(["field", [], ["share"]]),
    ),
    "transitions as what is entered": (
        "followed",
        lambda d: node_at(d, "laplace_1").update(entering="1"),
    ),
    "entering": ("parts", lambda d: node_at(d, "laplace_1").update(entering="1/2")),
    "entering nothing": ("parts", lambda d: node_at(d, "laplace_1").update(entering="0")),
    "negative entering": ("parts", lambda d: node_at(d, "laplace_1").update(entering="-1")),
    "only entering a filter": (
        "filtered",
        lambda d: (
            stated(d, "exponential_1", "33731/100000"),
            node_at(d, "exponential_1").update(entering=None),
        ),
    ),
    "counts that only differ": (
        "filtered",
        lambda d: stated(d, "exponential_2", "8/10"),
    ),
    "entering at the derived scale": (
        "filtered",
        lambda d: node_at(d, "laplace_3").update(entering="1/5"),
    ),
    "a negative cost of what is public": (
        "filtered",
        lambda d: node_at(d, "laplace_6").update(entering="-1"),
    ),
    # likelihoods and functions
    "moments of a logistic model": ("modelled", lambda d: stated(d, "gaussian_1", "7999/1000")),
    "censored times as one number": ("modelled", lambda d: stated(d, "laplace_3", "1")),
    "sum and squares for less": ("modelled", lambda d: stated(d, "laplace_5", "2999/1000")),
    "failures for one": ("modelled", lambda d: stated(d, "laplace_7", "1")),
    "groups that share a record": ("modelled", lambda d: stated(d, "laplace_9", "999/1000")),
    "a quotient and a power for less": ("modelled", lambda d: stated(d, "laplace_11", "71")),
    "entering a quotient for less": (
        "modelled",
        lambda d: node_at(d, "laplace_11").update(entering="1"),
    ),
    "a root times a root for less": ("modelled", lambda d: stated(d, "laplace_12", "77/5")),
    "a step of a loop that stops": ("modelled", lambda d: stated(d, "laplace_14", "1/2")),
    "a loop that is refunded": ("modelled", lambda d: claimed(d, epsilon="8")),
    "a divisor that may be 0": ("modelled", lambda d: column(d, "weight").update(low=ZERO)),
    "a divisor that may be below 0": (
        "modelled",
        lambda d: column(d, "weight").update(low={"number": "-1"}),
    ),
    "a root of what may be below 0": (
        "modelled",
        lambda d: column(d, "days").update(low={"number": "-1"}),
    ),
    "a wider column of failures": (
        "modelled",
        lambda d: column(d, "visits").update(high={"number": "10"}),
    ),
    "groups by a private column": ("modelled", lambda d: column(d, "site").update(public=False)),
    "a loop that stops on the data": (
        "modelled",
        lambda d: branch_of(d).update({"if": ["gt", [first_arg(d, 3), number_of("1")], []]}),
    ),
    "a factor of private data": (
        "modelled",
        lambda d: first_arg(d, 6)[1].__setitem__(1, first_arg(d, 3)),
    ),
    # records of several rows
    "a fold called public": ("visits", lambda d: column(d, "sum of cost").update(public=True)),
    "a shared column that rows keep private": (
        "visits",
        lambda d: dict(persons(d)["rows"])["site"].update(public=False),
    ),
    "a public column that is a sum": ("visits", lambda d: fold(d, "site").__setitem__(1, "sum")),
    "a public column that is the last one": (
        "visits",
        lambda d: fold(d, "site").__setitem__(1, "last"),
    ),
    "a public column of some rows": (
        "visits",
        lambda d: fold(d, "site").__setitem__(2, ["field", [], ["ill"]]),
    ),
    "a public column that is computed": (
        "visits",
        lambda d: fold(d, "site").__setitem__(3, ["neg", [["field", [], ["site"]]], []]),
    ),
    "a public column of a private one": (
        "visits",
        lambda d: fold(d, "site").__setitem__(3, ["field", [], ["day"]]),
    ),
    "a public column that is a literal": (
        "visits",
        lambda d: fold(d, "site").__setitem__(3, ["const", [], ["site"]]),
    ),
    "a fold of what rows don't have": (
        "visits",
        lambda d: fold(d, "sum of cost").__setitem__(3, ["field", [], ["sum of cost"]]),
    ),
    "a fold of all records": (
        "visits",
        lambda d: fold(d, "sum of cost").__setitem__(3, ["public", [], ["db.size"]]),
    ),
    "a filter by a release": (
        "visits",
        lambda d: fold(d, "sum of cost").__setitem__(2, ["public", [], ["laplace_1"]]),
    ),
    "a column without its fold": ("visits", lambda d: persons(d)["folds"].pop()),
    "folds in another order": ("visits", lambda d: persons(d)["folds"].reverse()),
    "a fold of no kind": ("visits", lambda d: fold(d, "sum of cost").__setitem__(1, "product")),
    "no rows that count": ("visits", lambda d: persons(d).update(most=0)),
    "records told apart by a private column": ("visits", lambda d: persons(d).update(by="day")),
    "a column of rows twice": (
        "visits",
        lambda d: persons(d)["rows"].append(persons(d)["rows"][0]),
    ),
    "more than follows of several rows": (
        "visits",
        lambda d: claimed(d, kind="lipschitz", column="last cost", interval=["0", "100"]),
    ),
    "one row's move for a person's": ("visits", lambda d: stated(d, "laplace_1", "100")),
    # rules
    "another rule": ("sums", lambda d: node_at(d, "laplace_1").update(rule="gaussian")),
    "no rule": ("sums", lambda d: node_at(d, "laplace_1").update(rule="magic")),
    "by no rule": ("sums", lambda d: node_at(d, "laplace_1")["sensitivity"].update(by="magic")),
    "by a rule that doesn't apply": (
        "sums",
        lambda d: node_at(d, "laplace_1")["sensitivity"].update(by="onehot"),
    ),
    "by public": ("sums", lambda d: node_at(d, "laplace_1")["sensitivity"].update(by="public")),
    "cost of a release": ("sums", lambda d: cheaper(d, "laplace_1", "1/2", "7/2")),
    "cost of a sample": ("posteriors", lambda d: cheaper(d, "posterior_sample", "1/2", "5/2")),
    "another release": ("sums", lambda d: node_at(d, "laplace_1").update(release="laplace_2")),
    "a key more": ("sums", lambda d: node_at(d, "laplace_1").update(note="fine")),
    "a step less": ("sums", lambda d: evidence(d)["derivation"]["sequence"].pop()),
    "a step's kind": ("sums", lambda d: node_at(d, "laplace_1").update(kind="lipschitz")),
    # the program
    "public flag": ("sums", lambda d: column(d, "arm").update(public=1)),
    "region private": ("parts", lambda d: column(d, "region").update(public=False)),
    "partition said public": ("parts", lambda d: program_of(d)["body"][0].update(public=True)),
    "arm public, cheaper": (
        "parts",
        lambda d: (program_of(d)["body"][0].update(public=True), claimed(d, epsilon="5")),
    ),
    "piece's label": ("parts", lambda d: program_of(d)["body"][0]["of"][0].__setitem__(0, "b")),
    "a label twice": ("parts", lambda d: program_of(d)["body"][0]["of"][1].__setitem__(0, "a")),
    "a piece read elsewhere": (
        "parts",
        lambda d: program_of(d)["body"][0]["of"][0][1][0]["args"][0][1][0].__setitem__(
            2, [[["arm", "b"]]]
        ),
    ),
    "no piece": (
        "parts",
        lambda d: program_of(d)["body"][0]["of"][0][1][0]["args"][0][1][0].__setitem__(2, [[]]),
    ),
    "filter for another": (
        "sums",
        lambda d: first_arg(d, 0)[1][0][1].__setitem__(0, ["field", [], ["age"]]),
    ),
    "wider clip": ("sums", lambda d: all_numbers(first_arg(d, 0), "90", "100")),
    "wider column": ("parts", lambda d: column(d, "age").update(high={"number": "101"})),
    "column without bounds": ("parts", lambda d: column(d, "age").update(high=None)),
    "no clip": ("sums", lambda d: first_arg(d, 0)[1][0][1].__setitem__(1, ["field", [], ["age"]])),
    "another operation": (
        "sums",
        lambda d: first_arg(d, 0)[1][0][1].__setitem__(1, ["exp", [["field", [], ["age"]]], []]),
    ),
    "a column that isn't": (
        "sums",
        lambda d: first_arg(d, 0)[1][0][1].__setitem__(1, ["field", [], ["height"]]),
    ),
    "divided by 0": (
        "sums",
        lambda d: first_arg(d, 0)[1][0][1].__setitem__(
            1, ["div", [["field", [], ["age"]], ["field", [], ["age"]]], []]
        ),
    ),
    "adjacency of the program": ("parts", lambda d: program_of(d).update(adjacency="add-remove")),
    "both adjacencies": (
        "sums",
        lambda d: (
            program_of(d).update(adjacency="add-remove"),
            claimed(d, adjacency="add-remove"),
        ),
    ),
    "entering for replaced": (
        "enters",
        lambda d: (
            program_of(d).update(adjacency="replace-one"),
            claimed(d, adjacency="replace-one"),
        ),
    ),
    "declared budget": (
        "sums",
        lambda d: program_of(d).update(declared=[{"number": "3"}, {"number": "1"}]),
    ),
    "declared delta": ("sums", lambda d: program_of(d).update(declared=[{"number": "5"}, None])),
    "sigma lowered": (
        "sums",
        lambda d: release_of(d, 3)["options"].update(sigma=["const", [], [{"number": "3"}]]),
    ),
    "sigma of a classical formula": (
        "sums",
        lambda d: release_of(d, 3)["options"].update(sigma=["const", [], [{"number": "1/2"}]]),
    ),
    "epsilon of the program": (
        "sums",
        lambda d: release_of(d, 0)["options"].update(epsilon=["const", [], [{"number": "2"}]]),
    ),
    "epsilon from the data": (
        "sums",
        lambda d: release_of(d, 0)["options"].update(epsilon=first_arg(d, 3)),
    ),
    "a private value returned": (
        "sums",
        lambda d: program_of(d)["returns"].__setitem__(0, first_arg(d, 3)),
    ),
    "a name used before": (
        "sums",
        lambda d: program_of(d)["returns"].__setitem__(0, ["public", [], ["other"]]),
    ),
    "a branch on data": (
        "parts",
        lambda d: program_of(d)["body"][3].update(
            {"if": ["gt", [first_arg(d, 0), ["const", [], [{"number": "1"}]]], []]}
        ),
    ),
    "candidates from data": (
        "posteriors",
        lambda d: release_of(d, 0)["args"][1][1].__setitem__(1, first_arg(d, 2)[1][0]),
    ),
    "numbers for tosses": (
        "posteriors",
        lambda d: first_arg(d, 0)[1][0][1][0][1][0][1].__setitem__(1, ["const", [], [True, 1]]),
    ),
    "a filter that is not a truth value": (
        "posteriors",
        lambda d: first_arg(d, 0)[1][0][1][0][1][0][1].__setitem__(
            0, ["const", [], [{"number": "1"}]]
        ),
    ),
    "power": (
        "posteriors",
        lambda d: all_numbers(release_of(d, 1)["options"]["power"], "1/6", "1/3"),
    ),
    "wider log-likelihood": (
        "posteriors",
        lambda d: all_numbers(release_of(d, 1)["options"]["low"], "-3", "-4"),
    ),
    "answers of a filter": (
        "answers",
        lambda d: first_arg(d, 0)[1].__setitem__(0, ["field", [], ["smokes"]]),
    ),
    "requires nothing possible": (
        "sums",
        lambda d: program_of(d).update(requires=[["const", [], [False]]]),
    ),
    "n too small": ("sums", lambda d: evidence(d).update(n=9)),
    "n with smaller constants": (
        "posteriors",
        lambda d: (evidence(d).update(n=1), stated(d, "exponential", "4086/10000")),
    ),
    "n of nothing": ("sums", lambda d: evidence(d).update(n=0)),
    "n as a float": ("sums", lambda d: evidence(d).update(n=20.0)),
    "n of a private size": ("enters", lambda d: evidence(d).update(n=20)),
    "another source": ("sums", lambda d: program_of(d).update(source="sha256:1")),
    # the first query above a threshold
    "the first query's move": ("queries", lambda d: stated(d, "above", "1")),
    "less than one query's move": ("queries", lambda d: stated(d, "above", "699/10")),
    "a smaller asserted move": (
        "queries",
        lambda d: (
            release_of(d, 0)["options"].update(sensitivity=["const", [], [{"number": "69"}]]),
            node_at(d, "above").update(entering=None),
        ),
    ),
    "less than the move, and more asserted": (
        "queries",
        lambda d: stated(d, "above_threshold_2", "8"),
    ),
    "entering a search for less": ("queries", lambda d: node_at(d, "above").update(entering="1")),
    "all for less": ("queries", lambda d: claimed(d, epsilon="7/2")),
    "one query for two": (
        "queries",
        lambda d: release_of(d, 0)["args"].__setitem__(0, ["min", first_arg(d, 0)[1], []]),
    ),
    "another norm of queries": (
        "queries",
        lambda d: node_at(d, "above")["sensitivity"].update(norm="l1"),
    ),
    "a cheaper search": ("queries", lambda d: cheaper(d, "above", "1/2", "9/2")),
    "a search with a delta": (
        "queries",
        lambda d: (node_at(d, "above").update(delta="1/1000"), claimed(d, delta="1/1000")),
    ),
    "a private threshold": (
        "queries",
        lambda d: release_of(d, 0)["args"].__setitem__(1, first_arg(d, 0)[1][0]),
    ),
    "a label as a threshold": (
        "queries",
        lambda d: release_of(d, 0)["args"].__setitem__(1, ["const", [], ["a"]]),
    ),
    "queries in one vector": (
        "queries",
        lambda d: release_of(d, 0)["args"].__setitem__(0, first_arg(d, 0)[1][0]),
    ),
    "a query of vectors": (
        "queries",
        lambda d: first_arg(d, 0)[1].__setitem__(
            2, ["tuple", [["const", [], [{"number": "1"}]]], []]
        ),
    ),
    "entering one piece for less": (
        "queries",
        lambda d: (
            [
                part["sequence"][0].update(entering="1/10")
                for part in node_at_parts(d)["parts"]["of"]
            ],
            claimed(d, epsilon="3"),
        ),
    ),
    # obligations
    "obligations emptied": ("folded", lambda d: evidence(d).update(obligations=[])),
    "obligation's text": (
        "folded",
        lambda d: evidence(d)["obligations"][1].update(text="(assert false)"),
    ),
    "obligation made easier": (
        "folded",
        lambda d: evidence(d)["obligations"][0].update(
            text=evidence(d)["obligations"][0]["text"] + "\n(assert false)"
        ),
    ),
    "another bound": (
        "folded",
        lambda d: evidence(d)["obligations"][1].update(
            what="one record moves the fold by at most 1"
        ),
    ),
    "only one obligation": ("folded", lambda d: evidence(d)["obligations"].pop()),
    "the other solver": ("folded", lambda d: evidence(d)["obligations"][0].update(solvers=["me"])),
    "no solver": (
        "folded",
        lambda d: (
            evidence(d).update(solvers=[]),
            [o.update(solvers=[]) for o in evidence(d)["obligations"]],
        ),
    ),
    "an obligation more": (
        "sums",
        lambda d: evidence(d).update(
            solvers=["z3"], obligations=[{"what": "x", "text": "(assert true)", "solvers": ["z3"]}]
        ),
    ),
    "the step": ("folded", lambda d: all_numbers(first_arg(d, 0), "1/2", "2")),
    "a wider dose": ("folded", lambda d: column(d, "dose").update(high={"number": "5"})),
    "an obligation more, counted": (
        "folded",
        lambda d: (
            evidence(d)["obligations"].append(
                evidence(d)["obligations"][0] | {"text": "(assert true)"}
            ),
            d["assumptions"].append(d["assumptions"].pop().replace(" 2 ", " 3 ")),
        ),
    ),
    "divided by a private number of records": (
        "enters",
        lambda d: (
            release_of(d, 0)["args"].__setitem__(
                0, ["div", [first_arg(d, 0), ["public", [], ["db.size"]]], []]
            ),
            node_at(d, "laplace_1")["sensitivity"].update(by="sum of box"),
        ),
    ),
    # malformed
    "NaN": ("sums", lambda d: d["claim"]["exact"].update(epsilon="nan")),
    "NaN itself": ("sums", lambda d: d["claim"].update(epsilon=math.nan)),
    "infinity": ("sums", lambda d: claimed(d, epsilon="1/0")),
    "a huge number": ("sums", lambda d: stated(d, "laplace_1", "1e999999999")),
    "many digits": ("sums", lambda d: stated(d, "laplace_1", "9" * 5000)),
    "a huge onehot": (
        "sums",
        lambda d: first_arg(d, 1)[1][0][1][1].__setitem__(2, [{"number": "1" + "0" * 30}]),
    ),
    "a float": ("sums", lambda d: node_at(d, "laplace_1").update(epsilon=1.0)),
    "not a list": ("sums", lambda d: program_of(d).update(body={"release": 1})),
    "nothing": ("sums", lambda d: d["derivation"].update(evidence={})),
    "no program": ("sums", lambda d: evidence(d).update(program=None)),
    "arguments": ("sums", lambda d: first_arg(d, 0).__setitem__(1, [])),
    "no constants": ("sums", lambda d: first_arg(d, 0)[1][0].__setitem__(2, [])),
    "deep": ("sums", lambda d: release_of(d, 0)["args"].__setitem__(0, nested(400))),
    "very deep": ("sums", lambda d: release_of(d, 0)["args"].__setitem__(0, nested(20_000))),
    "premises": ("sums", lambda d: d["derivation"].update(premises=[dict(d["derivation"])])),
    "assumptions": ("sums", lambda d: d["assumptions"].pop()),
    "an assumption more": ("sums", lambda d: d["assumptions"].append("all is well")),
    "a key": ("sums", lambda d: d.update(population=None)),
    "another rounding": ("sums", lambda d: d.update(rounding="none")),
}


def lied(document: dict[str, Any], change: Any) -> dict[str, Any]:
    from bayesdp.certificate import content_of, digest

    made = json.loads(json.dumps(document))
    change(made)
    try:
        return made | {"digest": digest(content_of(made))}
    except (RecursionError, ValueError):
        return made
