"""Commands meet a damaged record: one line that says which and why, or a report that leaves it out."""

import shutil
from pathlib import Path

import pytest
from sqlalchemy import select, update

from engine.bait_rule import forecast
from engine.figure_9 import expected_scale_centi
from storage.database import Database
from storage.ledger.decisions import mark_confirmed
from storage.ledger.games import finish_game
from storage.records import GameResult
from storage.tables.games import DecisionRow
from tests.bot.cli.test_main import in_database
from tests.bot.cli.test_stats import changed, store_drawn
from tests.bot.conftest import Command
from tests.bot.tempted import judged_by_own_costs
from tests.storage.samples import FELL, decision, judge_replies, opened, settled, store_forecast

HINT = "; `desdemona db recheck` lists such records"
STATS, TRIAL = ("stats",), ("stats", "--trial", "m1")
GROUPS = (STATS, ("stats", "--by", "rating-band"))
BY_FACTS = (TRIAL, ("stats", "--calibration"))
ALL_STATS = (*GROUPS, *BY_FACTS)
LISTS = (("games", "--suspect"), ("games", "--format", "json"), ("export",))


@pytest.fixture(scope="module")
def filled(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trial m1 with nine games; decision 9 of game 9 has a forecast."""
    path = Path(shutil.copy(template, tmp_path_factory.mktemp("filled") / "desdemona.db"))
    store_drawn(path, ("randomised", "standard"))

    async def fill(database: Database) -> None:
        async with database.write() as session:
            drawn = {"method": "balanced", "blind": True, "chances": {"randomised": 0.5, "standard": 0.5}}
            game = await opened(
                session, "judged", opponent_id="zoe", strategy="standard", selection=drawn, trial_id=1
            )
            made = decision(quality=225.0)
            decision_id = await settled(session, game.id, 0, made, FELL)
            await mark_confirmed(session, decision_id)
            foreseen = forecast(made.chosen, expected_scale_centi(made))
            await store_forecast(session, decision_id, made, judged_by_own_costs(made, foreseen))
            assert (game.id, decision_id) == (9, 9)
            await finish_game(
                session, game.id, result=GameResult.WIN, end_reason="resign", moves=["f5", "d6"]
            )
            await judge_replies(session, game.id)

    in_database(path, fill)
    return path


@pytest.fixture
def games(database_file: Path, filled: Path) -> Path:
    """The same database, where the commands look for it."""
    database_file.parent.mkdir()
    return Path(shutil.copy(filled, database_file))


def with_draw(path: Path, changes: dict[str, object]) -> None:
    """Change the draw in the record of decision 3."""

    async def change(database: Database) -> None:
        async with database.write() as session:
            record = await session.scalar(select(DecisionRow.record).where(DecisionRow.id == 3))
            assert record is not None
            forged = record | {"trial_draw": record["trial_draw"] | changes}
            await session.execute(update(DecisionRow).where(DecisionRow.id == 3).values(record=forged))

    in_database(path, change)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (
            "UPDATE games SET selection = '{}' WHERE id = 2",
            "1 game cannot be read (game 2: KeyError: 'chances')",
        ),
        (
            'UPDATE games SET selection = \'{"chances": {"standard": 0, "randomised": 1}}\' WHERE id = 2',
            "1 game cannot be read (game 2: the probability of treatment is 1.0",
        ),
        (
            {"params": {"chance": 7, "budget_percent": 2.0, "most_profiles": 6}},
            "decision 3 of game 3, ply 0: ",
        ),
        ({"trap_value": 99999}, "decision 3 of game 3, ply 0: "),
        (
            "UPDATE outcomes SET reply = 'a1' WHERE decision_id = 3",
            "decision 3 of game 3, ply 0: a1 is not among the replies",
        ),
    ],
)
def test_a_trial_goes_on_without(
    desdemona: Command, games: Path, change: str | dict[str, object], named: str
) -> None:
    if isinstance(change, str):
        changed(games, change)
    else:
        with_draw(games, change)
    status, out, err = desdemona(*TRIAL)
    assert (status, err) == (0, "")
    assert named in " ".join(out.split())
