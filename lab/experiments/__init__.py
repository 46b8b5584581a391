"""Replications of the papers' experiments; each consists of seeded jobs and a report on their results."""
