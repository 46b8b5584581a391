"""The record of the games: written before each action, without judgements."""
