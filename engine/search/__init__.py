"""Exact search, from the readable reference to the C++ core, and reply profiles."""
