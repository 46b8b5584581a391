"""The papers' experiments, repeated: each is a set of jobs by a seed, and a report on their results."""
