"""Search and list of games, with the outcomes of their baits."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from bot.base.events import EndReason
from bot.base.rounding import NO_VALUE, plural
from bot.parts.values import Column, Heading, Part, PartsView, TableCell, TablePart
from bot.text.values_text import iso_time, number, time_text, title_of
from bot.views.addresses import opponent_path
from bot.views.page import Page, Query
from bot.views.paging import Paging
from engine.opponents.odds import odds_from_start
from storage.database import Database
from storage.evidence.queries.filter_language import filter_texts
from storage.evidence.queries.game_list import (
    GameLine,
    GameOrder,
    ResultFilter,
    count_games,
    list_game_lines,
)
from storage.ledger.own_game_records import match_of
from storage.records import GameStatus, StoredGame

if TYPE_CHECKING:
    from storage.evidence.inference.suspects import Flags

GAMES_PER_PAGE = 40
"""Number of games on one page."""
RESULTS = {
    ResultFilter.ANY.value: "all",
    ResultFilter.WIN.value: "won",
    ResultFilter.DRAW.value: "drawn",
    ResultFilter.LOSS.value: "lost",
    ResultFilter.OPEN.value: "being played",
    ResultFilter.ABORTED.value: "aborted",
    ResultFilter.UNKNOWN.value: "result unknown",
}
ORDERS = {
    GameOrder.NEWEST.value: "newest",
    GameOrder.OLDEST.value: "oldest",
    GameOrder.STRONGEST.value: "strongest opponent",
    GameOrder.LONGEST.value: "longest",
    GameOrder.MOST_BAITS_TAKEN.value: "most baits taken",
}
_RESULT_LABELS = {"win": ("won", "good"), "draw": ("drawn", ""), "loss": ("lost", "trap")}
_COPIED_FIELDS = (
    *("opponent_is_bot", "opponent_rating", "our_rating", "rating_diff", "rated", "speed", "our_side"),
    *("strategy", "engine_version"),
)
"""Fields of `StoredGame` that appear unchanged in the game's row."""
_COLUMNS = (
    Column("Result", is_text=True),
    Column("Moves", label="moves"),
    Column("Baits taken", label="baits taken"),
    Column("Slips", label="slips"),
    Column("Began", is_text=True),
)


_REASONS: Mapping[str, str] = {
    EndReason.NORMAL: "by the rules",
    EndReason.RESIGNATION: "by resignation",
    EndReason.TIME: "on time",
    EndReason.LEFT: "a player left",
    EndReason.AGREEMENT: "by agreement",
    EndReason.ABORTED: "no result",
}


def result_label(state: str, result: str | None) -> tuple[str, str]:
    """Return a short label for a game's result, and its colour (``good``, ``trap`` or empty)."""
    if state == "open":
        return "being played", ""
    if state == "aborted":
        return "aborted", ""
    return _RESULT_LABELS.get(result or "", ("result unknown", ""))


def reason_text(end_reason: str | None) -> str:
    """How a game ended, in words; empty if unknown."""
    return _REASONS.get(end_reason or "", end_reason or "")


def slips_cell(slips: int, unjudged: int) -> TableCell:
    """Show the number of slips, and how many replies are not judged yet."""
    return TableCell(number(slips), f"{number(unjudged)} not judged yet" if unjudged else "")


def games_table(games: Sequence[GameLine], title: str, records: str, *, names_opponents: bool) -> TablePart:
    """Build a table of games.

    Args:
        games: The games, in the order to show.
        title: Title of the table.
        records: As in `TablePart`.
        names_opponents: Whether the first column names the opponent; otherwise it names the game played.
    """
    first = ("Opponent", "Game") if names_opponents else ("Game", "Rating")
    rows = []
    for game in games:
        word, mood = result_label(game.state, game.result)
        rating = "unrated" if game.opponent_rating is None else str(game.opponent_rating)
        link, tags = f"/dash/games/{game.game_id}", (("program", ""),) * game.opponent_is_bot
        if names_opponents:
            who = opponent_path(game.site, game.opponent_site_id)
            against = "" if game.our_rating is None else f" against {game.our_rating}"
            names = (
                TableCell(game.opponent, f"{rating}{against}", link, ("opponent", who), tags=tags),
                TableCell(title_of(game.game), f"{game.strategy} · {game.site}"),
            )
        else:
            names = (TableCell(title_of(game.game), game.strategy, link), TableCell(rating, game.speed))
        rows.append(
            (
                *names,
                TableCell(word, reason_text(game.end_reason), tone=mood),
                number(game.plies),
                f"{game.baits_taken} of {game.baits_set}" if game.baits_set else "no baits",
                slips_cell(game.slips, game.unjudged),
                TableCell(time_text(game.started_at, "%d %b %Y"), time_text(game.started_at, "%H:%M")),
            )
        )
    columns = (*(Column(name, is_text=True) for name in first), *_COLUMNS)
    return TablePart(title, columns, tuple(rows), records=records, style="stacked games")


