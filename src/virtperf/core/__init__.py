"""Shared foundations: units, files, tables, parameters, paths, provenance and basic statistics."""
