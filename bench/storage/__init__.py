"""Benchmarks of the database's use."""
