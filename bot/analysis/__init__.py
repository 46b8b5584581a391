"""Recorded games of people, looked into: profiles of the replies, what was played, what models expected."""
