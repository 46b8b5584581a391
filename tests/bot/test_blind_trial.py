"""While a comparison is blind, nothing that a person receives tells which player it met."""

from pathlib import Path
from typing import Any

import pytest

from bot.base.config import EngineConfig, TrialConfig
from storage.database import Database
from storage.ledger.games import load_game
from tests.bot.blind_people import Experience, ScriptedPerson, auc, guessed_right, most_by_chance, play_games
from tests.bot.daemon.test_program import running, settings
from tests.bot.fakes import BALANCED
from tests.storage.samples import ARENA

GAMES, PLIES = 20, 6
ENGINE = EngineConfig(max_depth=3, workers=1, table_mb=1, ponder=False)


async def arms_of(folder: Path, games: list[Experience]) -> list[str]:
    """The players of the games."""
    database = await Database.open(f"sqlite:///{folder / 'desdemona.db'}")
    try:
        async with database.read() as session:
            stored = [await load_game(session, ARENA, each.game_id) for each in games]
    finally:
        await database.close()
    return [game.strategy for game in stored if game is not None]


async def played(folder: Path, **trial: Any) -> tuple[list[Experience], list[str]]:
    assignment = BALANCED.model_copy(update={"seed": 2})
    config = settings(folder, engine=ENGINE, trial=TrialConfig(**trial), assignment=assignment)
    async with running(config) as url:
        found = await play_games(url, GAMES, PLIES)
    return found, await arms_of(folder, found)


@pytest.mark.parametrize("reveal", [False, True])
async def test_who_is_at_the_board_can_be_told_only_if_it_is_revealed(tmp_path: Path, reveal: bool) -> None:
    found, arms = await played(tmp_path, reveal=reveal)
    assert set(arms) == {"standard", "trappy"}
    right = guessed_right([each.tokens for each in found], arms)
    most = most_by_chance(arms)
    if not reveal:
        assert not any("trappy" in token for each in found for token in each.tokens)
    told = telling(found, arms)
    assert right >= most if reveal else right <= most, (right, most, told)
    assert told or not reveal


async def test_a_second_game_tells_nothing_of_the_first(tmp_path: Path) -> None:
    """While the first goes on it would say whether the bot's last move there sets a bait."""
    async with running(settings(tmp_path, engine=ENGINE)) as url:
        person = ScriptedPerson(url, "anna", 1)
        try:
            before, after = await person.told_beside(PLIES)
        finally:
            await person.close()
    assert before == after == "anna, this is our first game."


def telling(found: list[Experience], arms: list[str]) -> list[str]:
    """The tokens that one player's people received and nobody else: for the message of a failure."""
    by_arm = {
        arm: [each.tokens for each, its in zip(found, arms, strict=True) if its == arm] for arm in set(arms)
    }
    return sorted(
        f"{arm}: {token}"
        for arm, bags in by_arm.items()
        for token in frozenset.intersection(*bags)
        if not any(token in bag for other, rest in by_arm.items() if other != arm for bag in rest)
    )[:20]


def test_the_classifier_finds_what_tells_and_nothing_else() -> None:
    labels = ["a", "b"] * 20
    same = [frozenset({"x", f"n{i}"}) for i in range(40)]
    assert guessed_right(same, labels) <= most_by_chance(labels)
    rare = [bag | ({"tell"} if label == "a" else set()) for bag, label in zip(same, labels, strict=True)]
    assert guessed_right(rare, labels) == 40
    assert most_by_chance(labels) == 30
    assert most_by_chance(["a"] * 36 + ["b"] * 4) == 40
    assert auc([1, 2], [3, 4]) == 1
    assert auc([1, 2], [2, 1]) == 0.5
