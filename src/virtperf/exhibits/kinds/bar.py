"""Bar figures: what the text allows, means and printed numbers in groups."""

from __future__ import annotations

from virtperf.core.errors import StudyError
from virtperf.exhibits.kinds import Context, Figure, Kind, _figure
from virtperf.exhibits.records import Record
from virtperf.study.definition import Exhibit


def record(context: Context, exhibit: Exhibit, figure: Figure | None = None, *shown: object) -> Record:
    """The figure with its numbers; bars have no fitted curves, and fits are an error."""
    if _figure.fits_among(shown):
        raise StudyError(f"{exhibit.id} is a bar figure, which has no fitted curves",
                         remedy="show the fit's estimates by study.estimates(...).")  # fmt: skip
    return _figure.record(context, exhibit, figure, {})


def draw(context: Context, exhibit: Exhibit, *shown: object) -> Figure:
    """The default picture."""
    from virtperf.exhibits import plot

    return _figure.draw(plot.bars, context, exhibit)


KIND = Kind("bar", record, spec=_figure.Spec, draw=draw, check=_figure.check)
