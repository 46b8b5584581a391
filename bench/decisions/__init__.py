"""Decisions of the players: their time, depth and records, and whether they are the right ones."""
