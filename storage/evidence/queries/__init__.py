"""Queries of the pages, exports and the JSON interface, by subject."""
