"""`desdemona games`: formats a list of games as a table, or as rows of plain values.  Prints nothing."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table

from bot.cli.rich_tables import NONE, account_text, printable_name, result_text, variant_name
from storage.ledger.own_game_records import match_of
from storage.records import StoredGame

if TYPE_CHECKING:
    from storage.evidence.inference.suspects import Flags


class GamesTable:
    """A list of games as a rich renderable, with each game's key whole, as `desdemona show` takes it.

    A row and nine columns for each game where they fit; else its key, and beside it all else in words.
    """

    def __init__(self, games: Sequence[StoredGame], flags: "Flags | None" = None) -> None:
        """
        Args:
            games: The games, in the order of the list.
            flags: Why games are suspect, shown in a column of their own; None: there is no such column.
        """
        self._games = games
        self._flags = flags
        self._are_several = len({game.owner for game in games if not match_of(game)}) > 1

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns = self._columns()
        yield (
            columns
            if Measurement.get(console, options, columns).minimum < options.max_width
            else self._words()
        )

    def _columns(self) -> Table:
        table = Table()
        for name in (
            "started (UTC)",
            "game",
            "site",
            "opponent",
            "rating",
            "strategy",
            "plies",
            "result",
            "ended by",
            *(() if self._flags is None else ("suspect",)),
        ):
            justify: Any = "right" if name in ("rating", "plies") else "left"
            table.add_column(name, justify=justify, no_wrap=name == "game", overflow="fold")
        for game in self._games:
            table.add_row(
                f"{game.started_at:%Y-%m-%d %H:%M}",
                printable_name(game.site_game_id),
                self._place(game),
                _opponent(game),
                NONE if game.opponent_rating is None else str(game.opponent_rating),
                _player(game),
                str(len(game.moves)),
                result_text(game),
                game.end_reason or NONE,
                *self._suspect(game),
            )
        return table

    def _words(self) -> Table:
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
        longest = max((len(game.site_game_id) for game in self._games), default=0)
        table.add_column("game", min_width=longest, overflow="fold")
        table.add_column("")
        for game in self._games:
            rating = "" if game.opponent_rating is None else f" ({game.opponent_rating})"
            reason = f" ({game.end_reason})" if game.end_reason else ""
            suspect = "".join(f"; suspect: {text}" for text in self._suspect(game) if text)
            table.add_row(
                printable_name(game.site_game_id),
                f"{game.started_at:%Y-%m-%d %H:%M} UTC, {self._place(game)}: {_player(game)} against "
                f"{_opponent(game)}{rating}, {result_text(game)}{reason}, {len(game.moves)} plies{suspect}",
            )
        return table

    def _place(self, game: StoredGame) -> str:
        """Site, account where there are several, game, and whether it was casual."""
        site = f"{game.site}{account_text(game)}" if self._are_several else game.site
        return f"{site} {variant_name(game)}{'' if game.rated or match_of(game) else ' (casual)'}"

    def _suspect(self, game: StoredGame) -> tuple[str, ...]:
        return () if self._flags is None else (", ".join(self._flags.get(game.id, ())),)


def _player(game: StoredGame) -> str:
    """Our player, and whether it or its moves were chosen at random."""
    return f"{game.strategy} (random)" if game.is_drawn else game.strategy


def _opponent(game: StoredGame) -> str:
    return printable_name(game.opponent_name) + (" (bot)" if game.opponent_is_bot else "")


def games_rows(games: Sequence[StoredGame], flags: "Flags", *, flat: bool = False) -> list[dict[str, Any]]:
    """The same as rows of plain values, with more columns.

    Args:
        flags: Of suspect games.
        flat: The flags of a game are one text, not a list.
    """
    return [
        {
            "site": game.site,
            "account": game.account,
            "game_id": game.site_game_id,
            "game": game.game,
            "variant": game.variant,
            "started_at": game.started_at.isoformat(),
            "ended_at": None if game.ended_at is None else game.ended_at.isoformat(),
            "opponent": game.opponent_name,
            "opponent_is_bot": game.opponent_is_bot,
            "opponent_rating": game.opponent_rating,
            "our_rating": game.our_rating,
            "rating_diff": game.rating_diff,
            "rated": game.rated,
            "speed": game.speed,
            "our_side": game.our_side,
            "strategy": game.strategy,
            "engine_version": game.engine_version,
            "moves": len(game.moves),
            "state": game.state.value,
            "result": None if game.result is None else game.result.value,
            "end_reason": game.end_reason,
            "suspect": ", ".join(flags.get(game.id, ())) if flat else list(flags.get(game.id, ())),
        }
        for game in games
    ]
