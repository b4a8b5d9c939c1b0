"""Bayesian linear regression from noisy moments.

The released numbers are the upper triangle of the moments of rows (features..., response), with
noise of known law on every entry. Given the true X'X the rest follows the model: with noise_sd s,

    X'y given X'X and b is normal(X'X b, s^2 X'X),
    y'y = (X'y)' (X'X)^-1 (X'y) + a residual sum, about normal((n - d) s^2, 2 (n - d) s^4).

What is a choice: X'X has a flat prior on positive definite matrices (the data distribution of the
features is not modelled), the residual sum is normal instead of chi-squared, and the clip is not
modelled. `nuts` samples b, X'X and the rest together; `noise_aware` holds X'X at the nearest
positive definite matrix to the released one and is then normal in closed form.
"""

from __future__ import annotations

import importlib.util
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesdp.errors import UnsupportedError
from bayesdp.programs.run.results import distributions as d

if TYPE_CHECKING:
    from bayesdp.arrays import Floats
    from bayesdp.programs.run.numerics.observed import Noisy

CHAINS = 4
WARM_UP = 500
BLOCK = 50
CHOICES = (
    "X'X has a flat prior on positive definite matrices.",
    "The residual sum of squares is taken as normal, and the clip of the records is not modelled.",
)
FIXED = "X'X is held at the nearest positive definite matrix to the released one."


def require_numpyro() -> None:
    """Raises `UnsupportedError`, before anything is spent, where NumPyro is not installed."""
    if importlib.util.find_spec("numpyro") is None:
        raise UnsupportedError(
            "nuts",
            "a regression",
            expected="NumPyro, which is not installed",
            remedy="pip install 'bayesdp[inference]'",
        )


def _names(source: Noisy, size: int) -> tuple[str, ...]:
    known = [entry is not None and entry != 0 for entry in source.known[:size]] or [False] * size
    return tuple("intercept" if known[i] and i == 0 else f"b{i}" for i in range(size))


def _size(source: Noisy, moments: Floats) -> float:
    if source.size is not None:
        return float(source.size)
    if source.known and source.known[0]:
        return max(float(moments[0, 0]) / float(source.known[0]) ** 2, 1.0)
    return max(float(np.trace(moments)), 1.0)


def _definite(matrix: Floats, least: float) -> Floats:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, least)) @ vectors.T)


def _features(source: Noisy, moments: Floats) -> Floats:
    """X'X as released; an entry that is public is not noisy."""
    features = moments[:-1, :-1].copy()
    if source.size is not None and source.known and source.known[0]:
        features[0, 0] = source.size * float(source.known[0]) ** 2
    return features


def closed_form(source: Noisy, sd: float, prior: d.Distribution, aware: bool = True) -> d.Joint:
    """The normal law of the coefficients, given X'X as released.

    `aware`: the noise on X'y counts.
    """
    moments = source.moments
    size = len(moments) - 1
    least = max(source.noise.scale, 1e-6) if aware else 1e-6
    xx, xy = _definite(_features(source, moments), least), moments[:-1, -1]
    mean, spread = _prior(prior, size)
    noise = source.noise.variance if aware else 0.0
    variance = sd**2 * xx + noise * np.eye(size)
    gain = xx @ np.linalg.inv(variance)
    precision = np.diag(1 / spread**2) + gain @ xx
    covariance = np.linalg.inv(precision)
    centre = covariance @ (mean / spread**2 + gain @ xy)
    root = np.linalg.cholesky((covariance + covariance.T) / 2)
    deviations = np.sqrt(np.diag(covariance))
    marginals = tuple(
        d.single("normal", float(m), float(s)) for m, s in zip(centre, deviations, strict=True)
    )
    return d.Joint(
        "normal",
        _names(source, size),
        marginals,
        lambda k, rng: np.asarray(centre + rng.normal(size=(k, size)) @ root.T),
        (FIXED, CHOICES[1]) if aware else (FIXED,),
    )


def unmoved(source: Noisy, prior: d.Distribution) -> d.Joint:
    """The coefficients' prior, which is their posterior where no record is observed."""
    size = len(source.moments) - 1
    mean, spread = _prior(prior, size)
    return d.Joint(
        "normal",
        _names(source, size),
        tuple(d.single("normal", float(m), float(s)) for m, s in zip(mean, spread, strict=True)),
        lambda k, rng: np.asarray(rng.normal(mean, spread, size=(k, size))),
    )


def _prior(prior: d.Distribution, size: int) -> tuple[Floats, Floats]:
    mean, sd = np.asarray(prior.mean, dtype=float), np.asarray(prior.sd, dtype=float)
    return np.broadcast_to(mean, (size,)), np.broadcast_to(sd, (size,))


