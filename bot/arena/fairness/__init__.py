"""What makes the arena fair: time without outages, rules for ratings, and names nobody may imitate."""
