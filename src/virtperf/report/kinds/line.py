"""Line figures: ranges allowed by the text, means and printed numbers over one factor, optional
fitted curves.
"""

from __future__ import annotations

from virtperf.report.kinds import Context, ExhibitKind, Figure, _figure
from virtperf.report.records import Record
from virtperf.study.definition import Exhibit


def record(
    context: Context, exhibit: Exhibit, figure: Figure | None = None, *shown: object
) -> Record:
    """Build the record of the figure; `shown` are fits by series."""
    return _figure.record(context, exhibit, figure, _figure.collect_fits(shown))


def draw(context: Context, exhibit: Exhibit, *shown: object) -> Figure:
    """Draw the default picture."""
    from virtperf.report import plot

    return _figure.draw(
        plot.lines,
        context,
        exhibit,
        fits=_figure.collect_fits(shown),
        log=bool(exhibit.spec.get("log")),
    )


KIND = ExhibitKind("line", record, spec=_figure.Spec, draw=draw, check=_figure.check)
