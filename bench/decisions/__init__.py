"""Decisions of the players: their time, depth, records and correctness."""
