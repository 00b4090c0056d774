"""Summary metrics of a study for `dvc metrics` and `dvc plots`: widths of point ranges, verdict
counts.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from virtperf.core.levels import level_text
from virtperf.core.provenance import Provenance
from virtperf.core.verdicts import Verdict
from virtperf.report.frames import StudyData
from virtperf.report.kinds.contradictions import contradictions_by_origin
from virtperf.study.conditions import OWN_SCALE, means_by_quantity
from virtperf.study.definition import Study

PERCENTS = (5, 10)  # thresholds on the half-width of a range, in percent of its middle
MIN_POINTS = 4  # fewest points of a figure that can represent its study
TEXT_VERDICTS = (
    Verdict.CORROBORATED,
    Verdict.INDEPENDENT,
    Verdict.DEPENDS,
    Verdict.CONTRADICTED,
    Verdict.CONVENTION,
)
COUNTED_VERDICTS = (Verdict.REPRODUCED, Verdict.REFUTED, Verdict.UNDECIDED, Verdict.NO_MEASUREMENT)


@dataclass(frozen=True)
class PointPrecision:
    """Precision of the plotted points by the text: number of points without reference points (100
    by convention), number with a range at most as wide as each of `PERCENTS`, number without an
    upper limit.
    """

    points: int
    within: tuple[int, ...]
    open_ended: int


def point_precision(data: StudyData, *, assumptions: bool = True) -> PointPrecision:
    """Count points by the relative half-width of their range, with or without our assumptions."""
    free, suffix = _free_points(data.study, data.points), "" if assumptions else "_text"
    widths = _half_widths(free[f"low{suffix}"], free[f"high{suffix}"])
    within = tuple(int((widths <= most).sum()) for most in PERCENTS)
    return PointPrecision(len(free), within, int(np.isinf(free[f"high{suffix}"]).sum()))


def limits_set(data: StudyData) -> dict[str, int]:
    """Number of limits of plotted points that each of our assumptions sets; without those that set none."""
    assumed = {claim.id for claim in data.claims or () if claim.assumed}
    cells = [*data.points["low_by"], *data.points["high_by"]]
    return dict(Counter(c for cell in cells for c in cell if c in assumed))


def key_numbers(data: StudyData) -> dict[str, Any]:
    """Counts of a study's points, claims, contradictions, runs and audits, and its measured means.

    Reference points (100 by convention) and our assumptions do not count.
    """
    with_assumptions, text_alone = point_precision(data), point_precision(data, assumptions=False)
    assumed = {claim.id for claim in data.claims or () if claim.assumed}
    claims = data.claim_results[~data.claim_results["claim"].isin(assumed)]
    verdicts = data.verdicts[~data.verdicts["claim"].isin(assumed)]
    runs = data.series.groupby("provenance")["run_id"].nunique()
    return {
        "points": {
            "all": with_assumptions.points,
            **{
                f"within_{p}_percent": n
                for p, n in zip(PERCENTS, with_assumptions.within, strict=True)
            },
            **{
                f"within_{p}_percent_by_the_text_alone": n
                for p, n in zip(PERCENTS, text_alone.within, strict=True)
            },
            "without_upper_limit": with_assumptions.open_ended,
        },
        "claims": {
            "all": len(claims),
            "by_the_text": _count_verdicts(claims["text_verdict"], TEXT_VERDICTS),
            "by_measurement": _count_verdicts(verdicts["measured_verdict"], COUNTED_VERDICTS),
        },
        "contradictions": contradictions_by_origin(data)["paper"],
        "runs": {
            **{name: int(runs.get(name, 0)) for name in ("measured", "example")},
            "quarantined": len(data.index.get("quarantined", ())),
        },
        "audits": {
            "all": len(data.audits),
            "failed": int((data.audits["status"] == "violated").sum()),
        },
        **({"means": means} if (means := measured_means(data)) else {}),
    }


def measured_means(data: StudyData) -> dict[str, dict[str, dict[str, float | None]]]:
    """Mean of every quantity over the measured runs of each condition, with its interval, in the
    unit of the runs.

    A condition is named by the factors with several levels for the quantity, if not at their
    default.
    """
    by_quantity = means_by_quantity(data.study, data.means).items()
    own = {q: mean for (q, *of), mean in by_quantity if of == [Provenance.MEASURED, OWN_SCALE]}
    levels = Counter(
        (name, factor) for name, (factor, _) in {(q.name, at) for q in own for at in q.at}
    )
    means: dict[str, dict[str, dict[str, float | None]]] = {}
    for quantity in sorted(own):
        named = [
            f"{factor}={level_text(level)}"
            for factor, level in quantity.at
            if levels[quantity.name, factor] > 1 and level != data.study.factors[factor].default
        ]
        mean = own[quantity]
        means.setdefault(quantity.name, {})[",".join(named) or "default"] = {
            "mean": _round(mean.value),
            "low": _round(mean.low),
            "high": _round(mean.high),
            "n": mean.n,
        }
    return means


def means_table(data: StudyData) -> pd.DataFrame:
    """`measured_means` as a table, one row a quantity and condition with a finite mean.

    Columns: `quantity`, `condition`, `mean`, `low`, `high` (in the unit of the runs), `n` (runs). A
    limit that is not finite is empty.
    """
    rows = [
        {"quantity": quantity, "condition": condition, **mean}
        for quantity, conditions in measured_means(data).items()
        for condition, mean in conditions.items()
        if mean["mean"] is not None
    ]
    return pd.DataFrame(rows, columns=["quantity", "condition", "mean", "low", "high", "n"])


def _round(value: float) -> float | None:
    """Round to five significant digits, which agree across machines; None if not finite."""
    return float(f"{value:.5g}") if math.isfinite(value) else None


def width_table(data: StudyData) -> pd.DataFrame:
    """Half-widths of the ranges of plotted points, in ascending order.

    Columns: `share_of_points` (cumulative, in percent), `half_width` (in percent of the range's
    middle), `exhibit`, `series`, `x`. Points without an upper limit have no row, so the share stays
    below 100.
    """
    free = _free_points(data.study, data.points)
    table = free[["exhibit", "series", "x"]].assign(
        half_width=_half_widths(free["low"], free["high"]).round(4)
    )
    table = table[np.isfinite(table["half_width"])].sort_values("half_width", kind="stable")
    share = 100 * np.arange(1, len(table) + 1) / max(len(free), 1)
    table.insert(0, "share_of_points", share.round(3))
    return table[["share_of_points", "half_width", "exhibit", "series", "x"]].reset_index(drop=True)


def best_known(data: StudyData) -> str:
    """Figure with the largest share of points within ±10 %, among those with `MIN_POINTS` points;
    "" without one.
    """
    free = _free_points(data.study, data.points)
    within = (_half_widths(free["low"], free["high"]) <= PERCENTS[-1]).groupby(
        free["exhibit"], sort=False
    )
    shares = within.mean()[within.size() >= MIN_POINTS]
    return str(shares.idxmax()) if len(shares) else ""


def _free_points(study: Study, points: pd.DataFrame) -> pd.DataFrame:
    """Drop reference points, which are 100 by convention."""
    fixed = {
        (exhibit.id, series.label, level)
        for exhibit in study.exhibits
        for series, level, quantity in study.points(exhibit)
        if (study.reference_for(quantity) or (None,))[0] == quantity
    }
    keys = zip(points["exhibit"], points["series"], points["x"], strict=True)
    return points[np.array([key not in fixed for key in keys], dtype=bool)]


def _half_widths(low: pd.Series, high: pd.Series) -> pd.Series:
    """Half-widths in percent of the middle; NaN without an upper limit, 0 if both limits are 0."""
    middle = low + high
    widths = 100 * (high - low) / middle.where(middle > 0)
    return widths.where(np.isfinite(high)).mask((high <= 0) & np.isfinite(low), 0.0)


def _count_verdicts(verdicts: pd.Series, words: tuple[str, ...]) -> dict[str, int]:
    counts = verdicts.value_counts()
    return {
        word.replace(" ", "_"): int(counts.get(word, 0))
        for word in (*words, *sorted(set(counts.index) - {*words}))
    }
