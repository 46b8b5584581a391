"""The strategies: one object each, with its requirements, choice of moves, and verification of records."""
