"""Sentences, numbers and verdicts as text, the same on pages, in the terminal and in reports."""
