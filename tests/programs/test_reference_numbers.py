"""Numbers that were computed elsewhere: each from the checker where it computes it.

What the interpreter computes (channels of the exponential mechanism) is taken from the falsifier's
laws here, and once more from quadrature. The classical Gaussian is an oracle's: it is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import exp, log, pi, sqrt

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from bayesdp.kernel.programs import distances
from bayesdp.programs.check.checker import check
from bayesdp.programs.check.noise import gaussian_delta
from bayesdp.programs.falsify import losses
from bayesdp.programs.falsify.posteriors import distance_at_least
from bayesdp.programs.ir import Expr, Release, expression
from bayesdp.programs.run.draws.choices import exact_posterior
from bayesdp.programs.run.results.distributions import single
from bayesdp.programs.run.results.divergences import DivergenceKind, _at
from bayesdp.programs.run.tables.loading import load
from bayesdp.programs.run.values.private import PrivateValues
from bayesdp.programs.run.values.public import PublicValues
from tests.oracles.posteriors import distance
from tests.programs.probes import GRID, coin, core

F = Fraction


def derived(program: object, n: int | None = None) -> Expr:
    verdict = check(program, n)  # type: ignore[arg-type]
    assert verdict.verdict == "ACCEPTED", verdict.reason
    return expression(verdict.derivation["sequence"][-1]["sensitivity"]["value"])


def number(expr: Expr) -> float:
    value = expr.data[0]
    assert isinstance(value, Fraction)
    return float(value)


def beta(a: object, b: object) -> tuple[str, tuple[Fraction, ...]]:
    return "dirichlet", (F(str(a)), F(str(b)))


# -- Hellinger distances of betas ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "value"),
    [(1, 1, 0.463251375), (1, 2, 0.408607), (2, 2, 0.341214), (10, 10, 0.157099)],
)
def test_one_replaced_toss(a: int, b: int, value: float) -> None:
    assert distance(beta(a + 1, b), beta(a, b + 1)) == pytest.approx(value, abs=1e-6)
    assert float(distances.traded(F(a), F(b))) == pytest.approx(value, abs=1e-6)
    p, q = stats.beta(a + 1, b).pdf, stats.beta(a, b + 1).pdf
    overlap, _ = quad(lambda x: sqrt(p(x) * q(x)), 0, 1)
    assert distance(beta(a + 1, b), beta(a, b + 1)) == pytest.approx(sqrt(1 - overlap), abs=1e-6)


def test_the_supremum_over_priors_of_at_least_1() -> None:
    assert number(derived(coin(1, 1))) == pytest.approx(sqrt(1 - pi / 4), abs=1e-9)
    for a in range(1, 8):
        for b in range(1, 8):
            assert number(derived(coin(a, b, GRID))) <= number(derived(coin(1, 1)))


def test_jeffreys_prior_has_its_own_constant() -> None:
    actual = number(derived(coin("1 / 2", "1 / 2", GRID)))
    assert actual == pytest.approx(sqrt(1 - 2 / pi), abs=1e-9)
    assert actual == pytest.approx(0.602810, abs=1e-6)


@pytest.mark.parametrize(
    ("n", "value"), [(1, 0.463251), (2, 0.408607), (3, 0.387016), (10, 0.353238), (100, 0.338940)]
)
def test_a_known_number_of_tosses(n: int, value: float) -> None:
    assert number(derived(coin(), n)) == pytest.approx(value, abs=1e-6)
    at_least = replace(
        coin(), requires=(Expr("ge", (Expr("public", (), ("db.size",)), _const(n))),)
    )
    assert number(derived(at_least)) == pytest.approx(value, abs=1e-6)
    if n <= 10:
        worst = max(
            distance(beta(1 + k + 1, 1 + n - 1 - k), beta(1 + k, 1 + n - k)) for k in range(n)
        )
        assert worst == pytest.approx(value, abs=1e-6)


def _const(value: int) -> Expr:
    return Expr("const", (), (F(value),))


@pytest.mark.parametrize(
    ("a", "b", "value"), [(1, 1, 0.239146), (1, 2, 0.276115), (2, 2, 0.173935)]
)
def test_one_toss_more(a: int, b: int, value: float) -> None:
    assert distance(beta(a, b), beta(a + 1, b)) == pytest.approx(value, abs=1e-6)


def test_the_supremum_of_one_toss_more() -> None:
    program = coin(candidates=GRID, options='adjacency="add-remove"')
    assert number(derived(program)) == pytest.approx(0.337303, abs=1e-6)
    assert number(derived(program)) == pytest.approx(sqrt(1 - sqrt(pi) / 2), abs=1e-9)
    far = distance(beta(1, 10**6), beta(2, 10**6))
    assert far == pytest.approx(0.337303, abs=1e-6)


def test_dirichlet() -> None:
    prior = [F(1)] * 3
    assert float(distances.of_labels(prior, True)) == pytest.approx(0.463251, abs=1e-6)
    assert float(distances.of_labels(prior, False)) == pytest.approx(0.337303, abs=1e-6)
    none = distance(("dirichlet", tuple(prior)), ("dirichlet", (F(2), F(1), F(1))))
    assert none == pytest.approx(0.276115, abs=1e-6)
    traded = distance(("dirichlet", (F(2), F(1), F(1))), ("dirichlet", (F(1), F(2), F(1))))
    assert traded == pytest.approx(0.463251, abs=1e-6)


@pytest.mark.parametrize(
    ("shape", "most", "value"), [(1, 1, 0.337303), (2, 1, 0.244978), (2, 8, 0.894872)]
)
def test_rates_of_clipped_counts(shape: int, most: int, value: float) -> None:
    body = f"""
    model = observe((clip(r.y, 0, {most}) for r in db), poisson(exposure=db.size), prior=gamma({shape}, rate=1))
    exponential(score=hellinger(infer(model)), candidates=grid_of(gamma, a=(1, 2), b=(1, 2)), epsilon=1)
    """  # noqa: E501
    program = core(body, returns="Gamma")
    if most == 8:
        kinds = dict(program.record)
        kinds["y"] = replace(kinds["y"], high=F(9))
        program = replace(program, record=tuple(kinds.items()))
    assert number(derived(program)) == pytest.approx(value, abs=1e-6)


def test_constants_are_rounded_up_in_the_tenth_digit() -> None:
    value = check(coin()).derivation["sequence"][0]["sensitivity"]["value"]
    assert value[2] == [{"number": "579064219/1250000000"}]  # 0.4632513752
    assert distance_at_least(beta(2, 1), beta(1, 2)) > F("0.4632513751")
    below = "exponential(score=hellinger(infer(observe(db, bernoulli, prior=beta(1, 1)))), "
    below += f"candidates={GRID}, epsilon=1, sensitivity=0.4632513751)"
    assert check(core(below, record="Bool", returns="Beta")).code == "sensitivity"


# -- parameters, means ----------------------------------------------------------------------------

BOTH = "parameters(infer(observe(db, bernoulli, prior=beta(2, 5))))"


@pytest.mark.parametrize(
    ("release", "options", "value"),
    [
        (f"laplace({BOTH}, epsilon=1)", "", 2),
        (f"gaussian({BOTH}, epsilon=1, delta=1e-6)", "", 2),
        (f"laplace({BOTH}, epsilon=1)", 'adjacency="add-remove"', 1),
        (f"gaussian({BOTH}, epsilon=1, delta=1e-6)", 'adjacency="add-remove"', 1),
    ],
)
def test_parameters_jointly(release: str, options: str, value: int) -> None:
    program = core(release, record="Bool", returns="Vector", options=options)
    assert number(derived(program)) == value


def test_one_parameter_alone() -> None:
    body = "both = parameters(infer(observe(db, bernoulli, prior=beta(2, 5))))\n"
    assert number(derived(core(body + "laplace(both[0], epsilon=1)", record="Bool"))) == 1


def at(expr: Expr, n: int) -> Fraction:
    from bayesdp.programs.falsify.values import Evaluator

    return Evaluator((), {}, {"db.size": F(n)}).numbers(expr, ())[0]


@pytest.mark.parametrize("n", [1, 9, 99])
def test_the_mean_of_a_beta_posterior(n: int) -> None:
    body = "laplace((2 + sum(db)) / (7 + db.size), epsilon=1)"
    assert at(derived(core(body, record="Bool")), n) == F(1, 7 + n)


@pytest.mark.parametrize(("n", "mean", "apart"), [
    (1, 0.5, 0.246144), (9, 0.1, 0.111455), (99, 0.01, 0.035344),
])  # fmt: skip
def test_the_mean_of_a_normal_posterior(n: int, mean: float, apart: float) -> None:
    body = "laplace(sum(clip(x, 0, 1) for x in db) / (1 + db.size), epsilon=1)"
    assert float(at(derived(core(body, record="Real[-5, 5]")), n)) == pytest.approx(mean)
    body = """
    model = observe((clip(x, 0, 1) for x in db), normal(sd=1), prior=normal(0, sd=1))
    several = grid_of(normal, a=(0, 1), b=(1, 2))
    exponential(score=hellinger(infer(model)), candidates=several, epsilon=1)
    """
    program = core(body, record="Real[-5, 5]", returns="Normal")
    assert number(derived(program, n)) == pytest.approx(apart, abs=1e-6)
    variance = F(1, 1 + n)
    two = distance(("normal", (F(0), variance)), ("normal", (variance, variance)))
    assert two == pytest.approx(apart, abs=1e-6)


# -- divergences ----------------------------------------------------------------------------------


def test_beta_2_1_against_beta_1_2() -> None:
    """Densities 2x and 2(1 - x)."""
    for epsilon in (0.0, 0.5, 1.0, 2.0):
        skew, _ = quad(lambda x, e=epsilon: max(2 * x - exp(e) * 2 * (1 - x), 0), 0, 1)
        assert skew == pytest.approx(1 / (1 + exp(epsilon)), abs=1e-6)
    apart, _ = quad(lambda x: abs(2 * x - 2 * (1 - x)) / 2, 0, 1)
    kl, _ = quad(lambda x: 2 * x * log(x / (1 - x)), 0, 1)
    assert (apart, kl) == (pytest.approx(0.5), pytest.approx(1, abs=1e-6))
    item, other = single("beta", 2, 1), single("beta", 1, 2)
    assert item.divergence(other, "statistical") == pytest.approx(0.5, abs=1e-6)
    assert item.divergence(other, "kl") == pytest.approx(1, abs=1e-6)
    assert item.divergence(other, "skew", 1.0) == pytest.approx(0.268941, abs=1e-6)
    squared = item.divergence(other, "squared-hellinger")
    assert squared == pytest.approx(1 - pi / 4, abs=1e-6)
    assert item.divergence(item, "statistical") == 0.0


def test_the_variance_of_a_normal_posterior_does_not_move() -> None:
    """Only the mean does, by the data's width times t2 / (s2 + n t2)."""
    body = """
    model = observe((clip(x, 0, 1) for x in db), normal(sd=1), prior=normal(0, sd=1))
    several = grid_of(normal, a=(0, 1), b=(1, 2))
    exponential(score=hellinger(infer(model)), candidates=several, epsilon=1)
    """
    program = core(body, record="Real[-5, 5]", returns="Normal")
    (release,) = (statement for statement in program.body if isinstance(statement, Release))
    model = release.args[0].args[0].args[0]
    for n in (1, 9):
        actual = []
        for last in (0.0, 0.25, 1.0, 4.0):
            rows = load(program, {program.database: [0.5] * (n - 1) + [last]})
            (mean, variance), _ = exact_posterior(model, PrivateValues(PublicValues(program, rows)))
            actual.append(variance)
            assert mean == pytest.approx(((n - 1) / 2 + min(last, 1.0)) / (1 + n))
        assert set(actual) == {F(1, 1 + n)}


