"""Exact search (a readable reference, and the C++ core's interface), and reply profiles."""
