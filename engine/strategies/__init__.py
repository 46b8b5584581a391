"""Kinds of players, one object each: what it needs, how it chooses, and how its records are verified."""
