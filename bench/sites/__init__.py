"""Soak tests and experiments with the whole program on real and simulated servers."""
