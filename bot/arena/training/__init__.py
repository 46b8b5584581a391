"""The trainer: positions in which people fell, and whoever wants to find the reply that was to find."""
