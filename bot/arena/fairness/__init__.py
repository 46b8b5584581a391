"""Fairness in the arena: clocks that stop during outages, rating rules, and protected names."""
