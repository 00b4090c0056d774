"""Reproducible virtualization performance studies: from raw run files to a report that shows its evidence."""

__version__ = "0.1.0"
