"""Alarms: what must not go on unnoticed, how each begins and ends, and who is told."""
