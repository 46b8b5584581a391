"""Adapters to game servers: each translates a site's protocol to `bot.base.events` and a few actions.

A site needs a wire module (bytes to events and back, no I/O) and an I/O module; sites with nearly the same
protocol share both and differ by a row of data (`bot.base.dialects`).
"""
