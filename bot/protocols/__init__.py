"""Our engine under other programs: NBoard and GTP (Othello), UCI (chess, xiangqi), UCCI (xiangqi).

A front end reads commands on one thread and searches on another, so that it obeys ``stop`` during a search.
"""
