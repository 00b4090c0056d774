"""Site pages over all studies and of each study, beside the reports."""
