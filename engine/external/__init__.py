"""Other programs as players: over NBoard and GTP (Othello), UCI (chess, xiangqi) and UCCI (xiangqi).

`engine.uci` gets scores of every move from other engines, to set traps; here they only choose a move, as the
opponent in a match.

An engine is a third-party program: it may fail to start, fall silent, exit, print endlessly or play an
illegal move.  Each of these is an `engine.process.EngineError`, whose class says which.
"""
