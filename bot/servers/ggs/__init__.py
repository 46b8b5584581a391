"""The adapter for GGS, a server for Othello programs: wire format, state machine, connection."""
