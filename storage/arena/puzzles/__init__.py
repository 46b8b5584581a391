"""The trainer's queries: positions in which people took a bait, and each person's attempts at them."""
