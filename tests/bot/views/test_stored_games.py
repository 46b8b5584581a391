"""The list of games keeps every key whole, whatever the terminal's width."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from bot.parts.terminal import terminal
from bot.views.games import stored_games_table, stored_record
from storage.database import Database
from storage.records import StoredGame
from tests.storage.samples import opened

KEYS = ("8f3kd93jK2lp", "match-of-the-century-2026-11-25-0001", "x")


def shown(games: list[StoredGame], width: int, **flags: object) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=width)
    for part in terminal([stored_games_table(games, **flags)]):  # type: ignore[arg-type]
        console.print(part)
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


async def test_a_narrow_terminal_has_everything_too(database: Database) -> None:
    (game,) = await games_of(database, "8f3kd93jK2lp")
    game = replace(game, opponent_rating=1500, end_reason="resign", moves=("f5", "d6"))
    for width in (60, 140):
        text = " ".join(" ".join(shown([game], width)).split())
        for part in (
            "8f3kd93jK2lp",
            f"{game.started_at:%Y-%m-%d %H:%M}",
            "somebody-with-a-name (1500)",
            "open (2 plies)",
            "resign",
            game.strategy,
        ):
            assert part in text, (part, text)


async def test_a_player_drawn_at_random(database: Database) -> None:
    (game,) = await games_of(database, "one")
    assert not game.is_drawn
    drawn = replace(game, selection={"chances": {"standard": 0.5, "trappy": 0.5}})
    for width in (60, 200):
        assert "(random)" not in " ".join(" ".join(shown([game], width)).split())
        assert f"{game.strategy} (random)" in " ".join(" ".join(shown([drawn], width)).split())


async def test_reasons_of_suspect_games(database: Database) -> None:
    (game,) = await games_of(database, "one")
    flags = {game.id: ("fast replies",)}
    for width in (60, 200):
        assert "fast replies" in " ".join(" ".join(shown([game], width, flags=flags)).split())
    assert stored_record(game, ("fast replies",))["suspect"] == ["fast replies"]
    assert stored_record(game, ())["suspect"] == []
