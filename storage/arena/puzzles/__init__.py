"""The trainer's queries: positions in which people fell, and what each person has done with them."""
