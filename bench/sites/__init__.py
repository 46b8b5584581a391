"""Benchmarks of one program at several servers."""
