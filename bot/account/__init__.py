"""One account at one site: its event stream, incoming and outgoing challenges, and game slots."""
