"""Ingest: run folders, measured and examples, parsed to tidy samples."""
