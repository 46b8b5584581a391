"""What anybody may see of the arena without a name: games, players, and the best of them."""
