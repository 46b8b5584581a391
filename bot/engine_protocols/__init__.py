"""Our engine under other programs: NBoard and GTP (Othello), UCI (chess, xiangqi), UCCI (xiangqi).

A front end reads commands on one thread and thinks on another, so that it hears ``stop`` while it thinks.
"""
