"""Kinds of players, one object each, with requirements, choice, and verification of records."""
