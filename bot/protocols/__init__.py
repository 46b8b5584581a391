"""Runs our engine under other programs: NBoard and GTP (Othello), UCI (chess, xiangqi), UCCI (xiangqi).

A front end reads commands in one thread and searches in another, so that it obeys ``stop`` during a search.
"""
