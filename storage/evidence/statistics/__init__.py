"""Statistics of the games in the database: per player, per group of games, per trial."""
