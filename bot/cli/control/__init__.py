"""Commands to the running program, and commands for the arena's owner."""
