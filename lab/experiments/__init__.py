"""Replications of the papers' experiments: each is a seeded set of jobs, and a report on their results."""
