"""The bot: accounts at game servers, the games they play, the embedded arena and the operator's commands."""
