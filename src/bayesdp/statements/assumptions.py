"""What a level rests on and nobody checked, in words, from what a certificate declares.

Everything that a certificate shows and that no rule derives stands here: the kernel writes the list
anew, so no such line can be changed without what a reader is asked to believe.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bayesdp.statements.base import exact_text
from bayesdp.statements.populations import STRUCTURE, in_short
from bayesdp.statements.queries import RANDOMIZED_RESPONSE

ADVERSARY_WORDS = {
    "any": "whoever they are: any set of the other records may be known to them exactly",
    "uninformed": "they know the population, and none of the records",
    "informed": "they know every record except the one they attack",
}
ROUNDING = "every level is re-proved in ball arithmetic and rounded up"
"""How the levels of a certificate are rounded, as every certificate says it."""

LEDGER = (
    "the ledger's list of earlier releases is complete: the data set's level counts those alone"
)
TABLE = "the table of the data set"
RELEASE = "the release"
ALLOWED = "the study and its ledger allow a level of"


def named(name: object) -> str:
    """A name in quotes, escaped so that it can't end them and go on as a sentence of its own."""
    text = str(name)
    plain = not any(letter in "'\"\\,;:" for letter in text)
    return f"'{text}'" if plain else json.dumps(text, ensure_ascii=False)


def _listed(name: str) -> str:
    """A name among others: in quotes only where it might be taken for several."""
    return name if named(name) == f"'{name}'" else named(name)


def assumptions(document: Mapping[str, Any]) -> list[str]:
    """Everything that the level rests on and that nobody checked, from what is declared."""
    claim = document["claim"]
    said = []
    if "columns" in document:
        said += _about_records(document)
    else:
        said.append("the mechanism has the stated DP cost, and is of the stated kind")
    if claim["notion"] == "bdp":
        population = document["population"]
        vouched = population.get("source") or "nobody is named as vouching for it"
        said.append(
            f"the records depend on each other as the population of model "
            f"'{population.get('model')}' declares{_numbers(population)}; {vouched}"
        )
        said += _about_assignment(population)
        said.append(
            f"the adversary is '{claim['adversary']}': {ADVERSARY_WORDS[claim['adversary']]}"
        )
        if isinstance(claim["secrets"], Mapping) and claim["secrets"]["kind"] == "bounded":
            said.append(
                f"secret values lie {secrets_place(_ends(claim['secrets']))}; for values outside, "
                "the level is the size of the group times the DP cost"
            )
        elif claim["secrets"] == "bounded":
            said.append("secret values lie inside the interval that the mechanism clips to")
    for name, column in document.get("columns", {}).items():
        private = not (column.get("public") is True or "role" in column)
        if private and column.get("independent") is True:
            said.append(
                f"column {named(name)} is declared independent: given a record's own covered "
                "columns, it tells nothing about other records and they tell nothing about it"
            )
    said += _about_collection(document)
    for program in document.get("programs", ()):
        said += [
            f"of the program {named(program['query'])}: {text}" for text in program["assuming"]
        ]
    if "release" in document:
        said.append(
            f"{RELEASE} {named(document['release'])} was made at {document['time']} with "
            f"{document['software']}"
        )
    if document.get("ledger") is not None:
        entry = document["ledger"]
        said.append(
            f"its debit is entry {entry['sequence']} of a ledger, whose head was then "
            f"{entry['head']}: `bayesdp ledger verify --against` this certificate finds out"
        )
    if document.get("programs"):
        said.append("noise of all other queries is drawn from OpenDP's samplers")
    elif "results" in document:
        law = "Gaussian" if claim.get("dp_rho", 0.0) > 0.0 else "Laplace"
        noisy = [r["kind"] for r in document["results"] if r["kind"] != RANDOMIZED_RESPONSE]
        chosen = [kind == "quantile" for kind in noisy]
        # Of groups that are found in the data, none may be shown.
        from_data = any("groups" in column for column in document.get("columns", {}).values())
        if from_data or not all(chosen) or not document["results"]:
            said.append(f"noise is drawn from OpenDP's discrete {law} sampler")
        if any(chosen):
            said.append("quantiles are chosen by OpenDP's noisy max")
    return said


def _about_collection(document: Mapping[str, Any]) -> list[str]:
    """How answers were perturbed, by column: nobody can check that afterwards."""
    return [
        f"the cells of column {named(asked['column'])} are answers that were perturbed before "
        "anybody saw them, each once and on its own, by randomized response with the epsilon "
        f"{float(asked['epsilon'])!r}, and they are the same in every release of the data set: of "
        "k states the record's own is answered with the probability e^epsilon / (e^epsilon + k - "
        "1), else one of the others, all equally likely"
        for asked in document.get("collected", ())
    ]


def _numbers(population: Mapping[str, Any]) -> str:
    short = in_short(population)
    return f" ({short})" if short else ""


