import asyncio
import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.base import game_files
from bot.cli import formats as cli_formats
from engine.formats import encodings, files, ggf, pgn_splitter
from engine.formats.files import GameFormat
from engine.formats.record import BadGame, GameRecord
from storage.database import Database
from storage.ledger.games import finish_game
from storage.records import GameResult
from storage.research.archive import each_game
from tests.bot.conftest import Command
from tests.engine.formats.test_ggf import GGS, NBOARD
from tests.engine.formats.test_pgn import LICHESS, XIANGQI
from tests.engine.formats.test_wthor import header, names, record
from tests.storage.samples import FELL, decision, opened, settled


@pytest.fixture
def own_games(migrated_file: Path) -> None:
    """A game of Othello that black resigned, a chess game that is still open, one from another start."""

    async def fill() -> None:
        noon = datetime(2026, 11, 1, 12, tzinfo=UTC)
        database = await Database.open(f"sqlite:///{migrated_file}")
        async with database.write() as session:
            game = await opened(session, "first", opponent_id="a", opponent_name='An\x1bna "]\n;)', at=noon)
            await settled(session, game.id, 0, decision(quality=225.0), FELL)
            moves = ["f5", "d6", "c3"]
            await finish_game(session, game.id, result=GameResult.LOSS, end_reason="resignation", moves=moves)
            later = noon + timedelta(days=1)
            await opened(session, "second", game="chess", variant="standard", our_side=1, at=later)
            start = "8/8/8/8/8/8/8/6bw b"
            await opened(session, "third", initial_position=start, clock_initial_s=None, at=later)
        await database.close()

    asyncio.run(fill())


def imported_count(path: Path) -> int:
    async def count() -> int:
        database = await Database.open(f"sqlite:///{path}")
        try:
            async with database.read() as session:
                return len([record async for record in each_game(session)])
        finally:
            await database.close()

    return asyncio.run(count())


def read(text: str, form: GameFormat) -> list[GameRecord]:
    found = list(files.read(text.splitlines(), form))
    assert not [game for game in found if isinstance(game, BadGame)]
    return [game for game in found if isinstance(game, GameRecord)]


@pytest.mark.usefixtures("own_games")
def test_own_games_as_pgn(desdemona: Command) -> None:
    status, out, err = desdemona("export")
    assert (status, err) == (0, "3 games written\n")
    first, second, third = read(out, GameFormat.PGN)
    assert first.players == ("Desdemona", 'An na "] ;)')
    assert (first.moves, first.points, first.ending) == (("f5", "d6", "c3"), 0.0, "resigned")
    assert (first.date, first.place, first.ratings) == ("2026.11.01", "arena", (1500, 1600))
    assert first.evaluations == (1.0, None, None)
    assert first.times_s == (0.25, None, None)
    assert dict(first.tags) == {
        "UTCTime": "12:00:00",
        "GameId": "first",
        "Engine": "trappy 1",
    }
    assert (second.game, second.players, second.points) == ("chess", ("Anna", "Desdemona"), None)
    assert third.start == "8/8/8/8/8/8/8/6bw b"
    assert "\x1b" not in out


@pytest.mark.usefixtures("own_games")
def test_own_games_as_ggf_and_transcripts(desdemona: Command) -> None:
    status, out, err = desdemona("export", "--format", "ggf")
    assert status == 0
    assert err == (
        "left out: Anna - Desdemona, 2026.11.02: GGF is for Othello, not for chess\n"
        "2 games written, 1 left out\n"
    )
    first, third = (ggf.parse_line(line)[0] for line in out.splitlines())
    assert (first.result, first.black_clock, first.kind) == ("-64.000:r", "03:00/00:02/00:00", "8")
    assert (third.kind, third.black_clock) == ("8r2", "")
    _, out, err = desdemona("export", "--format", "transcript")
    assert out == "f5d6c3\n\n"
    assert "begins at the usual start" in err


@pytest.mark.usefixtures("own_games")
def test_games_are_chosen_by_filters(desdemona: Command) -> None:
    assert "1 game written" in desdemona("export", "--game", "chess")[2]
    assert "1 game written" in desdemona("export", "--until", "2026-11-01")[2]
    assert "0 games written" in desdemona("export", "--site", "elsewhere")[2]
    assert "2 games written" in desdemona("export", "--opponent", "anna")[2]
    assert "0 games written" in desdemona("export", "--match", "cup")[2]


