"""The harness: runs of a study measured as `measure.yaml` says, one folder each."""
