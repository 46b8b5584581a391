"""Tests of `engine.person`."""
