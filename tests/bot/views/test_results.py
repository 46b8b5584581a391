"""Results by what games have in common; and the questions on the first page lead to pages."""

from datetime import UTC, datetime, timedelta

from bot.views.questions import questions
from storage.database import Database
from storage.ledger.games import finish_game
from storage.records import GameResult
from tests.bot.views.conftest import Visitor
from tests.storage.samples import opened

SUNDAY = datetime(2026, 11, 22, 23, 59, 59, tzinfo=UTC)


async def play(database: Database) -> None:
    async with database.write() as session:
        for number, (at, rating, result) in enumerate(
            [
                (SUNDAY, 1599, GameResult.WIN),
                (SUNDAY, 1600, GameResult.DRAW),
                (SUNDAY + timedelta(seconds=1), 1600, GameResult.LOSS),
                (SUNDAY + timedelta(days=6), None, GameResult.WIN),
                (SUNDAY + timedelta(days=7), 1600, GameResult.WIN),
            ]
        ):
            game = await opened(session, f"g{number}", at=at, opponent_rating=rating)
            await finish_game(session, game.id, result=result, end_reason="normal", at=at)


async def test_weeks_begin_on_monday_and_the_latest_is_first(database: Database, visitor: Visitor) -> None:
    await play(database)
    told = await visitor.json("/dash/api/results?by=week,game")
    assert [(each["group"]["week"], each["games"], each["score"]) for each in told["groups"]] == [
        ("2026-11-23", 3, 2 / 3),
        ("2026-11-16", 2, 0.75),
    ]
    page = await visitor.text("/dash/results?by=week,game,rating-band")
    heads = ("Game", "Site", "Rating band")
    cells = zip(heads, ("Othello", "arena", "1600 to 1799"), strict=True)
    row = "".join(f'<td data-head="{head}">{text}</td>' for head, text in cells)
    assert f'<th scope="row">2026-11-16</th>{row}' in page
    assert "0 · 1 · 0" in page
    assert 'aria-current="true">week, game and rating</a>' in page
    table = await visitor.text("/dash/api/results.csv?by=game,rating-band")
    assert len(table.splitlines()) == 1 + 3


async def test_what_cannot_be_grouped_by_is_named(visitor: Visitor) -> None:
    said = await visitor.text("/dash/results?by=moon", 400)
    assert "by: &#39;moon&#39; is not known; known: strategy, game" in said
    assert "No games match these filters." in await visitor.text("/dash/results")


async def test_each_question_is_one_click_from_the_first_page(visitor: Visitor) -> None:
    first = await visitor.text("/dash")
    for question in questions(datetime.now().astimezone()):
        assert f'<a href="{question.link.replace("&", "&amp;")}">{question.text}</a>' in first
        await visitor.text(question.link.partition("#")[0])