@pytest.mark.usefixtures("own_games")
@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--format", "wthor"], "'wthor' is not one of"),
        (["--output", "."], ". is not a regular file"),
        (["--imported", "--site", "arena"], "only --game and --name select games"),
        (["--imported", "--opponent", "x"], "only --game and --name select games"),
        (["--imported", "--match", "x"], "only --game and --name select games"),
        (["--name", "x"], "--name is for --imported games"),
        (["--game", "go"], "'go' is not known"),
        (["--output", "nowhere/a.pgn"], "nowhere/a.pgn cannot be written: No such file"),
    ],
)
def test_options_that_make_no_sense(desdemona: Command, options: list[str], complaint: str) -> None:
    status, out, err = desdemona("export", *options)
    assert (status, out) == (2, "")
    assert complaint in err


@pytest.mark.usefixtures("own_games")
def test_a_file_is_written_whole_or_not_at_all(
    desdemona: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "games.pgn"
    assert desdemona("export", "--output", str(target))[:2] == (0, "")
    before = target.read_text()
    assert len(read(before, GameFormat.PGN)) == 3

    def breaks(_record: GameRecord, _form: GameFormat) -> str:
        raise RuntimeError("half-way")

    monkeypatch.setattr(files, "write", breaks)
    with pytest.raises(RuntimeError, match="half-way"):
        desdemona("export", "--output", str(target))
    assert target.read_text() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "games.pgn"]


def test_every_format_comes_in_once_and_goes_out(
    desdemona: Command, tmp_path: Path, database_file: Path
) -> None:
    (tmp_path / "ggs.txt").write_text(f"1 {GGS}\n2 {NBOARD}{GGS.replace('alice', 'Åse')}\n")
    (tmp_path / "old.pgn").write_bytes(LICHESS.replace("xtz", "Müller").encode("latin-1"))
    (tmp_path / "cup.pgn").write_text(XIANGQI)
    (tmp_path / "lines").write_text("# openings\nf5d6c3\nf5f6e6\n")
    (tmp_path / "WTH_1984.wtb").write_bytes(header(games=2) + record() + record("d3c5"))
    (tmp_path / "WTH.JOU").write_bytes(names(20, b"???", b"Dupont", b"Tastet"))
    (tmp_path / "WTH.TRN").write_bytes(names(26, b"Paris"))
    given = [str(tmp_path / name) for name in ("ggs.txt", "old.pgn", "cup.pgn", "lines", "WTH_1984.wtb")]
    status, out, err = desdemona("import", *given)
    assert (status, err) == (0, "")
    assert out.splitlines()[0] == f"{given[0]} (ggf): 3 games seen: 3 new, 0 already known, 0 refused"
    assert out.splitlines()[-1] == "5 files: 9 games seen: 9 new, 0 already known, 0 refused"
    assert desdemona("import", *given)[1].endswith(
        "5 files: 9 games seen: 0 new, 9 already known, 0 refused\n"
    )
    assert imported_count(database_file) == 9

    games = read(desdemona("export", "--imported")[1], GameFormat.PGN)
    assert [game.game for game in games] == ["othello"] * 3 + ["chess", "xiangqi"] + ["othello"] * 4
    assert games[3].players[0] == "Müller"
    assert games[-1].players == ("Dupont", "Tastet")
    assert (games[-1].event, games[-1].date) == ("Paris", "1984")
    othello = desdemona("export", "--imported", "--game", "othello", "--format", "ggf")
    assert len(read(othello[1], GameFormat.GGF)) == 7
    assert desdemona("export", "--imported", "--format", "transcript")[1].splitlines()[-1] == "d3c5"
    assert "2 games written" in desdemona("export", "--imported", "--name", "DUPONT")[2]

    # What went out is known when it comes in.
    assert desdemona("export", "--imported", "--output", "all.pgn")[0] == 0
    assert "0 new, 9 already known" in desdemona("import", "all.pgn")[1]


