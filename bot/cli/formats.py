"""`desdemona export` and `import`: games in the file formats of other programs."""

import os
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import IO, Annotated

import typer

from bot.base.game_files import STDIN, GameSource, game_sources
from bot.base.log import printable
from bot.base.rounding import plural
from bot.cli.common import (
    UsageError,
    ask_database,
    config_of,
    print_note,
    require_known,
)
from bot.cli.exports.export_command import export_table
from bot.cli.exports.writers import RowsFormat
from bot.cli.filters import PHASE_REFUSAL, Suspects, move_filter_options
from bot.cli.progress import show_progress
from engine.formats import files
from engine.formats.files import GameFormat
from engine.formats.record import BadGame, GameRecord
from engine.games import GAMES
from storage.database import Database
from storage.evidence.exports.rows import EXPORTS, ExportName
from storage.evidence.statistics.suspect_rows import suspect_games
from storage.filters import Filters
from storage.ledger.decisions import list_decisions
from storage.ledger.games import list_games
from storage.ledger.own_game_records import record_of
from storage.maintenance.unfinished_files import FileInUse, unfinished_file
from storage.research.archive import BATCH, add_imported_games, each_game

_MIN_PROGRESS_BYTES = 1_000_000
"""Minimum size of a file, in bytes, for a progress bar to be shown."""
_MAX_REPORTED_BAD_GAMES = 20
"""Maximum number of bad games per file that are reported individually."""


class TextFormat(StrEnum):
    """The formats that can be written."""

    GGF = GameFormat.GGF
    PGN = GameFormat.PGN
    TRANSCRIPT = GameFormat.TRANSCRIPT
    CSV = RowsFormat.CSV
    JSONL = RowsFormat.JSONL
    PARQUET = RowsFormat.PARQUET


@move_filter_options
def export_games(
    context: typer.Context,
    filters: Filters,
    suspect: Suspects = None,
    written_as: Annotated[
        TextFormat,
        typer.Option(
            "--format",
            help="pgn: chess, its variants, Othello, xiangqi; ggf: Othello; transcript: any game, "
            "moves only; csv, jsonl, parquet: columns, see --what.",
        ),
    ] = TextFormat.PGN,
    what: Annotated[
        ExportName | None,
        typer.Option(help="Table to write as csv, jsonl or parquet; by default, games."),
    ] = None,
    output: Annotated[Path | None, typer.Option(help="File to write atomically; by default, stdout.")] = None,
    imported: Annotated[
        bool, typer.Option("--imported", help="Export imported games instead of the bot's own.")
    ] = False,
    name: Annotated[
        str | None, typer.Option(help="Only games with this text in either player's name; needs --imported.")
    ] = None,
    names: Annotated[
        bool,
        typer.Option("--names", help="Write people's names in tables, which otherwise have only their keys."),
    ] = False,
) -> None:
    """Write games as GGF, PGN and other formats, oldest first.

    Games that the format cannot express are left out and reported.  A suspect game has a "Suspect" tag with
    the reasons, except in transcripts.  docs/formats.md describes the columns of csv, jsonl and parquet.
    """
    is_of_moves = EXPORTS[what or ExportName.GAMES].is_of_moves
    if filters.phase is not None and not is_of_moves:
        raise UsageError(PHASE_REFUSAL)
    if str(written_as) in {str(each) for each in RowsFormat}:
        if imported or name is not None:
            raise UsageError(f"--imported games cannot be written as {written_as}")
        count = export_table(
            context,
            what or ExportName.GAMES,
            RowsFormat(written_as),
            filters,
            suspect,
            lambda: _target(output),
            with_names=names,
        )
        print_note(f"{plural(count, 'row')} written")
        return
    if names:
        raise UsageError("--names is for csv, jsonl and parquet; other formats name the players")
    if what is not None:
        raise UsageError(f"--what is for csv, jsonl and parquet, not for {written_as}")
    form = GameFormat(written_as)
    our_name = config_of(context).server.name
    if imported and (replace(filters, game=None) != Filters() or suspect is not None):
        raise UsageError("with --imported, only --game and --name select games")
    if name is not None and not imported:
        raise UsageError("--name is for --imported games")

    async def records(database: Database) -> AsyncGenerator[GameRecord, None]:
        async with database.read() as session:
            if imported:
                async for record in each_game(session, game=filters.game, player=name):
                    yield record
                return
            flags = await suspect_games(session)
            for stored in reversed(await list_games(session, filters)):
                if suspect is not None and (stored.id in flags) is not suspect:
                    continue
                decisions = []
                if form is not GameFormat.TRANSCRIPT:  # which cannot hold comments
                    decisions = await list_decisions(session, stored.id)
                yield record_of(stored, our_name, decisions, flags.get(stored.id, ()))

    async def write(database: Database) -> tuple[int, list[str]]:
        written, left_out = 0, list[str]()
        with _target(output) as file:
            async with aclosing(records(database)) as found:
                async for record in found:
                    try:
                        file.write(files.write(record, form).encode())
                        written += 1
                    except BadGame as error:
                        left_out.append(f"{' - '.join(record.players)}, {record.date or 'no date'}: {error}")
        return written, left_out

    written, left_out = ask_database(context, write)
    for reason in left_out[:_MAX_REPORTED_BAD_GAMES]:
        print_note(f"left out: {reason}")
    if len(left_out) > _MAX_REPORTED_BAD_GAMES:
        print_note(f"and {len(left_out) - _MAX_REPORTED_BAD_GAMES} more")
    print_note(f"{plural(written, 'game')} written" + (f", {len(left_out)} left out" if left_out else ""))


