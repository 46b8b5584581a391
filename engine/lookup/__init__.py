"""Moves found without a search: opening books and endgame tablebases."""
