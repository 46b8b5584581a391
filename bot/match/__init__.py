"""Matches between any two players: every opening with both colours, and the resulting scores.

====================  ==============================================================================
`player_specs`        parses players: ours with their settings, other programs by protocol, simulated people
`conditions`          what all games of a match share; its fingerprint names the match
`openings`            openings from a file, or nearly balanced ones from a seed
`players`             every kind of player behind one interface
`human_players`       simulated people
`move_list`           positions while a list of moves grows
`play`                one game from its opening to its end: but for time, a pure function of its task
`score`, `sprt`       arithmetic: results, Elo with its interval, sequential test
`worker_pool`         where games are played: processes here, or a cluster
`game_storage`        stores games in the database and reads them back
`runner`              hands out games, stores the results, stops on request or when the test is decided
`report`              the result as text and JSON
====================  ==============================================================================

A game is the unit of work.  A worker plays a whole game and returns it; the one process that runs the match
stores it in one transaction, under a number that follows from the terms.  So no game is lost or stored twice:
after a crash, the runner plays the numbers that are missing from the database.
"""