def test_bad_games_are_named_and_the_rest_is_kept(desdemona: Command, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("f5d6\nf5f5\nd3\n" + "f5f5\n" * 25)
    status, out, err = desdemona("import", "a.txt")
    assert status == 1
    assert out == "a.txt (transcript): 28 games seen: 2 new, 0 already known, 26 refused\n"
    assert err.startswith("a.txt: game 2: disc 2: 'f5' is not a legal move in ")
    assert err.splitlines()[-1] == "a.txt: and 6 more refused"


def test_a_file_that_cannot_be_read_leaves_the_others(desdemona: Command, tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("f5d6\n")
    (tmp_path / "odd.txt").write_text("Read me first.\n")
    (tmp_path / "short.wtb").write_bytes(header(games=3) + record())
    status, out, err = desdemona("import", "none.txt", "odd.txt", "short.wtb", "good.txt")
    assert status == 1
    assert "good.txt (transcript): 1 game seen: 1 new" in out
    assert "none.txt: No such file or directory" in err
    assert "odd.txt: cannot detect the format; specify it with --format" in err
    assert "short.wtb: " in err
    status, _, err = desdemona("import", "short.wtb", "--format", "wthor")
    assert (status, err) == (1, "short.wtb: 84 bytes; 3 games are 220\n")


def test_what_never_ends_is_not_read(desdemona: Command, tmp_path: Path) -> None:
    """Nor waited for: nobody writes to the pipe."""
    (tmp_path / "good.txt").write_text("f5d6\n")
    os.mkfifo(tmp_path / "pipe")
    status, out, err = desdemona("import", "/dev/zero", "pipe", "data", "good.txt")
    assert status == 1
    assert err.splitlines() == [f"{name}: not a regular file" for name in ("/dev/zero", "pipe", "data")]
    assert "good.txt (transcript): 1 game seen: 1 new" in out


@pytest.mark.parametrize(
    ("form", "begin", "line"),
    [
        ("pgn", '[White "a"]\n\n1. e4 e5 1-0\n\n[White "b"]\n\n', "1. d4 d5\n"),
        ("ggf", f"{GGS}\n", "(;GM[Othello]\n"),
        ("transcript", "f5d6\n", "f5d6 "),
    ],
)
def test_a_game_without_an_end(
    desdemona: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, begin: str, line: str
) -> None:
    """What stands before it is kept."""
    for module in (encodings, files, pgn_splitter):
        monkeypatch.setattr(module, "MAX_GAME_TEXT_LENGTH", 1000)
    (tmp_path / "a").write_text(begin + line * 300)
    status, _, err = desdemona("import", "--format", form, "a")
    assert status == 1
    assert "more than 1000 " in err
    assert "1 game written" in desdemona("export", "--imported")[2]


def test_too_large_for_a_base(desdemona: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_files, "_MAX_WTHOR_BYTES", 1 << 20)
    (tmp_path / "a.wtb").write_bytes(b"x" * ((1 << 20) + 1))
    status, _, err = desdemona("import", "--format", "wthor", "a.wtb")
    assert (status, err.splitlines()[-1]) == (1, "a.wtb: larger than 1 MiB")


def test_nothing_that_is_read_talks_to_the_terminal(desdemona: Command, tmp_path: Path) -> None:
    """Neither by its name nor by what is in it."""
    name = "a\x1b[2J\udcff\n.txt"
    (tmp_path / name).write_text("f5d6\n\x1b]0;x\x07\n(;GM[\x1b[31mgo\x9b];)\n")
    shown = r"a\x1b[2J\udcff\n.txt"
    _, out, err = desdemona("import", name, "--format", "transcript")
    assert out == f"{shown} (transcript): 3 games seen: 1 new, 0 already known, 2 refused\n"
    _, out, told = desdemona("import", name, "--format", "ggf")
    for line in (err + told).splitlines():
        assert line.startswith(f"{shown}: game ")
        assert line.isprintable()
    status, _, err = desdemona("import", "\x1b[2J.jou")
    assert (status, err) == (2, "desdemona: \\x1b[2J.jou: names only; give the .wtb file\n")


def test_format_and_game_may_be_told(desdemona: Command, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("h3e3 h10g8\n")
    status, out, _ = desdemona("import", "a.txt", "--format", "transcript", "--game", "xiangqi")
    assert (status, out) == (0, "a.txt (transcript): 1 game seen: 1 new, 0 already known, 0 refused\n")
    assert "'go' is not known" in desdemona("import", "a.txt", "--game", "go")[2]


def test_wthor_names_are_told_or_numbers_stand_for_them(desdemona: Command, tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    (base / "a.wtb").write_bytes(header(games=1) + record())
    _, _, err = desdemona("import", "base/a.wtb")
    assert err.count("using numbers instead of names") == 2
    (tmp_path / "p.jou").write_bytes(names(20, b"x", b"y", b"z"))
    _, out, _ = desdemona("import", "p.jou", "base/a.wtb")
    assert "1 new" in out
    assert '[Black "y"]' in desdemona("export", "--imported", "--name", "y")[1]
    shutil.copy(tmp_path / "p.jou", base / "one.jou")
    shutil.copy(tmp_path / "p.jou", base / "two.jou")
    status, _, err = desdemona("import", "base/a.wtb")
    assert status == 1
    assert "several .jou files beside it: base/one.jou, base/two.jou; choose one" in err
    assert "p.jou: names only; give the .wtb file" in desdemona("import", "p.jou")[2]


def test_more_games_than_are_kept_at_once(
    desdemona: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli_formats, "BATCH", 2)
    (tmp_path / "a.txt").write_text("f5\nf5d6\nf5f6\nf5f4\nd3\n")
    assert "5 new, 0 already known" in desdemona("import", "a.txt")[1]
