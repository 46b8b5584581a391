"""Matches between any two players: every opening with both colours, and the resulting scores.

A game is the unit of work. Workers play whole games and return them; the process that runs the match stores
each game in one transaction, under a number derived from the match's conditions. No game can be lost or
stored twice: after a crash, the match plays the games whose numbers are missing from the database.
"""
