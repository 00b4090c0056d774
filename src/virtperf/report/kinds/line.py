"""Line figures: ranges allowed by the text, means and printed numbers over one factor, optional
fitted curves.
"""

from virtperf.report.kinds._figure import figure_kind

KIND = figure_kind("line", curves=True)
