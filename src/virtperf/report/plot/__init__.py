"""Figures with seaborn on Matplotlib, for frames of a study or of any other source; the returned
figure can be changed freely.
"""

from virtperf.report.plot.cumulative_distributions import distribution
from virtperf.report.plot.lines import bars, lines
from virtperf.report.plot.order_chart import order
from virtperf.report.plot.rows import rows
from virtperf.report.plot.svg import svg
from virtperf.report.plot.theme import NARROW_WIDTH, series_styles, theme
from virtperf.report.plot.timeline import timeline

__all__ = [
    "NARROW_WIDTH",
    "bars",
    "distribution",
    "lines",
    "order",
    "rows",
    "series_styles",
    "svg",
    "theme",
    "timeline",
]