def _about_records(document: Mapping[str, Any]) -> list[str]:
    said = ["adjacency is: replace one record; the number of records and who is in are public"]
    n = document["n"]
    said.append(f"{TABLE} {named(document['dataset'])} has {n} record{'s' * (n != 1)}")
    said.append(_record(document))
    said += _about_people(document)
    said += [
        f"the table {named(other['table'])}, in which {', '.join(map(_listed, other['columns']))} "
        f"is looked up by {', '.join(map(_listed, other['by']))}, is public: nothing in it depends "
        "on the records"
        for other in document.get("joined", ())
    ]
    public = [
        name
        for name, column in document["columns"].items()
        if column.get("public") is True or "role" in column
    ]
    if public:
        said.append(f"not protected, because declared public: {', '.join(map(_listed, public))}")
    said += [
        f"column {named(name)} is public, and a record has the same value of it in every release "
        f"of {'the' if document.get('people') is None else 'a'} data set: of releases on disjoint "
        "values of it the dearest counts"
        for name in document.get("public_blocks", [])
    ]
    return [*said, LEDGER, _about_budget(document)]


def _record(document: Mapping[str, Any]) -> str:
    """What a record is: a row, a part of one, or several of either."""
    unit, parts = document["unit"], document.get("parts")
    apart = f"{parts['number']} parts, told apart by {_listed(parts['position'])}" if parts else ""
    if unit == "row":
        return (
            f"a record is one part of a row of the table, which has {apart}"
            if parts
            else "a record is one row of the table"
        )
    if parts:
        return (
            f"a record is all parts of rows with the same {_listed(unit)}, "
            f"{_rows_of_a_record(document, ' parts')}; a row of the table has {apart}"
        )
    return f"a record is all rows with the same {_listed(unit)}, {_rows_of_a_record(document)}"


def _about_people(document: Mapping[str, Any]) -> list[str]:
    """What holds of people whom the data set shares with others, and of what those have spent."""
    people = document.get("people")
    if people is None:
        return []
    said = [
        f"the data set shares the people {named(people)} with others: a person has at most one "
        "record in each of them, and who is in which is public",
        "every data set of these people that is released from names them in the same ledger, and "
        "the data set's level counts the releases of all of them",
    ]
    population = document["population"]
    if document["claim"]["notion"] != "bdp" or population is None:
        return said
    have = "independent of each other with all that they have in all of these data sets"
    size = population.get("size")
    most = f"a cluster has at most {size} record{'s' * (size != 1)} in each"
    said.append(
        f"different persons are {have}"
        if size is None
        else f"different clusters are {have}, and {most}"
    )
    read: dict[str, set[str]] = {}
    for spend in document["data_set"].get("earlier_spends", ()):
        if spend["dataset"] != document["dataset"]:
            read.setdefault(spend["dataset"], set()).update(spend["reads"])
    said += [
        f"of the data set {named(name)} the same is declared, and it speaks of "
        f"{', '.join(map(_listed, sorted(columns)))} there"
        for name, columns in sorted(read.items())
        if columns
    ]
    return said


def _rows_of_a_record(document: Mapping[str, Any], noun: str = "") -> str:
    """How many rows, or parts of rows, a record has, or how many of them count, in words."""
    balanced, most = document.get("balanced"), document.get("max_rows")
    if most is None:
        return f"{'exactly' if balanced else 'at most'} {document['rows_per_unit']}{noun}"
    return (
        f"of which {'exactly' if balanced else 'at most'} {most} count; which of them is decided "
        "by the record's own rows alone"
    )


def _about_budget(document: Mapping[str, Any]) -> str:
    """What the study and the ledger allow: nothing derives it, and levels are shown beside it."""
    own, total = document["derivation"]["evidence"], float(document["data_set"]["total"])
    delta = f" at delta {float(own['delta'])!r}" if own.get("delta", 0.0) else ""
    return f"{ALLOWED} {float(own['total'])!r}{delta} for this release, {total!r} for all of them"


def _about_assignment(population: Mapping[str, Any]) -> list[str]:
    """Which row is which record of the model: not checked, and not to depend on values."""
    members = population.get("members", [population])
    free = ("covariance", "precision", "probabilities")
    of_all = [STRUCTURE.get(str(member.get("model"))) == "all records" for member in members]
    if any(of_all) or any(key in member for member in members for key in free):
        return [
            "different rows are different records of the model, and which row is which does not "
            "depend on private values"
        ]
    return []


def _ends(secrets: Mapping[str, Any]) -> Any:
    return secrets["intervals"] if "intervals" in secrets else secrets["interval"]


def secrets_place(interval: Sequence[float] | Mapping[str, Sequence[float]]) -> str:
    """Where secret values lie, in words that follow "secret values lie".

    `interval` has the two ends, or those of each column. They are written without loss: outside of
    them a level is another one.
    """
    if isinstance(interval, Mapping):
        each = (f"{secrets_place(ends)} ({_listed(name)})" for name, ends in interval.items())
        return ", ".join(each)
    low, high = interval
    return f"between {exact_text(low)} and {exact_text(high)}"
