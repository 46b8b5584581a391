"""The embedded server: people at a web page and bots at the Lichess Bot API play each other."""