def import_games(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(metavar="FILE", help="Files of games.")],
    form: Annotated[
        GameFormat | None,
        typer.Option("--format", help="Format of the files; by default, detected from their contents."),
    ] = None,
    game: Annotated[
        str | None, typer.Option("--game", help="Game to assume if neither format nor tags specify it.")
    ] = None,
) -> None:
    """Import other people's games from files.

    Formats: GGF, PGN, WTHOR and tables of xiangqi games.  FILE may be compressed (.zst, .gz, .bz2) or a .zip
    archive; "-" is standard input.  Each game is stored once; unreadable games are reported and skipped.
    Names of players and tournaments in WTHOR files come from .jou and .trn files among or beside FILES.  The
    exit status is 1 when a game or a file is refused.
    """
    require_known("--game", game, GAMES)
    names = [path for path in paths if path.suffix.lower() in (".jou", ".trn")]
    games = [path for path in paths if path not in names]
    if not games:
        raise UsageError(f"{', '.join(map(str, names))}: names only; give the .wtb file")

    async def work(database: Database) -> list[_Tally]:
        return [tally for path in games for tally in await _import_file(database, path, form, game, names)]

    tallies = ask_database(context, work, upgrade=True)
    if len(tallies) > 1:
        total = _Tally(*(sum(getattr(tally, each) for tally in tallies) for each in ("new", "known", "bad")))
        typer.echo(f"{len(tallies)} files: {total.text}")
    raise typer.Exit(1 if any(tally.failed or tally.bad for tally in tallies) else 0)


@dataclass
class _Tally:
    """Counts of a file's games, by outcome of the import."""

    new: int = 0
    known: int = 0
    bad: int = 0
    failed: bool = False
    batch: list[GameRecord] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The counts, for people: of the games seen, and of the three that these add up to."""
        seen = plural(self.new + self.known + self.bad, "game")
        return f"{seen} seen: {self.new} new, {self.known} already known, {self.bad} refused"


async def _import_file(
    database: Database, path: Path, form: GameFormat | None, game: str | None, names: list[Path]
) -> list[_Tally]:
    """Import one file and print its counts; after a failure, the games already stored are kept."""
    tallies = []
    try:
        length = 0 if path == STDIN else os.stat(path).st_size
        is_large = length >= _MIN_PROGRESS_BYTES
        with show_progress(path.name, length) if is_large else nullcontext(_ignore) as advance:
            for source in game_sources(path, form, game, names=names, on_note=print_note, advance=advance):
                tallies.append(tally := _Tally())
                await _import_source(database, source, tally)
    except (OSError, BadGame) as error:
        print_note(f"{path}: {error.strerror if isinstance(error, OSError) else error}")
        tallies.append(_Tally(failed=True))
    return tallies


async def _import_source(database: Database, source: GameSource, tally: _Tally) -> None:
    """Import the games of a source and print their counts.

    Raises:
        BadGame, OSError: The source cannot be read further; the games before are stored and counted.
    """
    try:
        for number, record in enumerate(source, start=1):
            if isinstance(record, BadGame):
                if source.refused <= _MAX_REPORTED_BAD_GAMES:
                    print_note(f"{source.name}: game {number}: {record}")
                continue
            tally.batch.append(record)
            if len(tally.batch) == BATCH:
                await _store_batch(database, tally, source)
    finally:
        await _store_batch(database, tally, source)
        tally.bad = source.refused
        if tally.bad > _MAX_REPORTED_BAD_GAMES:
            print_note(f"{source.name}: and {tally.bad - _MAX_REPORTED_BAD_GAMES} more refused")
        skipped = f"; {source.skipped_text}" if source.skipped_text else ""
        typer.echo(printable(f"{source.name} ({source.form}): {tally.text}{skipped}"))


async def _store_batch(database: Database, tally: _Tally, source: GameSource) -> None:
    if not tally.batch:
        return
    async with database.write() as session:
        new = await add_imported_games(
            session, tally.batch, source=Path(source.name).name, source_format=str(source.form)
        )
    tally.new += new
    tally.known += len(tally.batch) - new
    tally.batch.clear()


def _ignore(_more: int) -> None:
    """Do nothing: a small file needs no progress bar."""


@contextmanager
def _target(path: Path | None) -> Iterator[IO[bytes]]:
    """Open the target: standard output, or a file that appears only when it is complete."""
    if path is None:
        # As bytes: names may be in any script, whatever the terminal's encoding.
        with open(sys.stdout.fileno(), "wb", closefd=False) as file:
            yield file
        return
    if path.exists() and not path.is_file():
        raise UsageError(f"--output: {path} is not a regular file")
    try:
        with unfinished_file(path) as unfinished:
            with unfinished.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
    except FileInUse as error:
        raise UsageError(f"--output: {error}") from None
    except OSError as error:
        raise UsageError(f"--output: {path} cannot be written: {error.strerror}") from None
