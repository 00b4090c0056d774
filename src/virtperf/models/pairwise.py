"""All pairs of several means, or each against one reference, at one level for all: Tukey and
Dunnett, by scipy.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from rawperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.ratio import replicates
from virtperf.models.result import Estimate


def compare_means(
    samples: Mapping[Hashable, ArrayLike],
    *,
    reference: Hashable | None = None,
    noise: str = "proportional",
    alpha: float = 0.05,
    seed: int = 20,
) -> dict[tuple[Hashable, Hashable], Estimate]:
    """Compare means so that all intervals hold together with the level 1 - alpha; the variances are
    taken as equal.

    Parameters
    ----------
    samples : mapping
        Label to replicates, at least two each.
    reference : label, optional
        Compare the others with this one alone (Dunnett 1955); without it, all pairs (Tukey-Kramer).
    noise : {"proportional", "constant"}
        Ratios, from the logarithms of positive values; or differences.
    alpha, seed : float, int
        Dunnett's quantile is computed by seeded quasi-Monte Carlo.

    Returns
    -------
    dict
        ``(label, other)`` to the ratio or difference of label to other.

    Raises
    ------
    ModelError
        For fewer than two samples, a reference that is none of them, or samples without any spread.
    """
    checks.level(alpha)
    ratios = checks.noise(noise) == "proportional"
    if len(samples) < 2 or (reference is not None and reference not in samples):
        raise ModelError(
            "there is nothing to compare",
            expected="at least two samples, one of them the reference",
            found=", ".join(map(str, samples)),
        )
    values = {}
    for label, sample in samples.items():
        checks.column(sample, str(label), positive=ratios)
        given = replicates(sample, str(label))
        values[label] = np.log(given) if ratios else given
    if all(np.ptp(v) == 0 for v in values.values()):
        raise ModelError(
            "the replicates do not differ", remedy="a test needs replicates that differ"
        )
    if reference is None:
        labels = list(values)
        found = stats.tukey_hsd(*values.values()).confidence_interval(1 - alpha)
        pairs = [
            ((a, b), found.low[i, j], found.high[i, j])
            for (i, a), (j, b) in itertools.combinations(enumerate(labels), 2)
        ]
    else:
        others = [label for label in values if label != reference]
        rng = np.random.default_rng(seed)
        test = stats.dunnett(*(values[o] for o in others), control=values[reference], rng=rng)
        limits = test.confidence_interval(1 - alpha)
        pairs = [((o, reference), limits.low[i], limits.high[i]) for i, o in enumerate(others)]
    method = "Tukey" if reference is None else "Dunnett"
    made = {}
    for (a, b), low, high in pairs:
        e = Estimate(
            float(values[a].mean() - values[b].mean()), float(low), float(high), 1 - alpha, method
        )
        made[a, b] = e.map(math.exp) if ratios else e
    return made
