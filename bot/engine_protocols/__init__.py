"""Our engine under other programs: NBoard and GTP (Othello), UCI (chess, xiangqi), UCCI (xiangqi).

A front end reads commands on one thread and thinks on another, so that it hears ``stop`` while it thinks.

===============  ================================================================================
`console`        lines in, lines out; a search whose words are dropped when nobody wants them
`brain`          the players as front ends need them: one move, or line after line, ever deeper
`nboard`         for NBoard, Novello and match runners
`gtp`            for match runners
`uci`            for chess and xiangqi programs: UCI and UCCI
===============  ================================================================================
"""
