"""Copies, prunes and compacts databases, also while the bot uses them."""