def stored_games_table(games: Sequence[StoredGame], flags: "Flags | None" = None) -> TablePart:
    """List games with the keys that `desdemona show` accepts.

    Args:
        games: The games, in the order to show.
        flags: The reasons why each game is suspect, for an extra column; None for no extra column.
    """
    are_several = len({game.owner for game in games if not match_of(game)}) > 1
    heads = ("Game", "Started (UTC)", "Site", "Opponent", "Strategy", "Result", "Ending")
    columns = [Column(head, is_text=True) for head in heads]
    rows = []
    for game in games:
        account = f" as {game.account}" if game.account and are_several else ""
        variant = game.game if game.variant in ("standard", "fromPosition") else game.variant
        given = odds_from_start(game.game, game.initial_position)
        casual = "" if game.rated or match_of(game) else "casual"
        terms = f"odds: {given[0].text}" if given else casual
        rating = "unrated" if game.opponent_rating is None else str(game.opponent_rating)
        is_over = game.state is GameStatus.FINISHED
        result = (game.result.value if game.result else NO_VALUE) if is_over else game.state.value
        rows.append(
            (
                game.site_game_id,
                time_text(game.started_at),
                TableCell(f"{game.site}{account} {variant}", terms),
                TableCell(game.opponent_name, rating, tags=(("bot", ""),) * game.opponent_is_bot),
                TableCell(game.strategy, "random" * game.is_drawn),
                TableCell(result, plural(len(game.moves), "ply", "plies")),
                reason_text(game.end_reason) or NO_VALUE,
                *(() if flags is None else (", ".join(flags.get(game.id, ())),)),
            )
        )
    columns += [] if flags is None else [Column("Suspect", is_text=True)]
    return TablePart("", tuple(columns), tuple(rows))


def _odds_record(game: StoredGame) -> dict[str, Any] | None:
    """The odds of a game and the side that gave them, as plain values."""
    given = odds_from_start(game.game, game.initial_position)
    return None if given is None else {"name": given[0].name, "side": given[1]}


def stored_record(game: StoredGame, flags: Sequence[str]) -> dict[str, Any]:
    """Convert a stored game to plain values, including the reasons why it is suspect."""
    return {
        "site": game.site,
        "account": game.account,
        "game_id": game.site_game_id,
        "game": game.game,
        "variant": game.variant,
        "odds": _odds_record(game),
        "started_at": game.started_at.isoformat(),
        "ended_at": None if game.ended_at is None else game.ended_at.isoformat(),
        "opponent": game.opponent_name,
        **{name: getattr(game, name) for name in _COPIED_FIELDS},
        "moves": len(game.moves),
        "state": game.state.value,
        "result": None if game.result is None else game.result.value,
        "end_reason": game.end_reason,
        "suspect": list(flags),
    }


def game_record(game: GameLine) -> dict[str, Any]:
    """Convert a line of the game list to plain values."""
    return {**asdict(game), "started_at": iso_time(game.started_at)}


def _heading(count: int, *, is_filtered: bool) -> Heading:
    if count:
        return Heading("game" if count == 1 else "games", number(count))
    if is_filtered:
        return Heading("No games match these filters.", lead="Fewer filters show more.")
    return Heading("No game has been played yet.", lead="Games appear here as soon as they begin.")


async def load(database: Database, query: Query) -> PartsView:
    """See `bot.views.page.Page.load`."""
    result = ResultFilter(query.choice("result", tuple(RESULTS)))
    order = GameOrder(query.choice("sort", tuple(ORDERS)))
    paging = Paging.of(query, GAMES_PER_PAGE)
    async with database.read() as session:
        count = await count_games(session, query.filters, result)
        games = await list_game_lines(session, query.filters, result, order, GAMES_PER_PAGE, paging.offset)
    paging = replace(paging, count=count)
    is_filtered = bool(filter_texts(query.filters)) or result is not ResultFilter.ANY
    parts: list[Part] = [
        _heading(count, is_filtered=is_filtered),
        paging.choice("Result", "result", RESULTS, result.value),
        paging.choice("First", "sort", ORDERS, order.value),
        *([games_table(games, "", "", names_opponents=True)] if games else []),
        *paging.below(query.filters, is_shown=bool(games)),
    ]
    records = [game_record(game) for game in games]
    fields = {"result": result.value, "sort": order.value, **paging.to_json(), "games": records}
    return PartsView(tuple(parts), lambda: fields, lambda: {"games": records})


PAGE = Page("games", "/dash/games", "Games", load, parameters=frozenset({"result", "sort", "page"}))
