"""The bench of the bookkeeping records what it says."""

from pathlib import Path

from sqlalchemy import func, select

from bench.storage.bookkeeping import OTHERS, STEPS, Watch, bare_sqlite, opened_at, play, record_game
from storage.tables.games import DecisionRow, ForecastRow, GameRow, OutcomeRow, ReplyTimeRow


async def test_a_game_is_recorded_step_by_step(tmp_path: Path) -> None:
    moves, made = play("othello", 2)
    moves, made = moves[:7], made[:4]
    watch = Watch()
    async with opened_at(f"sqlite:///{tmp_path / 'x.db'}") as opened:
        waits_s = await record_game(opened, "othello", "game0001", moves, made, watch)
        async with opened.database.read() as session:
            rows = [
                await session.scalar(select(func.count()).select_from(table))
                for table in (GameRow, DecisionRow, ForecastRow, OutcomeRow, ReplyTimeRow)
            ]
    assert rows == [1, 4, 4, 4, 3]
    assert len(waits_s) == 4
    assert set(watch.spent_s) <= {*STEPS, *OTHERS}
    assert {*STEPS, "find", "forecast"} <= set(watch.spent_s)


def test_bare_sqlite_stores_the_like(tmp_path: Path) -> None:
    moves, made = play("othello", 2)
    assert bare_sqlite(tmp_path / "bare.db", moves, made[:3]) > 0
