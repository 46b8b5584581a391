"""Attacks on the arena while honest people play: their success, and their effect on others."""
