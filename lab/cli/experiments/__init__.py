"""`desdemona lab`: replicates the papers' experiments."""
