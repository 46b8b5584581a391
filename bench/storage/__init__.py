"""Benchmarks of database use."""
