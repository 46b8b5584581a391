"""One account at one site: its event stream, challenges in and out, and which games it has room for."""
