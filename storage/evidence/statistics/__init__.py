"""Statistics of the games in the database: per player, per group of games and per trial."""
