"""Joint confidence regions of straight lines, with the printed pairs of intercept and slope."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from virtperf.exhibits.kinds import Context, Kind, analysis
from virtperf.exhibits.kinds._figure import drawing
from virtperf.exhibits.origins import one_origin
from virtperf.exhibits.records import Numbers, Record
from virtperf.exhibits.wording import interval, pretty

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Pairs = Mapping[str, tuple[float, float]]


def record(
    context: Context, figure: Figure | None, fits: Mapping[str, Any], published: Pairs, *, title: str,
    axes: tuple[str, str],
) -> Record:  # fmt: skip
    """The regions with their numbers.

    Parameters
    ----------
    fits : mapping
        Label to a fitted line (`joint_region`, `joint_test`, `params`, `origin`), or to one that could not be had.
    published : mapping
        Label to the printed (intercept, slope), for those that have one.
    axes : tuple of str
        What intercept and slope are, with units.

    Raises
    ------
    ProvenanceError
        A fit does not say what it was computed from, or not the truth.
    """
    origin = one_origin(context.data, fits)
    said = []
    rings, centres = _rings(fits, context.level), _centres(fits)
    for label in centres:
        pair, ring = published.get(label), rings[rings["line"] == label]
        test = fits[label].joint_test(intercept=pair[0], slope=pair[1]) if pair else None
        verdict = "none printed" if test is None else "inside" if test.pvalue > 1 - context.level else "outside"
        ends = [interval(ring[name].min(), ring[name].max()) for name in ("intercept", "slope")]
        words = f"{label}: intercept {ends[0]}, slope {ends[1]}"
        printed = f"; the printed pair {pretty(pair[0])}, {pretty(pair[1])} is {verdict}" if pair else ""
        said.append(f"{words}{printed}.")
    said += [f"{label}: {fit.reason}" for label, fit in fits.items() if label not in centres]
    caption = " ".join(said)
    pairs = pd.DataFrame(
        [(label, *centre, *published.get(label, (math.nan, math.nan))) for label, centre in centres.items()],
        columns=["line", "intercept", "slope", "printed_intercept", "printed_slope"],
    )  # fmt: skip
    made = analysis(context, "regions", title, origin, rings, caption=caption,
                    name=f"Joint {pretty(100 * context.level)} % regions")  # fmt: skip
    numbers = (*made.numbers, Numbers.of(pairs, f"{context.study.id}-{made.id}-lines", words=""))
    picture = drawing(figure, made.id, title, caption, numbers)
    return made.model_copy(update={"numbers": numbers, "drawing": picture})


def draw(
    context: Context, fits: Mapping[str, Any], published: Pairs, *, title: str, axes: tuple[str, str]
) -> Figure | None:
    """The default picture; None where no fit could be had."""
    from virtperf.exhibits import plot

    rings = _rings(fits, context.level)
    if rings.empty:
        return None
    return plot.regions(rings, centres=_centres(fits), axes=axes, published=published, level=context.level)


def _centres(fits: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Intercept and slope of the fits that could be had."""
    return {label: (float(fit.params[0]), float(fit.params[1])) for label, fit in fits.items()
            if getattr(fit, "available", True)}  # fmt: skip


def _rings(fits: Mapping[str, Any], level: float) -> pd.DataFrame:
    parts = [
        pd.DataFrame(fits[label].joint_region(1 - level), columns=["intercept", "slope"]).assign(line=label)
        for label in _centres(fits)
    ]
    columns = ["line", "intercept", "slope"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


KIND = Kind("regions", record, draw=draw)
