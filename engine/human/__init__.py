"""Human-move models: p(move | position, history, rating, clock), and opponent-model search that uses them."""
