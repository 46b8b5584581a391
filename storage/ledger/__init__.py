"""The record of the games: written ahead of each action, without judgements."""
