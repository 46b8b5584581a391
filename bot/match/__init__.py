"""Matches between any two players: every opening with both colours, and the resulting scores.

A game is the unit of work.  Workers play a whole game and hand it back; the one process that runs the match
stores it in one transaction, under a number that follows from the match's conditions.  No game can be lost or
stored twice: after a crash, the match plays the games whose numbers are missing from the database.
"""
