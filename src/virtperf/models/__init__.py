"""Statistical models: every estimate with an interval, every interval with its method.

The functions below take tidy frames (`frames`); the modules beside them take arrays and hold the methods.
"""

from virtperf.models.fits import Fit, Fits
from virtperf.models.frames import (
    amdahl,
    anova,
    best,
    equivalence,
    line,
    order,
    pairs,
    plateau,
    ratio_of_printed,
    ratios,
    scaling,
    segmented,
    usl,
)
from virtperf.models.result import Estimate, Missing

__all__ = [
    "Estimate", "Fit", "Fits", "Missing", "amdahl", "anova", "best", "equivalence", "line", "order", "pairs", "plateau",
    "ratio_of_printed", "ratios", "scaling", "segmented", "usl",
]  # fmt: skip
