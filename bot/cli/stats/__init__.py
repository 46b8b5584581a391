"""`desdemona stats`: statistics of the games."""
