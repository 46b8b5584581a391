"""Replications of experiments from papers; each consists of seeded jobs and a report on their results."""
