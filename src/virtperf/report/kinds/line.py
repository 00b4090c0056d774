"""Line figures: what the text allows, means and printed numbers over one factor, fitted curves on
request.
"""

from __future__ import annotations

from virtperf.report.kinds import Context, ExhibitKind, Figure, _figure
from virtperf.report.records import Record
from virtperf.study.definition import Exhibit


def record(
    context: Context, exhibit: Exhibit, figure: Figure | None = None, *shown: object
) -> Record:
    """The figure with its numbers; `shown` are fits by series."""
    return _figure.record(context, exhibit, figure, _figure.fits_among(shown))


def draw(context: Context, exhibit: Exhibit, *shown: object) -> Figure:
    """The default picture."""
    from virtperf.report import plot

    return _figure.draw(
        plot.lines,
        context,
        exhibit,
        fits=_figure.fits_among(shown),
        log=bool(exhibit.spec.get("log")),
    )


KIND = ExhibitKind("line", record, spec=_figure.Spec, draw=draw, check=_figure.check)
