"""All results of a measured study, as its study.yaml declares them: figures, fits, comparisons with
a baseline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from virtperf import models
from virtperf.report.axis_words import level_words
from virtperf.report.from_runs import ratio
from virtperf.report.kinds import spec_of
from virtperf.report.show import Shown
from virtperf.report.wording import exhibit_name, plural, pretty
from virtperf.study.definition import Exhibit, Factor

if TYPE_CHECKING:
    from virtperf.report.loaded import LoadedStudy

Asked = Mapping[str, Callable[[Any, float], Any]]

_LAW: Asked = {
    "{x} at the highest {y}": lambda fit, alpha: fit.peak_load(alpha),
    "highest {y}": lambda fit, alpha: fit.peak_throughput(alpha),
}
FITS: Mapping[str, tuple[Callable[..., Any], str, Asked]] = {
    "scaling": (
        models.scaling,
        "Scaling law (the simplest of linear, Amdahl and USL that fits)",
        _LAW,
    ),
    "usl": (models.usl, "Universal Scalability Law", _LAW),
    "line": (
        models.line,
        "Straight line",
        {
            "change of {y} with each step of {x} by one": lambda fit, alpha: fit.slope(alpha),
            "{y} at 0": lambda fit, alpha: fit.intercept(alpha),
        },
    ),
    "segmented": (
        models.segmented,
        "Two straight pieces",
        {
            "{x} at the break": lambda fit, alpha: fit.breakpoint(alpha),
            "slope before": lambda fit, alpha: fit.estimate("slope1", alpha),
            "slope after": lambda fit, alpha: fit.estimate("slope2", alpha),
        },
    ),
}
"""By the word of `fit` in study.yaml: the function of `virtperf.models`, its name, and what is
estimated.
"""


def results(study: LoadedStudy, exhibits: Iterable[Exhibit]) -> Iterator[Shown]:
    """The exhibits, each with what its entry in study.yaml asks for.

    `fit` draws curves through the runs and tables what they estimate. `baseline` (``{factor:
        level}``, or
    ``{series: label}``) tables the ratio of every condition to that one: within replicates, where
    both have them, since replicates are blocks of runs made one after another.
    """
    for exhibit in exhibits:
        if not exhibit.series or exhibit.kind == "timeseries":
            yield study.show(exhibit.id)
            continue
        spec, runs = spec_of(exhibit), study.runs(exhibit.id)
        alpha, factor = 1 - study.context.level, study.study.factors[exhibit.series[0].over]
        title = f"{exhibit_name(exhibit.id, 'figure')}. {exhibit.title}"
        if spec.fit and len(runs):
            function, words, asked = FITS[spec.fit]
            fits = function(f"value ~ {factor.name}", runs, by="series")
            yield study.show(exhibit.id, fits)
            named = {
                "x": factor.label,
                "y": study.study.quantities[exhibit.series[0].quantity].label.lower(),
            }
            found = {
                label: {
                    ask.format(**named): warned(get(fit, alpha), fit, alpha)
                    for ask, get in asked.items()
                }
                for label, fit in fits.items()
            }
            yield study.estimates(found, title=f"{title}: {words}")
        else:
            yield study.show(exhibit.id)
        for column, level in spec.baseline.items():
            ratios = to_baseline(runs, column, level, factor, alpha)
            if any(found.available for found in ratios.values()):  # one run a condition gives none
                against = level_words(factor, level) if column == factor.name else str(level)
                yield study.estimates(ratios, title=f"{title}: ratio to {against}")


def warned(estimate: Any, fit: Any, alpha: float) -> Any:
    """The estimate, with a warning where the runs reject the curve: by how much it misses a mean,
    and the p-value.
    """
    test = fit.lack_of_fit() if estimate.available else estimate
    if not test.available or test.pvalue >= alpha:
        return estimate
    means = (
        pd.DataFrame({"x": fit.x, "measured": fit.y, "fitted": fit.y - fit.resid})
        .groupby("x")
        .mean()
    )
    miss = 100 * (means["fitted"] / means["measured"] - 1).abs().max()
    p = "below 0.0001" if test.pvalue < 1e-4 else f"= {pretty(test.pvalue, 2)}"
    missed = f"misses a mean by {pretty(miss, 2)} %, more than the spread of the runs explains"
    return replace(
        estimate, warnings=(*estimate.warnings, f"lack of fit: the curve {missed} (p {p})")
    )


def to_baseline(
    runs: pd.DataFrame, column: str, level: Any, factor: Factor, alpha: float
) -> dict[str, Any]:
    """Ratios of every other level of a column to one of them, at each level of the other column."""
    other = "series" if column == factor.name else factor.name
    found: dict[str, Any] = {}
    for at in dict.fromkeys(runs[other]):
        rows = runs[runs[other] == at]
        for name in dict.fromkeys(rows[column]):
            if name == level or level not in set(rows[column]):
                continue
            words = (
                (str(at), level_words(factor, name))
                if other == "series"
                else (str(name), level_words(factor, at))
            )
            found_ratio, kept = ratio(rows, {column: name}, {column: level}, alpha, blocks=True)
            count = plural(int((kept[column] == name).sum()), "run")
            found[f"{', '.join(words)} ({count})"] = found_ratio
    return found