def of_masses(
    kind: DivergenceKind, p: Sequence[float], q: Sequence[float], epsilon: float = 0.0
) -> float:
    """The divergence of two laws on the same finitely many values."""
    return sum(_at(kind, epsilon, x, y) for x, y in zip(p, q, strict=True))


@pytest.mark.parametrize("kind", ["statistical", "squared-hellinger", "kl"])
def test_divergences_of_a_sequence_are_at_most_the_sum(kind: DivergenceKind) -> None:
    """On random kernels; eps-skews add up as (eps1, d1), then (eps2, d2)."""
    draw = np.random.default_rng(5)
    for _ in range(200):
        first = draw.dirichlet(np.ones(3), size=2)
        second = draw.dirichlet(np.ones(4), size=(2, 3))
        both = [(first[i][:, None] * second[i]).ravel() for i in (0, 1)]
        apart = max(of_masses(kind, second[0][x], second[1][x]) for x in range(3))
        assert of_masses(kind, *both) <= of_masses(kind, *first) + apart + 1e-12
        d1 = of_masses("skew", *first, 0.3)
        d2 = max(of_masses("skew", second[0][x], second[1][x], 0.5) for x in range(3))
        assert of_masses("skew", *both, 0.8) <= d1 + d2 + 1e-12


# -- the exponential mechanism -------------------------------------------------------------------


