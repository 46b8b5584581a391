"""The list of games keeps every key whole, whatever the terminal's width."""

import io
from dataclasses import replace

import pytest
from bot.cli.games.listing import GamesTable, games_rows
from rich.console import Console

from storage.database import Database
from storage.records import StoredGame
from tests.storage.samples import opened

KEYS = ("8f3kd93jK2lp", "match-of-the-century-2026-11-25-0001", "x")


def shown(games: list[StoredGame], width: int, **flags: object) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width).print(GamesTable(games, **flags))  # type: ignore[arg-type]
    return out.getvalue().splitlines()


async def games_of(database: Database, *keys: str) -> list[StoredGame]:
    async with database.write() as session:
        return [await opened(session, key, opponent_name="somebody-with-a-name") for key in keys]


@pytest.mark.parametrize("width", [60, 80, 100, 120, 140, 200])
async def test_a_key_is_never_cut(database: Database, width: int) -> None:
    lines = shown(await games_of(database, *KEYS), width)
    words = {word for line in lines for word in line.split()}
    assert set(KEYS) <= words
    assert all(len(line) <= width for line in lines)


async def test_what_does_not_fit_beside_the_key_is_told_in_words(database: Database) -> None:
    (game,) = await games_of(database, "8f3kd93jK2lp")
    game = replace(game, opponent_rating=1500, end_reason="resign", moves=("f5", "d6"))
    text = " ".join(" ".join(shown([game], 80)).split())
    assert "8f3kd93jK2lp" in text
    for part in (
        f"{game.started_at:%Y-%m-%d %H:%M} UTC",
        "against somebody-with-a-name (1500), open (resign), 2 plies",
        game.player,
    ):
        assert part in text, (part, text)
    assert "┃ game" in shown([game], 140)[1]


async def test_a_player_drawn_at_random(database: Database) -> None:
    (game,) = await games_of(database, "one")
    assert not game.is_drawn
    drawn = replace(game, selection={"chances": {"standard": 0.5, "trappy": 0.5}})
    for width in (60, 200):
        assert "(random)" not in " ".join(" ".join(shown([game], width)).split())
        assert f"{game.player} (random)" in " ".join(" ".join(shown([drawn], width)).split())


async def test_reasons_of_suspect_games(database: Database) -> None:
    (game,) = await games_of(database, "one")
    flags = {game.id: ("fast replies",)}
    assert "suspect: fast replies" in " ".join(" ".join(shown([game], 60, flags=flags)).split())
    assert any("fast replies" in line for line in shown([game], 200, flags=flags))
    assert games_rows([game], flags, flat=True)[0]["suspect"] == "fast replies"  # type: ignore[arg-type]
    assert games_rows([game], {})[0]["suspect"] == []
