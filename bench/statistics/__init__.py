"""Simulated trials: coverage of the intervals of `storage.evidence.inference`."""