def test_the_exponential_mechanism_on_one_bit() -> None:
    kept = losses.softmax([0.5, 0.0])
    assert exp(kept[0]) == pytest.approx(0.622459, abs=1e-6)
    assert losses.channel(kept, kept[::-1]).pure == pytest.approx(0.5)


def test_the_hellinger_mechanism_for_three_tosses() -> None:
    def channel(a: int, b: int, sensitivity: float) -> tuple[float, ...]:
        candidates = [beta(1 + k, 4 - k) for k in range(4)]
        return losses.softmax([-distance(c, beta(a, b)) / (2 * sensitivity) for c in candidates])

    actual = [exp(item) for item in channel(3, 2, 0.463251375)]
    assert actual == pytest.approx([0.174178, 0.243102, 0.351343, 0.231377], abs=1e-6)

    def worst(sensitivity: float) -> float:
        neighbours = [((1 + k, 4 - k), (2 + k, 3 - k)) for k in range(3)]
        return max(
            losses.channel(channel(*x, sensitivity), channel(*y, sensitivity)).pure
            for x, y in neighbours
        )

    assert worst(0.463251375) == pytest.approx(0.5244, abs=1e-4)
    assert worst(0.387016) == pytest.approx(0.6210, abs=1e-4)


def test_permute_and_flip_has_its_own_numbers() -> None:
    """An oracle: it is another mechanism, and not what a program's exponential draws from."""
    from itertools import permutations

    def chances(scores: list[float], scale: float) -> list[float]:
        best, outcome = max(scores), [0.0] * len(scores)
        orders = list(permutations(range(len(scores))))
        for order in orders:
            left = 1.0
            for item in order:
                taken = exp((scores[item] - best) / scale)
                outcome[item] += left * taken / len(orders)
                left *= 1 - taken
        return outcome

    candidates = [beta(1 + k, 4 - k) for k in range(4)]
    scores = [-distance(candidate, beta(3, 2)) for candidate in candidates]
    actual = chances(scores, 2 * 0.463251375)
    assert actual == pytest.approx([0.155116, 0.231672, 0.395469, 0.217742], abs=1e-6)
    other = [-distance(candidate, beta(2, 3)) for candidate in candidates]
    pairs = [(scores, other)]
    pairs.append((scores, [-distance(candidate, beta(4, 1)) for candidate in candidates]))
    pairs.append((other, [-distance(candidate, beta(1, 4)) for candidate in candidates]))
    worst = max(
        abs(log(p / q))
        for x, y in pairs
        for p, q in zip(chances(x, 0.92650275), chances(y, 0.92650275), strict=True)
    )
    assert worst == pytest.approx(0.7307, abs=1e-4)


