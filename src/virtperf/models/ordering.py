"""How probable an order of several means is, given replicates of each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from virtperf.core.errors import ModelError
from virtperf.models.checks import Array
from virtperf.models.ratio import Mean
from virtperf.models.result import Estimate

DRAWS = 100_000


def order_probability(samples: Sequence[ArrayLike], *, seed: int, alpha: float = 0.05, draws: int = DRAWS) -> Estimate:
    """Return the probability that the true means stand in the given ascending order.

    With a flat prior on each mean and on the logarithm of each variance, a mean's posterior is Student's t around the
    sample mean with the standard error as scale (Box and Tiao 1973, section 2.4); the probability is the share of
    joint draws that are in order. The interval is that of the simulation alone (normal approximation).

    Parameters
    ----------
    samples : sequence of array_like
        At least two samples of at least two replicates each, the smallest mean first.
    seed : int
    draws : int

    Raises
    ------
    ModelError
        Fewer than two samples, or one with fewer than two finite values.
    """
    if len(samples) < 2:
        raise ModelError("an order needs two means", expected="at least two samples", found=str(len(samples)))
    drawn = _draw([Mean.of(s, f"sample {k}") for k, s in enumerate(samples, 1)], seed, draws)
    return _share(np.all(np.diff(drawn, axis=1) > 0, axis=1), alpha)


def best_probability(
    samples: Mapping[str, ArrayLike], *, seed: int, alpha: float = 0.05, draws: int = DRAWS
) -> dict[str, Estimate]:
    """Return, for each sample, the probability that its true mean is the largest of all; see `order_probability`."""
    if len(samples) < 2:
        raise ModelError("the best of one is no question", expected="at least two samples", found=str(len(samples)))
    drawn = _draw([Mean.of(s, name) for name, s in samples.items()], seed, draws)
    best = np.argmax(drawn, axis=1)
    return {name: _share(best == k, alpha) for k, name in enumerate(samples)}


def _draw(means: Sequence[Mean], seed: int, draws: int) -> Array:
    rng = np.random.default_rng(seed)
    return np.column_stack([m.value + m.se * rng.standard_t(m.df, draws) for m in means])


def _share(hits: np.ndarray, alpha: float) -> Estimate:
    n = len(hits)
    share = float(hits.mean())
    # Wilson's interval stays inside [0, 1] where every draw says the same.
    z = float(ndtri(1 - alpha / 2))
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return Estimate(share, max(centre - half, 0.0), min(centre + half, 1.0), 1 - alpha, "simulation (Wilson)")
