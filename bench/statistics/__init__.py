"""Simulated trials: whether the intervals of `storage.inference` are right as often as they say."""
