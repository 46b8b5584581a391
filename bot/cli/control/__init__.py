"""The operator's commands to the running program, and those of the arena's owner."""
