"""Simulated trials: whether the intervals of `storage.evidence.inference` are right as often as they say."""
