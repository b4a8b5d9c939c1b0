"""Wrong inputs: what is written, what is asked, and with which status it must end.

The messages stand in `wrong.txt`. A case changes one of two good studies by replacing a text
in it, so that exactly one thing is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, field

PEOPLE = """\
[data]
source = "people.csv"
dataset = "people"
n = 6

[data.columns]
family = { role = "cluster" }
role = { public = true, states = ["child", "parent"] }
town = { public = true }
height = { bounds = [120, 220], unit = "cm" }
smokes = { states = ["yes", "no"] }
income = { bounds = [0, 100] }

[population]
model = "clusters"
size = 3
covers = ["height", "smokes"]
source = "a survey of 1990"

[budget]
epsilon = 3.0
spend = 1.0

[[query]]
name = "mean height"
kind = "mean"
column = "height"
"""

PEOPLE_CSV = """\
family,role,town,height,smokes,income
a,child,X,150,no,0
a,parent,X,175,yes,30
a,parent,X,182,no,41
b,child,Y,121,no,0
b,parent,Y,168,yes,12
b,parent,Y,171,no,25
"""

DAYS = """\
[data]
source = "days.csv"
dataset = "days"
n = 6

[data.columns]
person = { role = "series" }
day = { role = "order", step = 1 }
active = { states = [0, 1] }

[population]
model = "markov"
transition = [[0.9, 0.1], [0.3, 0.7]]
length = 3
covers = ["active"]
source = "the year before"

[budget]
epsilon = 1.0

[[query]]
name = "active days"
kind = "count"
where = "active == 1"
"""

DAYS_CSV = """\
person,day,active
p,1,0
p,2,1
p,3,1
q,1,0
q,2,0
q,3,1
"""

FILES: dict[str, str | bytes] = {"people.csv": PEOPLE_CSV, "days.csv": DAYS_CSV}

MEAN = 'name = "mean height"\nkind = "mean"\ncolumn = "height"\n'
ANSWERS = 'name = "smokers"\nkind = "randomized_response"\ncolumn = "smokes"\nepsilon = 0.5\n'
COUNTED = '[[query]]\nname = "c"\nkind = "count"\nwhere = "smokes == \'yes\'"\n'


@dataclass(frozen=True)
class Case:
    """`command` is what follows `bayesdp`. `changes` are (old, new) texts of the study.

    `prepare` names what happens first: "spent" (a good release of the unchanged study), "used up"
    (as many as fit), "read-only", "newer", "not a ledger" (what is done to that ledger).
    `curator` is the code of what `check --data` finds; `for_all` where everybody is told that too.
    """

    name: str
    status: int
    base: str = PEOPLE
    changes: tuple[tuple[str, str], ...] = ()
    command: tuple[str, ...] = ("release", "study.toml")
    files: dict[str, str | bytes] = field(default_factory=dict)
    prepare: tuple[str, ...] = ()
    curator: str = ""
    for_all: bool = False
    raw: bytes | None = None
    """The study file as bytes, where it isn't a changed text."""


def pop(name: str, spec: str, *more: str, status: int = 2, command: str = "leakage") -> Case:
    option = ("--epsilon", "1") if command == "leakage" else ("--target", "1")
    return Case(name, status, command=(command, spec, *(more or option)))


def people(name: str, old: str, new: str, status: int = 2, **other) -> Case:
    return Case(name, status, changes=((old, new),), **other)


def table(name: str, old: str, new: str, curator: str, base: str = PEOPLE) -> Case:
    """A table that is not as the study says: the same words for everybody, more for the curator."""
    file, text = ("people.csv", PEOPLE_CSV) if base == PEOPLE else ("days.csv", DAYS_CSV)
    assert old in text
    return Case(name, 1, base=base, files={file: text.replace(old, new, 1)}, curator=curator)


CHAIN = '{"model":"markov","transition":[[0.9,0.1],[0.3,0.7]],"length":9}'

ASIDE = 'notion = "dp"\ndelta = 1e-6\nmechanism_delta = 5e-7\n'


def groups(budget: str) -> bytes:
    """A study of groups that nobody declares, with these lines of the budget."""
    columns = '[data.columns]\nplace = { groups = "from data" }\n'
    text = PEOPLE.replace("[data.columns]\n", columns).replace("[budget]\n", f"[budget]\n{budget}")
    start = text.index("[[query]]")
    return f'{text[:start]}[[query]]\nname = "by place"\nkind = "count"\nby = "place"\n'.encode()


