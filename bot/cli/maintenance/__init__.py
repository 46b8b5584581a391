"""`desdemona db copy`, `backup`, `vacuum` and `prune`: long-term maintenance of a database."""
