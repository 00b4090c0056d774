"""Statistical models: every estimate with an interval, every interval with its method.

The functions below take tidy frames (`frames`); the modules beside them take arrays and hold the
methods.
"""

from virtperf.models.fits import Fit, Fits
from virtperf.models.frames import (
    amdahl,
    anova,
    changepoints,
    cost,
    equivalence,
    families,
    line,
    pairs,
    pairwise,
    ratio_of_printed,
    ratios,
    robust_line,
    scaling,
    segmented,
    usl,
)
from virtperf.models.power import power, power_table, runs_needed
from virtperf.models.result import Estimate, Missing
from virtperf.models.shares import shares

__all__ = [
    "Estimate",
    "Fit",
    "Fits",
    "Missing",
    "amdahl",
    "anova",
    "changepoints",
    "cost",
    "equivalence",
    "families",
    "line",
    "pairs",
    "pairwise",
    "power",
    "power_table",
    "ratio_of_printed",
    "ratios",
    "robust_line",
    "runs_needed",
    "scaling",
    "segmented",
    "shares",
    "usl",
]
