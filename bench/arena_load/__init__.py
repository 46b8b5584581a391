"""Benchmarks of the arena: under attack, with many spectators, and with random requests."""