# -- Gaussian noise -------------------------------------------------------------------------------


def classical(epsilon: float, delta: float) -> float:
    """The classical formula, as an oracle: the checker refuses what it claims."""
    return sqrt(2 * log(1.25 / delta)) / epsilon


@pytest.mark.parametrize(
    ("epsilon", "old", "exact"),
    [(0.1, 48.448, 30.750), (0.5, 9.6896, 7.0318), (1, 4.8448, 3.7306), (10, 0.48448, 0.49989)],
)
def test_gaussian_noise(epsilon: float, old: float, exact: float) -> None:
    assert classical(epsilon, 1e-5) == pytest.approx(old, rel=1e-4)
    assert losses.calibrated(epsilon, 1e-5, 1) == pytest.approx(exact, rel=1e-4)
    assert losses.gaussian(1, losses.calibrated(epsilon, 1e-5, 1)).delta(epsilon) == pytest.approx(
        1e-5, rel=1e-6
    )


def test_the_classical_formula_is_wrong_at_ten() -> None:
    assert losses.gaussian(1, 0.48448).delta(10) == pytest.approx(2.27e-5, rel=1e-2)
    body = "gaussian(sum(r.b for r in db), epsilon=10, delta=1e-5, sigma=0.48448)"
    assert check(core(body)).code == "noise"


