"""`desdemona stats`: what the games add up to."""
