"""Figures: seaborn on Matplotlib, for a study's frames and for anybody's own. Change what comes
back as you like.
"""

from virtperf.report.plot.distributions import distribution
from virtperf.report.plot.lines import bars, lines
from virtperf.report.plot.svg import svg
from virtperf.report.plot.theme import theme
from virtperf.report.plot.timeline import timeline

__all__ = ["bars", "distribution", "lines", "svg", "theme", "timeline"]
