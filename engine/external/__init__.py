"""Other programs as players: over NBoard and GTP (Othello), UCI (chess, xiangqi) and UCCI (xiangqi).

`engine.uci` asks other engines for the scores of every move, to set traps by; here they only choose a move,
as the opponent in a match.

=================  ==============================================================================
`settings`         which program, and how long to wait for it; what a move may cost
`process`          the program as lines in and lines out; no wait without an end
`talk`             what a protocol has to offer
`nboard`, `gtp`,   the protocols
`uci`
`player`           `ExternalEngine`: starts, asks, checks the answer by the rules, starts anew
=================  ==============================================================================

An engine is somebody else's program: it may not start, fall silent, end, print without end or play a move
that the rules forbid.  All of these are an `engine.uci.link.EngineError`, and its class says which.
"""
