"""`desdemona show` takes the beginning of a key, and says which games an ambiguous one fits."""

from pathlib import Path

import pytest

from bot.text import trap_report as report
from storage.database import Database
from tests.bot.cli.test_main import in_database
from tests.bot.conftest import Command
from tests.storage.samples import opened


@pytest.fixture
def keys(migrated_file: Path) -> None:
    async def fill(database: Database) -> None:
        async with database.write() as session:
            for key in ("abc", "abcde", "abX1", "abX2", "abX3", "abX4", "abX5", "q%r", "Zed"):
                await opened(session, key)
            await opened(session, "far01", site="elsewhere")
            await opened(session, "far02")

    in_database(migrated_file, fill)


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        (("abcd",), "abcde"),
        (("abc",), "abc"),  # whole, though another key begins so
        (("abX3",), "abX3"),
        (("q%",), "q%r"),
        (("far", "--site", "elsewhere"), "far01"),
    ],
)
def test_a_unique_beginning_is_enough(desdemona: Command, arguments: tuple[str, ...], key: str) -> None:
    status, out, err = desdemona("show", *arguments)
    assert (status, err) == (0, "")
    assert out.splitlines()[0].split()[-1] == key


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(
    ("key", "complaint"),
    [
        ("abX", "5 games have keys that begin with 'abX': abX1, abX2, abX3, abX4 and 1 more"),
        ("far", "2 games have keys that begin with 'far': far01, far02"),
        ("zed", "unknown game 'zed'; `desdemona games` lists the keys"),  # the letters are exact
        ("%", "unknown game '%'; `desdemona games` lists the keys"),
        ("abcdef", "unknown game 'abcdef'; `desdemona games` lists the keys"),
        ("", "the game's key is empty; `desdemona games` lists the keys"),
    ],
)
def test_what_is_no_unique_beginning(desdemona: Command, key: str, complaint: str) -> None:
    assert desdemona("show", key) == (2, "", f"desdemona: {complaint}\n")


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(
    "bug", [ValueError("ours"), KeyError("ours"), TypeError("ours"), AttributeError("ours")]
)
def test_a_bug_is_no_damaged_record(
    desdemona: Command, monkeypatch: pytest.MonkeyPatch, bug: Exception
) -> None:
    async def game_report(*_: object) -> None:
        raise bug

    monkeypatch.setattr(report, "game_report", game_report)
    with pytest.raises(type(bug), match="ours"):
        desdemona("show", "Zed")
