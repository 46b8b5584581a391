"""Tests of the experiments on play at full strength."""
