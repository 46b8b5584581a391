"""`desdemona lab`: replications of the papers' experiments."""
