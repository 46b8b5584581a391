"""Other programs as players: over NBoard and GTP (Othello), UCI (chess, xiangqi) and UCCI (xiangqi).

`engine.uci` asks other engines for the scores of every move, to set traps by; here they only choose a move,
as the opponent in a match.

An engine is somebody else's program: it may not start, fall silent, end, print without end or play a move
that the rules forbid.  All of these are an `engine.process.EngineError`, and its class says which.
"""
