"""Runs the bot against a simulated Lichess with random faults, on virtual time and in one thread."""
