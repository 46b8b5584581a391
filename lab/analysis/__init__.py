"""Analysis of recorded games between people: reply profiles, played replies, and models' predictions."""
