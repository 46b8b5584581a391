"""Decisions of the strategies: their time, depth, records and correctness."""
