"""Experiments' results."""
