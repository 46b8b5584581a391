"""The threads that run searches: how many there are, and which search runs next."""
