"""Every model that can be fitted to a table of columns, one entry each; `reports` calls them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from virtperf.models.changepoints import find_changepoints
from virtperf.models.checks import Array
from virtperf.models.families import compare_families
from virtperf.models.linear import fit_line, fit_polynomial, fit_robust_line
from virtperf.models.pairwise import compare_means
from virtperf.models.ratio import ratio_of_means
from virtperf.models.result import Estimate
from virtperf.models.segmented import fit_segmented
from virtperf.models.tost import tost_difference, tost_ratio
from virtperf.models.usl import compare_usl, fit_usl
from virtperf.models.usl_cost import fit_usl_cost
from virtperf.models.variance import fit_anova

CURVE, SAMPLES, FACTORS = "curve", "samples", "factors"
MEANS, FAMILIES, SERIES = "means", "families", "series"
"""What a model takes: rows with x and y; two sets of replicates of y; y with the levels of one or
two factors; several sets of replicates; rows with x and y, of which many curves are made; y in the
order of the rows."""

TAKES: Mapping[str, tuple[bool, int, int]] = {
    CURVE: (True, 0, 1),
    SAMPLES: (False, 1, 1),
    FACTORS: (False, 1, 2),
    MEANS: (False, 1, 1),
    FAMILIES: (True, 0, 1),
    SERIES: (True, 0, 1),
}
"""Of each kind of model: whether it takes an x, and the fewest and the most columns that tell
groups or levels.
"""


@dataclass(frozen=True)
class Model:
    """How a model is called.

    Attributes
    ----------
    takes : str
        One of `TAKES`.
    settings : mapping
        Keyword arguments that make the function this model.
    quantities : mapping of str to callable
        Derived quantities of a curve: (fit, alpha) to `Estimate`.
    tests : mapping of str to callable
        Tests of a curve: fit to `FTest` or `BreakTest`, or to None where the rows are not of the
        kind that it takes.
    margin, noise, weighted : bool
        Whether it needs a margin that is declared beforehand; can take the noise as proportional;
        rows with weights.
    """

    title: str
    takes: str
    function: Callable[..., Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    quantities: Mapping[str, Callable[..., Estimate]] = field(default_factory=dict)
    tests: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    margin: bool = False
    noise: bool = True
    weighted: bool = True


@dataclass(frozen=True)
class Sample:
    """The rows of one group.

    Attributes
    ----------
    label : str
        The group.
    y, x, weights : ndarray, shape (n,)
    factors : mapping of str to sequence
        Levels of each row by factor, for models that take them all at once.
    name : str
        What y is.
    order : sequence
        x as it stands in the table, for a series.
    """

    label: str
    y: Array
    x: Array | None = None
    weights: Array | None = None
    factors: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    name: str = "y"
    order: Sequence[Any] = ()


@dataclass(frozen=True)
class Options:
    """What is asked of a model.

    Attributes
    ----------
    alpha : float
        One minus the confidence level; the size of each one-sided test of an equivalence.
    margin : float, optional
        Of an equivalence: a difference m stands for -m to m, a ratio m above 1 for 1/m to m.
    paired : bool
        Rows of two samples of replicates belong together.
    at : tuple of float
        x at which a curve is predicted.
    processors : float, optional
        For `cost`: how many there are.
    asked : tuple of (str, tuple of float)
        Methods of a fitted curve and what they take before alpha, for example ``("loss",
        (0.05,))``.
    reference : str, optional
        For `pairwise`: the sample that the others are compared with.
    """

    alpha: float
    noise: str = "proportional"
    margin: float | None = None
    paired: bool = False
    at: tuple[float, ...] = ()
    processors: float | None = None
    asked: tuple[tuple[str, tuple[float, ...]], ...] = ()
    reference: str | None = None


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
    "scaling": Model(
        "The smallest of linear scaling, Amdahl's law and the USL that the rows ask for",
        CURVE,
        compare_usl,
        {},
        _PEAK | _LAW,
        _FIT,
    ),
    "usl": Model("Universal Scalability Law", CURVE, fit_usl, {"kind": "usl"}, _PEAK | _LAW, _FIT),
    "amdahl": Model("Amdahl's law", CURVE, fit_usl, {"kind": "amdahl"}, _LAW, _FIT),
    "linear-scaling": Model(
        "Linear scaling through the origin", CURVE, fit_usl, {"kind": "linear"}, {}, _FIT
    ),
    "cost": Model(
        "Processors busy for each unit of throughput, against the load", CURVE, fit_usl_cost
    ),
    "line": Model("Straight line", CURVE, fit_line, {}, {}, _LINE),
    "line-hc3": Model(
        "Straight line, intervals robust against unequal variances (HC3)",
        CURVE,
        fit_line,
        {"cov_type": "HC3"},
        {},
        _LINE,
        noise=False,
    ),
    "line-huber": Model(
        "Straight line that outliers hardly move (Huber's M estimator); they are named",
        CURVE,
        fit_robust_line,
        noise=False,
        weighted=False,
    ),
    "parabola": Model("Parabola", CURVE, fit_polynomial, {"degree": 2}, {}, _FIT),
    "segmented": Model("Two straight pieces", CURVE, fit_segmented, {"form": "free"}, {}, _BREAK),
    "plateau-decline": Model(
        "A plateau, then a slope", CURVE, fit_segmented, {"form": "plateau-decline"}, {}, _BREAK
    ),
    "rise-plateau": Model(
        "A slope, then a plateau", CURVE, fit_segmented, {"form": "rise-plateau"}, {}, _BREAK
    ),
    "families": Model(
        "All these families of curves compared: AICc and lack of fit", FAMILIES, compare_families
    ),
    "ratio": Model(
        "Ratio of two means (proportional noise; constant: Fieller's interval)",
        SAMPLES,
        ratio_of_means,
    ),
    "log-ratio": Model(
        "Ratio of two positive means, each with its own variance (log scale)",
        SAMPLES,
        ratio_of_means,
        {"method": "log"},
        noise=False,
    ),
    "equivalence": Model(
        "Whether two means differ by less than a margin",
        SAMPLES,
        tost_difference,
        margin=True,
        noise=False,
    ),
    "equivalence-ratio": Model(
        "Whether the ratio of two means lies within a factor", SAMPLES, tost_ratio, margin=True
    ),
    "pairwise": Model(
        "All pairs of several means (Tukey), or each against --to (Dunnett)", MEANS, compare_means
    ),
    "anova": Model(
        "Analysis of variance with one factor, or two that may act together", FACTORS, fit_anova
    ),
    "anova-additive": Model(
        "Analysis of variance with two factors whose effects add",
        FACTORS,
        fit_anova,
        {"interaction": False},
    ),
    "changepoints": Model(
        "Where a series of revisions or dates changes (E-divisive, permutation test)",
        SERIES,
        find_changepoints,
    ),
}
"""All models by the name under which the command line knows them."""
