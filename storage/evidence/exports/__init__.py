"""Rows of plain columns for other programs."""
