"""Strategies that choose among the moves nearly as good as the best of the strong search."""
