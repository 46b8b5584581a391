"""`desdemona experiment`: the papers' experiments, repeated."""
