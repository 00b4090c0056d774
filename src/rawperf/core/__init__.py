"""Shared by all readers: errors, units, typed YAML files, the metric dictionary."""
