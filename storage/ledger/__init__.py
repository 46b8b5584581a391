"""The record of our games. It is written before each action and contains no judgements."""