def nuts(source: Noisy, sd: float, prior: d.Distribution, draws: int) -> d.Samples:
    """Draws of the coefficients by NumPyro's NUTS: 4 chains, with ESS and R-hat.

    A progress bar is shown on standard error where that is a terminal.
    """
    require_numpyro()
    import jax

    from bayesdp.programs.run.results.diagnostics import diagnosed, exact_samples

    if source.size == 0:
        prior_law = unmoved(source, prior)
        return exact_samples(prior_law, draws, prior_law.names)

    moments = source.moments
    size, n = len(moments) - 1, _size(source, moments)
    known = bool(source.size is not None and source.known and source.known[0])
    start = closed_form(source, sd, prior)
    xx = _definite(_features(source, moments) / n, max(source.noise.scale / n, 1e-6))
    corner = abs(float(source.known[0] or 1)) if known else 1.0
    if known:
        xx[0, 0] = corner**2
        xx = _repaired(xx)
    root = np.linalg.cholesky(xx)
    begin = {
        "b": np.asarray(start.mean),
        "diagonal": np.diag(root)[int(known) :],
        "below": root[np.tril_indices(size, -1)],
    }
    mean, spread = _prior(prior, size)
    about = (
        np.asarray(source.floats) / n, source.noise.scale / n, n, sd, mean, spread, corner,
    )  # fmt: skip
    seed = int(np.random.default_rng().integers(2**31))
    rng = np.random.default_rng()
    # Unconstrained, one row for each chain; a little apart, so that R-hat can tell.
    starts = {
        name: _jittered(np.log(values) if name == "diagonal" else values, rng)
        for name, values in begin.items()
    } | {"z": rng.normal(size=(CHAINS, size)), "w": rng.normal(size=CHAINS)}
    with jax.enable_x64(True):
        start_chains, block = _sampler(size, known, source.noise.kind)
        state = start_chains(jax.random.split(jax.random.PRNGKey(seed), CHAINS), starts, about)
        drawn = _drawn(block, state, about, -(-draws // CHAINS))
    return diagnosed("regression", _names(source, size), drawn, CHOICES)


def _jittered(values: Floats, rng: np.random.Generator) -> Floats:
    """Starting values of the chains, each a little off these."""
    return np.asarray(values + 0.01 * rng.normal(size=(CHAINS, *values.shape)))


def _drawn(block: Any, state: Any, about: Any, each: int) -> Floats:
    """Warm up and draw, a block of steps at a time, with a bar where a person looks on."""
    from rich.console import Console
    from rich.progress import track

    blocks = (WARM_UP + each + BLOCK - 1) // BLOCK
    console = Console(stderr=True)
    draws = []
    for _ in track(
        range(blocks), "Sampling", console=console, disable=not sys.stderr.isatty(), transient=True
    ):
        state, some = block(state, about)
        draws.append(np.asarray(some))
    return np.concatenate(draws, axis=1)[:, WARM_UP : WARM_UP + each]


@lru_cache(maxsize=8)
def _sampler(size: int, known: bool, kind: str) -> tuple[Any, Any]:
    """NUTS of a model's shape, compiled once for any numbers: how chains start, and a block."""
    from functools import partial

    import jax
    from numpyro.infer.hmc import hmc
    from numpyro.infer.util import potential_energy

    model = _model(size, known, kind)

    def potential(*about: Any) -> Any:
        return partial(potential_energy, model, about, {})

    init, step = hmc(potential_fn_gen=potential, algo="NUTS")

    def start(key: Any, params: Any, about: Any) -> Any:
        return init(
            params,
            WARM_UP,
            dense_mass=True,
            target_accept_prob=0.8,
            model_args=about,
            rng_key=key,
        )

    def block(state: Any, about: Any) -> Any:
        def one_step(state: Any, _: None) -> Any:
            new = step(state, model_args=about)
            return new, new.z["b"]

        return jax.lax.scan(one_step, state, None, length=BLOCK)

    chains = (0, 0, None)
    return jax.jit(jax.vmap(start, chains)), jax.jit(jax.vmap(block, (0, None)))


def _repaired(matrix: Floats) -> Floats:
    """Shrink what is off the diagonal until the matrix is definite; its corner stays."""
    repaired = matrix
    for _ in range(60):
        if np.linalg.eigvalsh(repaired)[0] > 1e-9:
            break
        diagonal = np.diag(np.diag(repaired))
        repaired = diagonal + 0.8 * (repaired - diagonal)
    return repaired


def _model(size: int, known: bool, kind: str) -> Any:
    """The model of the module's text, per record: everything is divided by n."""
    import jax.numpy as jnp
    import numpyro
    from numpyro import distributions as law
    from numpyro.distributions import constraints

    rows, places = np.triu_indices(size + 1)
    noise = law.Laplace if kind == "laplace" else law.Normal
    free = size - int(known)
    powers = np.arange(size, 0, -1)[int(known) :]

    def model(seen: Any, scale: Any, n: Any, sd: Any, mean: Any, spread: Any, corner: Any) -> None:
        rest = jnp.maximum(n - size, 1.0)
        b = numpyro.sample("b", law.Normal(mean, spread).to_event(1))
        diagonal = numpyro.sample(
            "diagonal", law.ImproperUniform(constraints.positive, (), event_shape=(free,))
        )
        below = numpyro.sample(
            "below",
            law.ImproperUniform(constraints.real, (), event_shape=(size * (size - 1) // 2,)),
        )
        # The volume of X'X in terms of its root.
        numpyro.factor("volume", jnp.sum(powers * jnp.log(diagonal)))
        top = jnp.concatenate([jnp.reshape(corner, (1,)), diagonal]) if known else diagonal
        root = jnp.zeros((size, size)).at[np.tril_indices(size, -1)].set(below) + jnp.diag(top)
        z = numpyro.sample("z", law.Normal(0.0, 1.0).expand([size]).to_event(1))
        w = numpyro.sample("w", law.Normal(0.0, 1.0))
        # X'y = X'X b + s root z, so (X'y)'(X'X)^-1(X'y) = |root' b + s z / sqrt n|^2 (per record).
        whitened = root.T @ b + sd * z / jnp.sqrt(n)
        xy = root @ whitened
        yy = whitened @ whitened + sd**2 * (rest + jnp.sqrt(2 * rest) * w) / n
        whole = jnp.block([[root @ root.T, xy[:, None]], [xy[None, :], yy[None, None]]])
        numpyro.sample("seen", noise(whole[rows, places], scale).to_event(1), obs=seen)

    return model
