"""Tests of the strategies that choose among nearly equal moves of the strong search."""
