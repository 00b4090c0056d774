"""Every model that can be fitted to a table of columns, one entry each; `reports` calls them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from virtperf.models.result import Estimate

CURVE, SAMPLES, CROSSING, FACTORS, TREATMENT = "curve", "samples", "crossing", "factors", "treatment"
"""What a model takes: rows with x and y; two sets of replicates of y; two sets of rows with x and y; y with the levels
of one or two factors; y with the levels of a treatment and of a group that stands for others."""


TAKES: Mapping[str, tuple[bool, int, int]] = {
    CURVE: (True, 0, 1), SAMPLES: (False, 1, 1), CROSSING: (True, 1, 1), FACTORS: (False, 1, 2),
    TREATMENT: (False, 2, 2),
}  # fmt: skip
"""Of each kind of model: whether it takes an x, and the fewest and the most columns that tell groups or levels."""


@dataclass(frozen=True)
class Model:
    """How a model is called.

    Attributes
    ----------
    title : str
    takes : str
        `CURVE`, `SAMPLES`, `CROSSING`, `FACTORS` or `TREATMENT`.
    function : str
        ``module.function`` within `virtperf.models`; imported when it is called, since statsmodels takes a second.
    settings : mapping
        Keyword arguments that make the function this model.
    quantities : mapping of str to callable
        Derived quantities of a curve: (fit, alpha) to `Estimate`.
    tests : mapping of str to callable
        Tests of a curve: fit to `FTest` or `BreakTest`, or to None where the rows are not of the kind that it takes.
    crossing : str
        For `CROSSING`: the function that takes two fits.
    margin : bool
        Whether the model needs a margin that is declared beforehand.
    """

    title: str
    takes: str
    function: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    quantities: Mapping[str, Callable[[Any, float], Estimate]] = field(default_factory=dict)
    tests: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    crossing: str = ""
    margin: bool = False


_LAW = {
    "asymptote": lambda fit, alpha: fit.asymptote(alpha),
    "efficiency_at_largest_load": lambda fit, alpha: fit.efficiency(float(fit.x.max()), alpha),
}
_PEAK = {
    "peak_load": lambda fit, alpha: fit.peak_load(alpha),
    "peak_throughput": lambda fit, alpha: fit.peak_throughput(alpha),
}
_FIT = {"lack_of_fit": lambda fit: fit.lack_of_fit() if len(np.unique(fit.x)) < fit.nobs else None}
_LINE = {"linearity": lambda fit: fit.linearity_test(), **_FIT}
_BREAK = {"break": lambda fit: fit.break_test(), **_FIT}

CATALOG: Mapping[str, Model] = {
    "scalability": Model("The smallest of linear scaling, Amdahl's law and the USL that the rows ask for", CURVE,
                         "usl.compare_usl", {}, _PEAK | _LAW, _FIT),
    "usl": Model("Universal Scalability Law", CURVE, "usl.fit_usl", {"kind": "usl"}, _PEAK | _LAW, _FIT),
    "amdahl": Model("Amdahl's law", CURVE, "usl.fit_usl", {"kind": "amdahl"}, _LAW, _FIT),
    "linear-scaling": Model("Linear scaling through the origin", CURVE, "usl.fit_usl", {"kind": "linear"}, {}, _FIT),
    "line": Model("Straight line", CURVE, "linear.fit_line", {}, {}, _LINE),
    "line-robust": Model("Straight line, intervals robust against unequal variances (HC3)", CURVE, "linear.fit_line",
                         {"cov_type": "HC3"}, {}, _LINE),
    "parabola": Model("Parabola", CURVE, "linear.fit_polynomial", {"degree": 2}, {}, _FIT),
    "segmented": Model("Two straight pieces", CURVE, "segmented.fit_segmented", {"form": "free"}, {}, _BREAK),
    "plateau-decline": Model("A plateau, then a slope", CURVE, "segmented.fit_segmented", {"form": "plateau-decline"},
                             {}, _BREAK),
    "rise-plateau": Model("A slope, then a plateau", CURVE, "segmented.fit_segmented", {"form": "rise-plateau"}, {},
                          _BREAK),
    "ratio": Model("Ratio of two means (Fieller's interval)", SAMPLES, "ratio.ratio_of_means"),
    "log-ratio": Model("Ratio of two positive means (interval on the log scale)", SAMPLES, "ratio.ratio_of_means",
                       {"method": "log"}),
    "equivalence": Model("Whether two means differ by less than a margin", SAMPLES, "equivalence.tost_difference",
                         margin=True),
    "equivalence-ratio": Model("Whether the ratio of two means lies within a factor", SAMPLES, "equivalence.tost_ratio",
                               margin=True),
    "line-crossing": Model("Where two straight lines cross", CROSSING, "linear.fit_line",
                           crossing="crossover.line_crossover"),
    "usl-crossing": Model("Where two scalability curves cross", CROSSING, "usl.fit_usl", {"kind": "usl"},
                          crossing="usl_crossing.usl_crossover"),
    "anova": Model("Analysis of variance with one factor, or two that may act together", FACTORS, "anova.fit_anova"),
    "anova-additive": Model("Analysis of variance with two factors whose effects add", FACTORS, "anova.fit_anova",
                            {"interaction": False}),
    "mixed": Model("Difference that a treatment makes over groups that stand for others", TREATMENT,
                   "mixed.overall_effect"),
    "mixed-ratio": Model("Ratio that a treatment makes over groups that stand for others", TREATMENT,
                         "mixed.overall_effect", {"log": True}),
}  # fmt: skip
"""All models by the name under which the command line knows them."""