CASES = (
    # -- populations on the command line
    pop("pop-neither-file-nor-json", "nowhere.toml"),
    pop("pop-bad-json", '{"model":'),
    pop("pop-deep-json", '{"a":' * 100_000 + "1" + "}" * 100_000),
    pop("pop-not-a-table", '{"model": ["markov"]}'),
    pop("pop-no-model", "{}"),
    pop("pop-unknown-model", '{"model":"markow"}'),
    pop("pop-rows-sum", CHAIN.replace("0.3,0.7", "0.3,0.69")),
    pop("pop-nan", CHAIN.replace("0.3,0.7", "NaN,0.7")),
    pop("pop-negative-probability", CHAIN.replace("0.3,0.7", "-0.3,1.3")),
    pop("pop-ragged", CHAIN.replace("[0.3,0.7]", "[0.3,0.3,0.4]")),
    pop("pop-unknown-key", CHAIN.replace("length", "lenght")),
    pop("pop-length-zero", CHAIN.replace("9}", "0}")),
    pop("pop-length-missing", CHAIN.replace(',"length":9', "")),
    pop("pop-huge-length", CHAIN.replace("9}", "9" * 400 + "}")),
    pop("pop-too-many-digits", CHAIN.replace("9}", "9" * 5000 + "}")),
    pop("pop-huge-cluster", '{"model":"clusters","size":' + "9" * 400 + "}"),
    pop("pop-no-stationary-law", CHAIN.replace("[0.9,0.1],[0.3,0.7]", "[1,0],[0,1]")),
    pop("pop-asymmetric", '{"model":"gaussian","covariance":[[1,0.5],[0.4,1]]}'),
    pop("pop-not-positive-definite", '{"model":"gaussian","covariance":[[1,2],[2,1]]}'),
    pop("pop-infinite-covariance", '{"model":"gaussian","covariance":[[1e999,0],[0,1]]}'),
    pop("pop-two-gaussians", '{"model":"gaussian","covariance":[[1]],"size":2}'),
    pop("pop-half-a-gaussian", '{"model":"gaussian","size":2}'),
    pop("pop-odds-ratio", '{"model":"panel","series":2,"length":3,"own_previous":0.5}'),
    pop("pop-coefficient", '{"model":"autoregressive","coefficient":1,"length":3}'),
    pop("epsilon-negative", CHAIN, "--epsilon", "-1"),
    pop("epsilon-nan", CHAIN, "--epsilon", "nan"),
    pop("epsilon-infinite", CHAIN, "--epsilon", "inf"),
    pop("target-zero", CHAIN, "--target", "0", command="calibrate"),
    pop("target-negative", CHAIN, "--target", "-1", command="calibrate"),
    # -- the study file
    people("toml-broken", "[data]", "[data"),
    Case("toml-not-utf8", 2, raw=PEOPLE.replace("survey", "enquête").encode("latin-1")),
    Case("study-missing", 2, command=("release", "nowhere.toml")),
    Case("study-is-a-folder", 2, command=("release", ".")),
    Case("study-empty", 2, raw=b""),
    people("study-unknown-table", "[budget]", "[buget]"),
    people("study-unknown-key", "spend = 1.0", "spnd = 1.0"),
    people("study-unknown-column-key", "unit = ", "units = "),
    people("study-huge-number", "n = 6", "n = " + "9" * 400),
    people("study-too-many-digits", "n = 6", "n = " + "9" * 5000),
    people("study-deep", "n = 6", "n = " + "[" * 5000 + "]" * 5000),
    people("n-missing", "n = 6\n", ""),
    people("n-zero", "n = 6", "n = 0"),
    people("n-too-large", "n = 6", "n = 1099511627777"),
    people("n-text", "n = 6", 'n = "all"'),
    people("n-boolean", "n = 6", "n = true"),
    people("unit-without-rows", "n = 6\n", 'n = 2\nunit = "family"\n'),
    people("rows-without-unit", "n = 6\n", "n = 6\nrows_per_unit = 3\n"),
    people("source-missing", 'source = "people.csv"\n', ""),
    people("source-unknown-engine", "people.csv", "postgres://host/people"),
    people("bounds-nan", "[120, 220]", "[nan, 220]"),
    people("bounds-reversed", "[120, 220]", "[220, 120]"),
    people("bounds-equal", "[120, 220]", "[120, 120]"),
    people("bounds-infinite", "[120, 220]", "[120, inf]"),
    people("bounds-one", "[120, 220]", "[120]"),
    people("bounds-neighbours", "[120, 220]", "[1e300, 1.0000000000000002e300]"),
    people("bounds-enormous", "[120, 220]", "[-1.7e308, 1.7e308]"),
    people("states-twice", '["yes", "no"]', '["yes", "yes"]'),
    people("states-mixed", '["yes", "no"]', '["yes", 1]'),
    people("covers-unknown", '"smokes"]', '"smoks"]'),
    people("covers-public", 'covers = ["height"', 'covers = ["role", "height"'),
    people(
        "covers-independent",
        "income = { bounds = [0, 100] }",
        "income = { bounds = [0, 100], independent = true }",
        raw=PEOPLE.replace("[0, 100] }", "[0, 100], independent = true }")
        .replace('"smokes"]', '"smokes", "income"]')
        .encode(),
    ),
    people("cluster-column-missing", 'family = { role = "cluster" }\n', ""),
    Case(
        "order-column-missing",
        2,
        base=DAYS,
        changes=(('day = { role = "order", step = 1 }\n', ""),),
    ),
    Case("order-without-step", 2, base=DAYS, changes=((", step = 1", ""),)),
    people(
        "population-missing", PEOPLE[PEOPLE.index("[population]") : PEOPLE.index("[budget]")], ""
    ),
    people("population-unknown-model", '"clusters"', '"cluster"'),
    people("population-negative-size", "size = 3", "size = -3"),
    people("budget-negative", "epsilon = 3.0", "epsilon = -3.0"),
    people("budget-zero", "epsilon = 3.0", "epsilon = 0"),
    people("budget-nan", "epsilon = 3.0", "epsilon = nan"),
    people("budget-infinite", "epsilon = 3.0", "epsilon = inf"),
    people("budget-text-number", "epsilon = 3.0", 'epsilon = "3"'),
    people("budget-boolean", "spend = 1.0", "spend = true"),
    people("budget-text", "epsilon = 3.0", 'epsilon = "three"'),
    people("budget-spend-above", "spend = 1.0", "spend = 4.0"),
    people(
        "budget-mechanism-delta-bdp",
        "[budget]\n",
        "[budget]\ndelta = 1e-6\nmechanism_delta = 1e-7\n",
    ),
    people(
        "budget-mechanism-delta-above",
        "[budget]\n",
        '[budget]\nnotion = "dp"\ndelta = 1e-6\nmechanism_delta = 2e-6\n',
    ),
    people(
        "budget-mechanism-delta-tiny",
        "[budget]\n",
        '[budget]\nnotion = "dp"\ndelta = 1e-6\nmechanism_delta = 1e-40\n',
    ),
    people("budget-unknown-notion", "[budget]\n", '[budget]\nnotion = "bayes"\n'),
    people("budget-unknown-adversary", "[budget]\n", '[budget]\nadversary = "all"\n'),
    # -- queries
    people("query-none", "[[query]]\n" + MEAN, ""),
    people("query-kind", 'kind = "mean"', 'kind = "mode"'),
    people("query-median-no-candidates", 'kind = "mean"', 'kind = "median"'),
    people("query-quantile-no-probability", 'kind = "mean"', 'kind = "quantile"\nstep = 1'),
    people("query-answers-no-epsilon", MEAN, ANSWERS.replace("epsilon = 0.5\n", "")),
    people("query-answers-with-error", MEAN, ANSWERS + "error = 2.0\n"),
    people("query-answers-by", MEAN, ANSWERS + 'by = "role"\n'),
    people("query-answers-of-numbers", MEAN, ANSWERS.replace("smokes", "height")),
    people("query-answers-of-nothing", MEAN, ANSWERS.replace('column = "smokes"\n', "")),
    people("query-answers-taken-for-true", MEAN, ANSWERS + COUNTED),
    people("query-answers-beyond-budget", MEAN, ANSWERS.replace("0.5", "5.0"), status=1),
    people("query-epsilon", MEAN, MEAN + "epsilon = 1.0\n"),
    people(
        "query-quantiles-not-increasing",
        'kind = "mean"',
        'kind = "quantile"\nprobabilities = [0.5, 0.25]\nstep = 1',
    ),
    people(
        "derived-sampling-dependent",
        MEAN,
        MEAN.replace('kind = "mean"\ncolumn = "height"', 'kind = "count"\nwhere = "height > 170"')
        + '[[derived]]\nname = "d"\nkind = "sampling"\nquery = "mean height"\n',
    ),
    people("query-weighted-by-public", MEAN, MEAN + 'weighted_by = "town"\n'),
    people("query-weight-of-a-column", MEAN, MEAN + 'weight = "income"\n'),
    people("derived-kind", MEAN, MEAN + '[[derived]]\nname = "d"\nkind = "share"\n'),
    people(
        "derived-query",
        MEAN,
        MEAN + '[[derived]]\nname = "d"\nkind = "largest"\nquery = "mean hieght"\ncount = 1\n',
    ),
    people(
        "derived-not-counts",
        MEAN,
        MEAN + '[[derived]]\nname = "d"\nkind = "consistent"\nquery = "mean height"\n',
    ),
    people("query-unknown-key", MEAN, MEAN + "wieght = 2\n"),
    people("query-weight-and-error", MEAN, MEAN + "weight = 1\nerror = 2.0\n"),
    people("query-weight-zero", MEAN, MEAN + "weight = 0\n"),
    people("query-error-nan", MEAN, MEAN + "error = nan\n"),
    people("query-confidence", MEAN, MEAN + "error = 2.0\nconfidence = 1.0\n"),
    people("query-error-beyond-budget", MEAN, MEAN + "error = 0.01\n", status=1),
    people("query-error-by-group", MEAN, MEAN + 'error = 9.0\nby = "role"\n'),
    people("query-column-unknown", 'column = "height"', 'column = "heihgt"'),
    people("query-column-missing", 'column = "height"\n', ""),
    people("query-column-uncovered", 'column = "height"', 'column = "income"'),
    people("query-column-public", 'column = "height"', 'column = "role"'),
    people("query-column-no-numbers", 'column = "height"', 'column = "smokes"'),
    people("query-where-uncovered", MEAN, 'name = "rich"\nkind = "count"\nwhere = "income > 50"\n'),
    people("query-where-unknown", MEAN, 'name = "c"\nkind = "count"\nwhere = "wieght > 5"\n'),
    people(
        "query-where-state", MEAN, 'name = "c"\nkind = "count"\nwhere = "smokes == \'maybe\'"\n'
    ),
    people("query-where-code", MEAN, 'name = "c"\nkind = "count"\nwhere = "__import__(\'os\')"\n'),
    people("query-where-type", MEAN, 'name = "c"\nkind = "count"\nwhere = "height > \'tall\'"\n'),
    people("query-where-missing", MEAN, 'name = "c"\nkind = "count"\n'),
    people("query-count-public", MEAN, 'name = "c"\nkind = "count"\nwhere = "role == \'child\'"\n'),
    people("query-mean-where-private", MEAN, MEAN + "where = \"smokes == 'yes'\"\n"),
    people("query-by-private", MEAN, MEAN + 'by = "smokes"\n'),
    people("query-by-undeclared-column", MEAN, MEAN + 'by = "street"\n'),
    people("query-by-keys-undeclared", MEAN, MEAN + 'by = "town"\n'),
    people(
        "query-bins-unsorted",
        MEAN,
        'name = "h"\nkind = "histogram"\ncolumn = "height"\nbins = [120, 180, 150]\n',
    ),
    people(
        "query-bins-nan",
        MEAN,
        'name = "h"\nkind = "histogram"\ncolumn = "height"\nbins = [120, nan, 150]\n',
    ),
    people("query-bins-missing", MEAN, 'name = "h"\nkind = "histogram"\ncolumn = "height"\n'),
    people("query-bins-on-a-mean", MEAN, MEAN + "bins = [120, 150, 180]\n"),
    people("query-covariance-of-one", MEAN, MEAN.replace('"mean"', '"covariance"')),
    people("query-outcome-of-a-mean", MEAN, MEAN + 'outcome = "height"\n'),
    people(
        "query-regression-on-itself",
        MEAN,
        MEAN.replace('"mean"', '"regression"').replace("column", "outcome") + 'on = ["height"]\n',
    ),
    people("query-name-twice", MEAN, MEAN + "[[query]]\n" + MEAN),
    people("query-record-of-rows", "n = 6\n", 'n = 2\nunit = "family"\nrows_per_unit = 3\n'),
    people(
        "query-overflow",
        "spend = 1.0",
        "spend = 1e-15",
        raw=PEOPLE.replace("n = 6", "n = 1099511627776")
        .replace("spend = 1.0", "spend = 1e-15")
        .encode(),
    ),
    people("query-groups-bayesian", "spend", "spend", raw=groups("")),
    people("query-groups-pure", "spend", "spend", raw=groups('notion = "dp"\n')),
    people(
        "query-groups-mean",
        "spend",
        "spend",
        raw=groups(ASIDE).replace(b'kind = "count"', b'kind = "mean"\ncolumn = "height"'),
    ),
    people(
        "query-groups-histogram",
        "spend",
        "spend",
        raw=groups(ASIDE).replace(b'"count"\nby', b'"histogram"\ncolumn'),
    ),
    people(
        "query-groups-above",
        "spend",
        "spend",
        raw=groups(ASIDE).replace(b'by = "place"', b'by = "place"\ndelta = 1e-3'),
    ),
    people(
        "column-groups-public",
        "spend",
        "spend",
        raw=groups(ASIDE).replace(b'"from data"', b'"from data", public = true'),
    ),
    people("query-tiny-budget", "spend = 1.0", "spend = 1e-300"),
    # -- the table, as far as everybody may know
    people("table-missing", "people.csv", "peple.csv"),
    people("table-unknown-kind", "people.csv", "people.ods"),
    people("table-glob-without-files", "people.csv", "year-*.csv"),
    people("table-column-missing", "income = {", "incme = {"),
    Case(
        "data-empty",
        1,
        files={"people.csv": PEOPLE_CSV.splitlines()[0] + "\n"},
        curator="empty",
    ),
    Case("table-no-header", 2, files={"people.csv": ""}),
    people("table-not-parquet", "people.csv", "people.parquet", files={"people.parquet": "none"}),
    people("table-not-duckdb", "people.csv", "people.duckdb::t", files={"people.duckdb": "none"}),
    # -- the table, as far as only the curator may know
    Case(
        "data-not-utf8",
        1,
        files={"people.csv": PEOPLE_CSV.replace("X", "Köln").encode("latin-1")},
        curator="not-utf8",
    ),
    table("data-too-many-cells", "182,no,41", "182,no,41,1", "unreadable"),
    table("data-order-key-too-large", "q,3,1", "q,1e308,1", "order-key", DAYS),
    table("data-n", "b,parent,Y,171,no,25\n", "", "n"),
    table("data-cluster-too-large", "b,child", "a,child", "cluster-size"),
    table("data-cluster-missing", "b,child", ",child", "missing"),
    table("data-missing-value", "175", "", "missing"),
    table("data-text-for-a-number", "175", "tall", "not-a-number"),
    table("data-infinite", "175", "inf", "not-finite"),
    table("data-nan", "175", "nan", "not-finite"),
    table("data-undeclared-state", "182,no", "182,maybe", "undeclared"),
    table("data-undeclared-group", "b,child", "b,cousin", "undeclared"),
    table("data-duplicate-order", "q,3,1", "q,2,1", "duplicate-order", DAYS),
    table("data-series-too-long", "q,1,0", "p,4,0", "series-length", DAYS),
    table("data-off-step", "q,3,1", "q,2.5,1", "off-step", DAYS),
    table("data-misordered", "p,1,0\np,2,1\n", "p,2,1\np,1,0\n", "misordered", DAYS),
    table("data-order-key", "q,3,1", "q,third,1", "order-key", DAYS),
    Case(
        "average-of-no-rows",
        1,
        changes=(
            (MEAN, MEAN + 'by = "role"\n'),
            ('["child", "parent"]', '["child", "parent", "aunt"]'),
        ),
        curator="empty-group",
        for_all=True,
    ),
    # -- the ledger
    Case("ledger-used-up", 1, prepare=("used up",)),
    people("ledger-read-only", "spend = 1.0", "spend = 2.0", prepare=("spent", "read-only")),
    Case("ledger-newer", 2, prepare=("spent", "newer")),
    Case("ledger-not-a-ledger", 2, prepare=("not a ledger",)),
    Case("ledger-empty-file", 2, prepare=("empty",)),
    people("ledger-folder-missing", "[budget]\n", '[budget]\nledger = "nowhere/ledger.db"\n'),
    people("ledger-other-engine", "[budget]\n", '[budget]\nledger = "mysql://host/ledger"\n'),
    people("ledger-other-population", "size = 3", "size = 2", prepare=("spent",)),
    people("ledger-other-total", "epsilon = 3.0", "epsilon = 5.0", prepare=("spent",)),
    people(
        "ledger-other-unit",
        "n = 6\n",
        "n = 2\n",
        prepare=("spent",),
        raw=PEOPLE.replace("n = 6\n", 'n = 2\nunit = "family"\nrows_per_unit = 3\n')
        .replace('kind = "mean"', 'kind = "sum"')
        .encode(),
    ),
    people(
        "ledger-register-too-late",
        "size = 3",
        "size = 3",
        status=1,
        prepare=("used up",),
        raw=PEOPLE.replace("size = 3", "size = 30").encode(),
        command=("ledger", "register", "study.toml"),
    ),
    Case("ledger-show-missing", 2, command=("ledger", "show", "--ledger", "nowhere.db")),
    # -- certificates
    Case("cert-missing", 2, command=("verify", "nowhere.json")),
    Case("cert-not-json", 2, command=("verify", "people.csv")),
    Case("cert-not-utf8", 2, command=("verify", "x.json"), files={"x.json": b"\xff\xfe{"}),
)
