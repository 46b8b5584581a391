"""`desdemona db copy`, `backup`, `vacuum` and `prune`: the care of a database over months."""
