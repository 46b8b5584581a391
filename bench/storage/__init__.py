"""Benchmarks of database operations."""
