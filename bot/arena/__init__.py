"""The embedded server: people at a web page and bots at the Lichess Bot API play each other.

From the bottom up: `variants` (what is played), `game` (one game, pure), `terms` (clocks, challenges), then
`wire`, `views`, `export` (how things look in JSON), `streams` (who listens), `accounts` (who plays),
`referee` (games kept, timed and told), `lobby` (challenges made and answered), `throttle`, `http` (requests
and refusals), `routes_play` and `routes_site` (the API), `gate` (how many connections), `server` (all of it,
listening).
"""
