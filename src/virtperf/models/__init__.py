"""Statistical models: every estimate with an interval, every interval with its method.

Functions of frames (`usl`, `line`, `ratios`, ...) take a tidy frame and column names; functions of
arrays (`fit_usl`, `fit_line`, `ratio_of_means`, ...) implement the methods.
"""

from virtperf.core.estimate import Estimate, Estimates, Missing
from virtperf.models.fits import (
    Fits,
    amdahl,
    closed,
    line,
    robust_line,
    scaling,
    segmented,
    usl,
)
from virtperf.models.formula import contrasts
from virtperf.models.planning import stop_when, variance_components
from virtperf.models.power import power, power_table, runs_needed
from virtperf.models.queueing import fit_closed, mmc, mva
from virtperf.models.result import FitResult
from virtperf.models.segmented import fit_segmented
from virtperf.models.straight_line import fit_line, fit_robust_line
from virtperf.models.two_means import difference_of_means, ratio_of_means, ratio_of_pairs
from virtperf.models.two_sides import (
    differences,
    pairs,
    ratio_of_printed,
    ratios,
    ratios_over,
)
from virtperf.models.usl import fit_scaling, fit_usl

__all__ = [
    "Estimate",
    "Estimates",
    "FitResult",
    "Fits",
    "Missing",
    "amdahl",
    "closed",
    "contrasts",
    "difference_of_means",
    "differences",
    "fit_closed",
    "fit_line",
    "fit_robust_line",
    "fit_scaling",
    "fit_segmented",
    "fit_usl",
    "line",
    "mmc",
    "mva",
    "pairs",
    "power",
    "power_table",
    "ratio_of_means",
    "ratio_of_pairs",
    "ratio_of_printed",
    "ratios",
    "ratios_over",
    "robust_line",
    "runs_needed",
    "scaling",
    "segmented",
    "stop_when",
    "usl",
    "variance_components",
]
