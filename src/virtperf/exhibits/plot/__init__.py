"""Figures: seaborn on Matplotlib, for a study's frames and for anybody's own. Change what comes back as you like."""

from virtperf.exhibits.plot.lines import bars, lines
from virtperf.exhibits.plot.svg import svg
from virtperf.exhibits.plot.theme import theme
from virtperf.exhibits.plot.timeline import timeline

__all__ = ["bars", "lines", "svg", "theme", "timeline"]
