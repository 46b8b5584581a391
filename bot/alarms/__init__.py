"""Alarms: their rules, when each fires and clears, and who is notified."""
