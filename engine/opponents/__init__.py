"""Whom we play: how deep an opponent searches, and what a position is worth against this opponent."""
