"""Inference for trials: intervals by person, right at any time or for a fixed number. Pure arithmetic."""
