"""Programs and studies that don't agree are refused, with the key and the remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bayesdp.errors import (
    InputError,
    UnsupportedError,
)
from bayesdp.programs import dependence
from bayesdp.release import Study
from bayesdp.release.price.plan import make_plan
from tests.release.program_studies import (
    COLUMNS,
    HEAD,
    PEOPLE,
    POPULATION,
    TABLE,
    asks,
    changed,
    study,
)


@pytest.mark.parametrize(
    ("query", "more", "key", "said"),
    [
        ({"program": "nothing.py:x"}, {}, "query[0].program", "can be read"),
        ({"program": "people.py:smoker"}, {}, "query[0].program", "Did you mean 'smokers'?"),
        ({"program": "people.py"}, {}, "query[0].program", "a name: one of"),
        ({"program": None}, {}, "query[0].program", "file.py:name"),
        ({"weight": 2.0}, {}, "query[0].weight", "whose cost is what its text says"),
        ({"error": 2.0}, {}, "query[0].error", "whose cost is what its text says"),
        ({"where": "smokes == True"}, {}, "query[0].where", "says itself what it reads"),
        ({"by": "region"}, {}, "query[0].by", "says itself what it reads"),
        ({"tightness": "mechanism"}, {}, "query[0].tightness", "dp"),
        ({"columns": {"smoke": "smokes"}}, {}, "query[0].columns.smoke", "Did you mean 'smokes'?"),
        ({"columns": {"smokes": "smoker"}}, {}, "query[0].columns.smokes", "Did you mean"),
        ({"columns": {"smokes": "height"}}, {}, "query[0].columns.smokes", "for a Bool"),
        ({"columns": {"smokes": "region"}}, {}, "query[0].columns.smokes", "for a Bool"),
        ({"parameters": {"level": [1]}}, {}, "query[0].parameters", ""),
        ({"columns": {"smokes": 3}}, {}, "query[0].columns", ""),
        (
            {},
            {"columns": changed(who={"public": True}), "unit": "who", "rows_per_unit": 2},
            "query[0].program",
            "group_by(people, by='who', most=2)",
        ),
        (
            {"program": "people.py:northern"},
            {"columns": changed(region={"states": ["north", "south"], "independent": True})},
            "query[0].columns.region",
            "takes 'region' for Public[...]",
        ),
        (
            {"program": "people.py:northern"},
            {"columns": changed(region={"public": True, "states": ["north", "south", "west"]})},
            "data.columns.region.states",
            "one of the program's labels",
        ),
        (
            {"program": "people.py:height"},
            {"columns": changed(height={"bounds": [10, 20]})},
            "query[0].columns.height",
            "bounds that meet the program's own",
        ),
        (
            {"program": "people.py:height"},
            {"columns": changed(height={"states": ["small", "tall"]})},
            "query[0].columns.height",
            "a column of numbers",
        ),
        (
            {},
            {"population": POPULATION | {"covers": ["height"]}},
            "query[0].program",
            "what the population speaks about",
        ),
    ],
)
def test_what_does_not_agree_is_refused(
    tmp_path: Path, query: dict[str, Any], more: dict[str, Any], key: str, said: str
) -> None:
    asked = {k: v for k, v in (asks("smokers") | query).items() if v is not None}
    with pytest.raises(InputError) as refused:
        study(tmp_path, asked, **more).check()
    assert str(refused.value).startswith(key), refused.value
    assert said in str(refused.value)
    assert not (tmp_path / "ledger.db").exists()


def test_a_program_with_another_adjacency_is_refused(tmp_path: Path) -> None:
    text = """@record
class Person:
    smokes: Bool


@program(adjacency="add-remove")
def smokers(people: Database[Person]) -> Private[Int]:
    return laplace(sum(1 if p.smokes else 0 for p in people), epsilon=1)
"""
    with pytest.raises(UnsupportedError, match="replace-one"):
        study(tmp_path, asks("smokers"), text=text).check()


def test_keys_of_programs_belong_to_programs(tmp_path: Path) -> None:
    for key, value in (
        ("program", "x.py"),
        ("parameters", {"a": 1}),
        ("columns", {"a": "b"}),
    ):
        query = {"name": "c", "kind": "count", "where": "smokes == True", key: value}
        with pytest.raises(InputError, match=f"query\\[0\\].{key}"):
            Study(
                dataset="x",
                n=8,
                columns=COLUMNS,
                population=POPULATION,
                budget={"epsilon": 1.0},
                queries=[query],
            )


def test_which_bounds_count_is_said(tmp_path: Path) -> None:
    made = study(tmp_path, asks("height"))
    (program,) = make_plan(made.spec).programs
    assert program.notes == (
        "'height' is clipped to the study's 150 to 190, then to the program's 100 to 230: "
        "the study's count",
        dependence.IGNORED.rstrip("."),
    )
    wide = changed(height={"bounds": [90, 200]})
    (program,) = make_plan(study(tmp_path, asks("height"), columns=wide).spec).programs
    assert program.notes[0].endswith("both together count")


def test_a_program_that_changed_after_the_check_is_not_released(tmp_path: Path) -> None:
    made = study(tmp_path, asks("smokers"))
    made.check()
    (tmp_path / "people.py").write_text(HEAD + PEOPLE.replace("1 / 4", "1 / 5"), encoding="utf-8")
    with pytest.raises(InputError, match="has changed since"):
        made.release()
    with pytest.raises(InputError, match="has changed since"):
        made.check()
    (tmp_path / "people.py").unlink()
    with pytest.raises(InputError, match="can be read"):
        made.release()
    assert not (tmp_path / "ledger.db").exists()


def test_fields_may_have_other_names_in_the_table(tmp_path: Path) -> None:
    renamed = {"smokes" if name != "smokes" else "cigarettes": item for name, item in TABLE.items()}
    del renamed["smokes"]
    renamed |= {"height": TABLE["height"], "region": TABLE["region"], "home": TABLE["home"]}
    columns = changed(smokes=None) | {"cigarettes": COLUMNS["smokes"]}
    made = study(
        tmp_path,
        asks("smokers", columns={"smokes": "cigarettes"}),
        columns=columns,
        table=renamed,
        population=POPULATION | {"covers": ["height", "cigarettes"]},
    )
    done = made.release()
    assert done.certificate.derivation.premises[0].premises[0].premises[0].evidence["fields"] == {
        "smokes": "cigarettes"
    }
    assert make_plan(made.spec).spends[0].reads == ("cigarettes",)
