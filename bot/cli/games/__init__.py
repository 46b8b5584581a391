"""`desdemona games` and `show`."""
