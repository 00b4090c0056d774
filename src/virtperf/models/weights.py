"""Weights for noise that grows with what is measured."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from virtperf.models import checks
from virtperf.models.checks import Array


def relative_weights(x: ArrayLike, y: ArrayLike) -> Array:
    """Return weights for noise whose standard deviation is a share of the mean: one over the squared mean at each x.

    Runs of computers often repeat within so many per cent, whatever the size of the number. A fit that takes the noise
    as equal everywhere then has intervals of the wrong width (docs/calibration.md has how wrong); with these weights it
    has not. The weights are the same for all rows of equal x, so that they don't favour rows that happen to be low;
    without replicates they do.

    Parameters
    ----------
    x : array_like, shape (n,) or (n, k)
        Rows with equal x are replicates.
    y : array_like, shape (n,)
        Positive.

    Raises
    ------
    ModelError
        For an x that is not finite, or a y that is not positive.
    """
    values = checks.column(y, "y", positive=True)
    points = checks.rows(x, "x")
    checks.same_length(("x", points), ("y", values))
    _, group = np.unique(points, axis=0, return_inverse=True)
    group = np.asarray(group).ravel()
    return (np.bincount(group, values) / np.bincount(group))[group] ** -2.0
