"""Backs up, copies, prunes and compacts databases, even while the bot uses them."""
