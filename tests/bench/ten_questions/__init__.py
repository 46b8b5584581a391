"""The bench of the ten questions."""
