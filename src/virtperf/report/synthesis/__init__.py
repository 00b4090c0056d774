"""Synthesis over all studies: joint questions, comparison of shared quantities, capacities."""
