"""Other engines: as opponents in matches, and as sources of trap profiles.

An opponent chooses moves over NBoard and GTP (Othello), UCI (chess, xiangqi) or UCCI (xiangqi):
`engine.protocols.external_engine`.  A source gives the scores of every move over UCI or UCCI with MultiPV, as
Stockfish does: `engine.protocols.engine_source`.

An engine is a third-party program: it may fail to start, fall silent, exit, print endlessly or play an
illegal move. Each failure raises an `EngineError` (`process`); its subclass identifies the failure.

Theory of operation of a source.  The trap arithmetic needs each reply's score at each depth.  An engine with
MultiPV supplies them: with as many lines as there are moves, it prints the score of every move at every depth
of its iterative deepening. One search of the root therefore finds the candidates that are nearly as good as
the best, and one search after each candidate finds the profiles of its replies; a score of depth d after our
move is s_(d+1), counted from the root.

Such an engine extends, reduces and prunes, so its "depth" is not a number of plies, and its scores are not
those of plain minimax: a record says so (`engine.decision.Decision.search_mode` is ``engine``) and names the
engine (`engine.decision.SourceInfo`). Its transposition table is cleared before every search. A table filled
by the root search would already contain the refutations and spoil the shallow scores, which reveal traps:
with Stockfish 15.1 this changes the shallow scores by 60 centipawns on average.
"""
