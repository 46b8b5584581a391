"""Exports for other programs: rows with plain columns."""
