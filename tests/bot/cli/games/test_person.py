"""`desdemona person`: what is shown and what is forgotten."""

import json
from pathlib import Path

from storage.database import Database
from tests.bot.cli.test_main import in_database
from tests.bot.conftest import Command
from tests.bot.text.known_persons import learn
from tests.storage.samples import opened


async def fill(database: Database) -> None:
    await learn(database)
    async with database.write() as session:
        await opened(session, "other", opponent_id="anna2", opponent_name="ANNA")
        await opened(session, "new", opponent_id="ben", opponent_name="Ben")


def test_what_is_known_of_a_person(desdemona: Command, migrated_file: Path) -> None:
    in_database(migrated_file, fill)
    status, told, notes = desdemona("person", "show", "arena", "Anna")
    assert (status, notes) == (0, "Anna at arena\n")
    assert told.splitlines() == [
        "Othello: 120 judged replies in 4 games",
        "  3 times you made the same error in the same position: d6, which cost 15 % of the game. "
        "(game game3)",
        "  Your replies in positions that you had met before: 3. The same as the time before: 1.",
    ]
    status, told, _ = desdemona("person", "show", "arena", "anna", "--format", "json")
    assert (status, json.loads(told)["games"][0]["replies"]) == (0, 120)
    status, told, notes = desdemona("person", "show", "arena", "ben")
    assert (status, told) == (0, "")
    assert notes == "Ben at arena\nnothing has been learned of this person yet\n"


def test_who_is_not_clear(desdemona: Command, migrated_file: Path) -> None:
    in_database(migrated_file, fill)
    for name, said in (("Carl", "we have met nobody named 'Carl'"), ("aNNa", "one of 'anna', 'anna2'")):
        status, _, notes = desdemona("person", "show", "arena", name)
        assert status != 0
        assert said in notes


def test_a_person_is_forgotten(desdemona: Command, migrated_file: Path) -> None:
    in_database(migrated_file, fill)
    said = [desdemona("person", "forget", "arena", "Anna") for _ in range(2)]
    assert said == [
        (0, "", "Anna at arena is forgotten\n"),
        (0, "", "Anna at arena was already forgotten\n"),
    ]
    _, told, notes = desdemona("person", "show", "arena", "Anna")
    assert told == ""
    assert "nothing is learned of this person" in notes
