"""`desdemona lab`: the papers' experiments, repeated."""
