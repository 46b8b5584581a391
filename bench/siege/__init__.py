"""Attacks on the arena while honest people play: what they get, and what the others notice of it."""
