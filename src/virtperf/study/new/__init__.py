"""Scaffolding of a new study: commented files that the whole pipeline accepts."""
