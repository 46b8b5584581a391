"""The record of the games, written before each action and free of judgements."""
