"""Benches of one program at several servers."""
