"""Tests of the strategies."""
