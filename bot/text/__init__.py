"""Formats sentences, numbers and verdicts in the same way for pages, the terminal and reports."""
