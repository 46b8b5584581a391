"""Matches between any two players: every opening with both colours, and the resulting scores.

====================  ==============================================================================
`specs`               players by a text: ours with their settings, other programs by their protocol
`terms`               what all games of a match have in common; their fingerprint names the match
`openings`            from a file, or nearly balanced ones by a seed
`players`             the two kinds of players behind one interface
`line`                positions while a list of moves grows
`play`                one game, from its opening to its end: a pure function of its task, but for time
`score`, `sprt`       results, Elo with its interval, sequential test: arithmetic
`workers`             where games are played: processes here, or a cluster
`keep`                games in the database, and back
`runner`              hands games out, stores them as they come, stops when it is told or has seen enough
`tell`                the result in words, rows and JSON
====================  ==============================================================================

A game is the unit of work.  Workers play it whole and hand it back; the one process that runs the match
writes it down in one transaction, under a number that follows from the terms.  So nothing can be lost or
doubled: after a crash, whichever numbers are not in the database are played (again).
"""
