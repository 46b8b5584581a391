"""Exports tables (`desdemona export`) with plain columns for spreadsheets and programs."""
