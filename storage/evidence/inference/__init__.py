"""Inference for trials: intervals clustered by person, valid at any time or at a fixed sample size. Pure
arithmetic."""
