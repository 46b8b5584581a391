"""Research code: the papers' experiments, studies of recorded games, model fitting and training."""
