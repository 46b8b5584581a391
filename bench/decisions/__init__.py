"""Benchmarks of the strategies' decisions: time, depth, records and correctness."""
