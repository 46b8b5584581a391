"""`desdemona page`."""
