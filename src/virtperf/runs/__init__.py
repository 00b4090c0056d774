"""Run folders to samples, means and audits."""
