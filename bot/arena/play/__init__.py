"""What players may ask for beside moves, and what they may not."""
