import csv
import io
import json
import sqlite3
from pathlib import Path

import pytest

from storage.database import Database
from storage.sql.views import VIEWS
from tests.bot.cli.test_main import in_database
from tests.bot.conftest import Command
from tests.storage.samples import opened

NAMES = ("[red]Anna[/red]", "\x1b[31mBob", "C,\n\"D\"")  # fmt: skip
ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n"
ASKED = "select opponent, game_id, null missing from ask_games order by game_id"


@pytest.fixture
def games(migrated_file: Path) -> Path:
    async def fill(database: Database) -> None:
        async with database.write() as session:
            for number, name in enumerate(NAMES):
                await opened(session, f"g{number}", opponent_id=str(number), opponent_name=name)

    in_database(migrated_file, fill)
    return migrated_file


@pytest.mark.usefixtures("games")
def test_an_answer_as_table_csv_and_json(desdemona: Command) -> None:
    code, out, err = desdemona("sql", ASKED)
    assert (code, err) == (0, "")
    for part in ("opponent", "missing", "[red]Anna[/red]", "\\x1b[31mBob", 'C,\\n"D"'):
        assert part in out, part
    assert "\x1b" not in out

    code, out, _ = desdemona("sql", "--format", "csv", ASKED)
    rows = list(csv.reader(io.StringIO(out)))
    assert (code, rows[0]) == (0, ["opponent", "game_id", "missing"])
    assert rows[1:] == [[name, str(number), ""] for number, name in enumerate(NAMES, 1)]

    code, out, _ = desdemona("sql", "--format", "csv", "select '=1' as formula, -1 as number")
    assert (code, out) == (0, "formula,number\n'=1,-1\n")

    code, out, _ = desdemona("sql", "--format", "json", ASKED)
    assert code == 0
    assert json.loads(out) == [
        {"opponent": name, "game_id": number, "missing": None} for number, name in enumerate(NAMES, 1)
    ]


@pytest.mark.usefixtures("games")
def test_a_table_of_every_column_loses_nothing(desdemona: Command) -> None:
    _, out, _ = desdemona("sql", "select * from ask_games where game_id = 1")
    assert "…" not in out
    assert all(column in out.splitlines()[1] for column in VIEWS["ask_games"].columns)


@pytest.mark.usefixtures("games")
def test_no_rows(desdemona: Command) -> None:
    sql = "select game_id, site from ask_games where game_id < 0"
    assert desdemona("sql", sql) == (0, "", "No rows.\n")
    assert desdemona("sql", "--format", "csv", sql)[:2] == (0, "game_id,site\n")
    assert desdemona("sql", "--format", "json", sql)[:2] == (0, "[]\n")


@pytest.mark.usefixtures("games")
def test_a_question_from_standard_input(desdemona: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("select count(*)\nfrom ask_games\n"))
    assert desdemona("sql", "--format", "csv", "-")[:2] == (0, "count(*)\n3\n")


@pytest.mark.usefixtures("games")
def test_more_rows_than_wanted_are_told(desdemona: Command) -> None:
    code, out, err = desdemona(
        "sql", "--format", "csv", "--rows", "2", "select game_id from ask_games order by 1"
    )
    assert (code, out, err) == (0, "game_id\n1\n2\n", "More than 2 rows; --rows shows more.\n")
    assert desdemona("sql", "--rows", "3", ASKED)[2] == ""


def test_while_the_bot_writes(desdemona: Command, games: Path) -> None:
    """It neither waits for a writer nor sees what is not committed."""
    writing = sqlite3.connect(games, isolation_level=None)
    writing.execute("begin immediate")
    writing.execute("delete from games")
    assert desdemona("sql", "--format", "csv", "select count(*) n from ask_games")[:2] == (0, "n\n3\n")
    writing.execute("commit")
    assert desdemona("sql", "--format", "csv", "select count(*) n from ask_games")[:2] == (0, "n\n0\n")
    writing.close()


@pytest.mark.usefixtures("games")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "give a query, or --views"),
        (("delete from games",), "attempt to write a readonly database"),
        (("selec 1",), 'near "selec": syntax error'),
        (("",), "give a query"),
        ((" ",), "the question is empty"),
        (("--limit-s", "0.1", ENDLESS), "the question took longer than 0.1 s; narrow it down"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(desdemona: Command, arguments: tuple[str, ...], told: str) -> None:
    found, out, err = desdemona("sql", *arguments)
    assert (found, out, len(err.splitlines())) == (2, "", 1)
    assert told in err


def test_a_missing_database_is_told_and_not_made(desdemona: Command, database_file: Path) -> None:
    code, out, err = desdemona("sql", "select 1")
    assert (code, out) == (3, "")
    assert "desdemona.db" in err
    assert not database_file.exists()


def test_views_and_where_the_examples_are(desdemona: Command) -> None:
    """Without a database."""
    code, out, _ = desdemona("sql", "--views")
    assert code == 0
    for name, view in VIEWS.items():
        assert f"{name}: {view.about}\n" in out
        assert all(f"  {column} " in out and meaning in out for column, meaning in view.columns.items())
    assert desdemona("sql", "--examples") == (0, "", "The twenty example questions are in docs/sql.md.\n")
