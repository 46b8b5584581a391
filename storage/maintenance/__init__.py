"""Copies, prunes and compacts databases, also while the bot runs on them."""