def test_the_continuous_curve_is_not_that_of_whole_numbers() -> None:
    actual = gaussian_delta(F("3.73063"), F(1), F(1), True)
    assert float(actual) == pytest.approx(1.03457e-5, rel=1e-5)
    assert losses.discrete_delta(3.73063, 1, 1.0) == pytest.approx(1.03457e-5, rel=1e-5)
    body = "gaussian(sum(r.b for r in db), epsilon=1, delta=1e-5, sigma={})"
    assert check(core(body.format("3.73063"))).code == "noise"
    assert check(core(body.format("3.76"))).verdict == "ACCEPTED"


@pytest.mark.parametrize("sigma", ["0.3", "1", "2.5", "7.03", "30"])
@pytest.mark.parametrize("shift", [1, 2, 5])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_the_discrete_sum_is_an_upper_bound_and_near(sigma: str, shift: int, epsilon: str) -> None:
    actual = float(gaussian_delta(F(sigma), F(shift * shift), F(epsilon), True))
    true = losses.discrete_delta(float(F(sigma)), shift, float(F(epsilon)))
    assert actual >= true * (1 - 1e-9)
    assert actual <= true * (1 + 1e-6) + 1e-15
    loose = float(gaussian_delta(F(sigma), F(shift * shift), F(epsilon), False))
    assert loose >= true * (1 - 1e-9)


def test_noise_at_the_edges() -> None:
    assert gaussian_delta(F(1), F(0), F(1), True) == 0
    assert gaussian_delta(F(1, 10**9), F(1), F(1), False) == 1
    assert gaussian_delta(F(10**9), F(1), F(1), False) < F(1, 10**20)
    assert gaussian_delta(F(10**40), F(1), F(1), False) >= 0


# -- moments --------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", range(1, 7))
@pytest.mark.parametrize("constant", [True, False])
def test_moments(d: int, constant: bool) -> None:
    rows = (["1"] if constant else ["clip(r.x / 8, -1, 1)"]) + ["clip(r.x, -1, 1)"] * (d - 1)
    program = core("laplace(sum(r.b for r in db), epsilon=1)")
    wide = core(f"laplace(sum(({', '.join(rows)},) for r in db), epsilon=1)", returns="Vector")
    data = wide.body[0].args[0].args[0]
    moments = Expr("moments", (data.args[1],))
    total = Expr("sum", (Expr("data", (data.args[0], moments), data.data),))
    triangle = d * (d + 1) / 2
    corners = 1 if d == 1 and not constant else 4 * (d * d // 4)
    for adjacency, l1, l2 in (
        (
            "replace-one",
            0 if d == 1 and constant else triangle,
            0 if d == 1 and constant else corners,
        ),
        ("add-remove", triangle, triangle),
    ):
        for op, options, value in (
            ("laplace", {"epsilon": _const(1)}, l1),
            ("gaussian", {"epsilon": _const(1), "delta": Expr("const", (), (F(1, 10**6),))}, l2),
        ):
            release = replace(
                program.body[0], op=op, args=(total,), options=tuple(sorted(options.items()))
            )
            changed = replace(
                program, adjacency=adjacency, body=(release,), returns=(), return_types=()
            )
            assert number(derived(changed)) == value


def test_sizes() -> None:
    both = [F(1), F(1)]
    replaced, entered = (float(distances.of_labels(both, item)) for item in (True, False))
    assert replaced == float(distances.traded(F(1), F(1)))
    assert entered == float(distances.gained(F(1)))
