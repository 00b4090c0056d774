"""Processing of run folders to samples, means and audits."""
