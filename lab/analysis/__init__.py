"""Analysis of recorded games between humans: reply profiles, replies played, and models' predictions."""
