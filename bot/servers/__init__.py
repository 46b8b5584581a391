"""Adapters to game servers: each translates a site's protocol to `bot.base.events` and a few actions.

A site needs a wire module (bytes to events and back, no I/O) and an I/O module. Sites with nearly the same
protocol share both modules and differ only in a row of data (`bot.base.dialects`).
"""
