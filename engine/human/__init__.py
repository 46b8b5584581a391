"""Human-move models: p(move | position, history, rating, clock), and opponent-model search with them."""
