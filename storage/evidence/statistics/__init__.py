"""What the games in the database add up to: per player, per group of games, per trial."""
