"""Bar figures: ranges allowed by the text, means and printed numbers in groups."""

from virtperf.report.kinds._figure import figure_kind

KIND = figure_kind("bar", curves=False)
