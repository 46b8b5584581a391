"""The embedded server, where people on a web page and bots using the Lichess Bot API play each other."""
