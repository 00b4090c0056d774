"""Measurement harness: measures the runs of `measure.yaml`, one folder per run."""
