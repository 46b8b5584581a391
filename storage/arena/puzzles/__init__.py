"""The trainer's queries: positions in which people took a bait, and people's attempts to solve them."""
