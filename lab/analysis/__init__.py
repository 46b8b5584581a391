"""Analysis of recorded games between people: reply profiles, what was played, what models expected."""
