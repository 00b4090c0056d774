"""Bar figures: ranges allowed by the text, means and printed numbers in groups."""

from __future__ import annotations

from rawperf.core.errors import StudyError
from virtperf.report.kinds import Context, ExhibitKind, Figure, _figure
from virtperf.report.records import Record
from virtperf.study.definition import Exhibit


def record(
    context: Context, exhibit: Exhibit, figure: Figure | None = None, *shown: object
) -> Record:
    """Build the record of the figure; fits raise `StudyError`, since bars have no fitted curves."""
    if _figure.collect_fits(shown):
        raise StudyError(
            f"{exhibit.id} is a bar figure, which has no fitted curves",
            remedy="show the fit's estimates by study.estimates(...).",
        )
    return _figure.record(context, exhibit, figure, {})


def draw(context: Context, exhibit: Exhibit, *shown: object) -> Figure:
    """Draw the default picture."""
    from virtperf.report import plot

    return _figure.draw(plot.bars, context, exhibit)


KIND = ExhibitKind("bar", record, spec=_figure.Spec, draw=draw, check=_figure.check)
