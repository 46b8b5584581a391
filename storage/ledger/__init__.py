"""The record of our games: written before each action, and without judgements of moves or replies."""
