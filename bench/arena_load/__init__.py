"""Benchmarks of the arena under attacks, with many spectators, and with random requests."""
