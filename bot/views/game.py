"""One game: its moves, and the whole story of each of our decisions."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

from markupsafe import Markup

from bot.base.rounding import counted
from bot.charts.figure import ChartSize
from bot.charts.line_chart import line_chart
from bot.charts.lines import ChartLine, LineChart
from bot.charts.numbers import NumberStyle
from bot.parts.values import Board, Rows
from bot.text.bait_text import cost_text
from bot.text.values_text import moment as moment_text
from bot.views.games import ended
from bot.views.moments import Moment, read_moment_of
from bot.views.page import BadQuery, Download, NoSuchThing, Page, Query
from engine.errors import EngineFault
from engine.expected import WHOLE
from engine.formats import files
from engine.formats.files import GameFormat
from engine.formats.record import BadGame
from engine.game import if_it_goes_on
from engine.games import GAMES
from storage.database import Database
from storage.errors import VALUE_ERRORS, reason_of
from storage.evidence.queries.game_list import MoveMark, list_marks
from storage.evidence.trap_report import CandidateReport, ReplyReport
from storage.ledger.decisions import list_decisions
from storage.ledger.games import load_game_by_id
from storage.ledger.own_game_records import record_of
from storage.records import StoredGame

FORMATS = {
    GameFormat.PGN.value: "application/vnd.chess-pgn",
    GameFormat.GGF.value: "text/plain",
    GameFormat.TRANSCRIPT.value: "text/plain",
}
"""Formats that `desdemona export` writes, with their media types."""
_ENDINGS = {GameFormat.TRANSCRIPT.value: "txt"}
_STATES = {
    "committed": "stored; whether it was sent is not known",
    "sent": "the server accepted it",
    "confirmed": "the server shows it",
    "dropped": "never played: the game ended first",
}
_SHARE = NumberStyle(unit=" %")
_MOST_MOVES = 1_000_000


@dataclass(frozen=True, slots=True)
class MoveCell:
    """One move of the list."""

    ply: int
    name: str
    """In people's notation, or as recorded where the rules do not allow it."""
    link: str
    """To the decision that it is, or that it answers; empty if there is none."""
    is_ours: bool
    is_shown: bool
    mark: str
    """On a move of ours: ``fell``, ``held``, ``open`` (a bait without a reply), ``slip`` or none."""


@dataclass(frozen=True, slots=True)
class GameView:
    """The contents of the page."""

    stored: StoredGame
    sides: tuple[str, ...]
    """Names of the two, the one that moves first in front; empty: the game's rules are not known."""
    names: tuple[str, ...]
    """Every move in people's notation."""
    damage: str
    """Why the moves cannot be fully replayed; empty: they can."""
    marks: tuple[MoveMark, ...]
    ply: int
    """Which is shown."""
    mark: MoveMark | None
    """Of the decision that is shown; None: no decision of ours stands at this ply."""
    moment: Moment | None
    moment_damage: str
    """Why there is none; empty: it is sound, or there is no decision."""
    rows: tuple[str, ...]
    """The board before the ply; empty: it is not known."""

    formats = tuple(FORMATS)

    @property
    def title(self) -> str:
        """Name of the game for people."""
        known = GAMES.get(self.stored.game)
        return self.stored.game if known is None else known.title

    @property
    def ended(self) -> tuple[str, str]:
        """How the game ended, in a word, and its colour."""
        return ended(self.stored.state, self.stored.result)

    @property
    def our_colour(self) -> str:
        """The side that we play."""
        return self.sides[self.stored.our_side] if self.sides else ""

    @property
    def baits_set(self) -> int:
        """Moves of ours with a confirmed bait."""
        return sum(mark.bait is not None for mark in self._counted)

    @property
    def baits_taken(self) -> int:
        """Replies that took one."""
        return sum(bool(mark.is_taken) for mark in self._counted)

    @property
    def slips(self) -> int:
        """Other replies that cost a tenth of the game or more."""
        return sum(mark.is_slip for mark in self._counted)

    @property
    def _counted(self) -> list[MoveMark]:
        return [mark for mark in self.marks if mark.state != "dropped"]

    @property
    def state_words(self) -> str:
        """The progress of the shown move to the server."""
        return "" if self.mark is None else _STATES.get(self.mark.state, self.mark.state)

    @property
    def earlier(self) -> str:
        """The address of our decision before; empty if there is none."""
        plies = [mark.ply for mark in self.marks if mark.ply < self.ply]
        return self._at(plies[-1]) if plies else ""

    @property
    def later(self) -> str:
        """The address of our next decision; empty if there is none."""
        plies = [mark.ply for mark in self.marks if mark.ply > self.ply]
        return self._at(plies[0]) if plies else ""

    @property
    def step(self) -> int:
        """The number of the shown decision among ours, from 1."""
        return sum(mark.ply <= self.ply for mark in self.marks)

    @property
    def pairs(self) -> list[tuple[int, MoveCell, MoveCell | None]]:
        """The moves, two by two, with their number."""
        ours = {mark.ply: mark for mark in self.marks}
        cells = [self._cell(ply, name, ours) for ply, name in enumerate(self.names)]
        both = zip_longest(cells[::2], cells[1::2])
        return [(number, first, second) for number, (first, second) in enumerate(both, start=1)]

    def _cell(self, ply: int, name: str, ours: Mapping[int, MoveMark]) -> MoveCell:
        of = ply if ply in ours else ply - 1
        mark = ours.get(ply)
        word = ""
        if mark is not None and mark.bait is not None:
            word = "open" if mark.is_taken is None else "fell" if mark.is_taken else "held"
        if mark is not None and mark.is_slip:
            word = "slip"
        return MoveCell(
            ply=ply,
            name=name,
            link=self._at(of) if of in ours else "",
            is_ours=ply % 2 == self.stored.our_side if mark is None else True,
            is_shown=ply == self.ply,
            mark=word,
        )

    def _at(self, ply: int) -> str:
        return f"/dash/games/{self.stored.id}?ply={ply}#moment"

    @property
    def board(self) -> Board:
        """The board before the shown ply, where no decision is shown."""
        return Board(self.stored.game, self.rows, f"After {counted(self.ply, 'move')}", self.stored.our_side)

    @property
    def replies(self) -> list[ReplyReport]:
        """The replies to the shown move, the best for the opponent first."""
        replies = () if self.moment is None else self.moment.decision.replies
        return sorted(replies, key=lambda each: each.final_centi)

    @property
    def candidates(self) -> list[CandidateReport]:
        """The moves that we could have played, the best by the score that decided first."""
        candidates = () if self.moment is None else self.moment.decision.candidates
        is_by_value = self.moment is not None and self.moment.decision.chosen.value_text is not None

        def rank(each: CandidateReport) -> tuple[float, int]:
            value = float("-inf") if each.value is None else each.value
            return (value if is_by_value else each.adjusted_centi), each.raw_centi

        return sorted(candidates, key=rank, reverse=True)

    def cost(self, reply: ReplyReport) -> str:
        """The cost of a reply, without its unit."""
        return cost_text(reply.cost_text, "")

    @property
    def bait_names(self) -> frozenset[str]:
        """Replies that are confirmed baits of the shown move."""
        if self.moment is None or self.moment.decision.forecast is None or self.moment.decision.is_decided:
            return frozenset()
        return frozenset(bait.reply for bait in self.moment.decision.forecast.baits)

    @property
    def shallow_chart(self) -> Markup | None:
        """How bait and best reply look by depth; None: there are not two replies to compare."""
        if self.moment is None:
            return None
        decision, best = self.moment.decision, self.moment.best
        baits = self.bait_names
        wanted = [each for each in decision.replies if each.reply in baits and each.reply == decision.reply]
        wanted += [each for each in decision.replies if each.reply in baits]
        wanted += [each for each in decision.replies if each.reply == decision.reply]
        other = next((each for each in wanted if each != best), None)
        if best is None or other is None or len(best.scores_centi) < 2:
            return None
        values = dict(zip(decision.replies, self.moment.values, strict=True))
        names = {best.reply: "best", other.reply: "bait" if other.reply in baits else "played"}
        return line_chart(
            LineChart(
                title="How the replies look by depth",
                description=f"Expected score after {best.name} and {other.name}, for who played it.",
                x_name="plies ahead",
                lines=tuple(
                    _line(f"{reply.name}, {names[reply.reply]}", values[reply]) for reply in (best, other)
                ),
                y_style=_SHARE,
                size=ChartSize.HALF,
            )
        )

    def to_json(self) -> dict[str, Any]:
        """See `bot.views.page.View.to_json`."""
        header = asdict(self.stored)
        for name in ("started_at", "ended_at"):
            header[name] = moment_text(getattr(self.stored, name), "%Y-%m-%dT%H:%M:%SZ")
        if self.stored.ended_at is None:
            header["ended_at"] = None
        moment = self.moment
        return {
            **header,
            "sides": self.sides,
            "names": self.names,
            "damage": self.damage,
            "ply": self.ply,
            "our_moves": [_mark_row(mark) for mark in self.marks],
            "decision": None if moment is None else asdict(moment.decision),
            "verdict": None if moment is None else moment.verdict.texts(),
            "decision_damage": self.moment_damage,
        }

    def tables(self) -> Mapping[str, Rows]:
        """See `bot.views.page.View.tables`."""
        return {
            "moves": [_mark_row(mark) for mark in self.marks],
            "replies": [
                {
                    "reply": each.reply,
                    "name": each.name,
                    "at_depth_2": each.score_texts[0] if len(each.score_texts) > 1 else None,
                    "in_truth": each.their_text,
                    "cost": each.cost / WHOLE,
                    "probability": each.probability,
                    "is_bait": each.reply in self.bait_names,
                    "is_played": self.moment is not None and each.reply == self.moment.decision.reply,
                }
                for each in self.replies
            ],
            "candidates": [
                {
                    "move": each.move,
                    "name": each.name,
                    "score_centi": each.raw_centi,
                    "is_bound": each.raw_is_bound,
                    "adjusted": each.adjusted_centi,
                    "bonus_for": each.trap_name,
                    "value": each.value,
                }
                for each in self.candidates
            ],
        }


def _line(name: str, values: Sequence[float]) -> ChartLine:
    return ChartLine(name, tuple(range(2, 2 + len(values))), tuple(100 * worth for worth in values))


def _mark_row(mark: MoveMark) -> dict[str, Any]:
    row = asdict(mark)
    for name in ("created_at", "sent_at", "confirmed_at"):
        value = getattr(mark, name)
        row[name] = None if value is None else moment_text(value, "%Y-%m-%dT%H:%M:%SZ")
    return row


async def load(database: Database, query: Query) -> GameView:
    """See `bot.views.page.Page.load`."""
    async with database.read() as session:
        stored = await _stored(session, query)
        marks = await list_marks(session, stored.id)
        ply = query.number("ply", _first_ply(marks), 0, _MOST_MOVES)
        last = max([len(stored.moves), *(mark.ply for mark in marks)])
        if ply > last:
            raise BadQuery(f"ply: {ply} is beyond the game's last, {last}")
        mark = next((each for each in marks if each.ply == ply), None)
        moment = None if mark is None else await read_moment_of(session, stored, ply)
    sides, names, rows, damage = await asyncio.to_thread(_replayed, stored, ply)
    return GameView(
        stored=stored,
        sides=sides,
        names=names,
        damage=damage,
        marks=tuple(marks),
        ply=ply,
        mark=mark,
        moment=moment if isinstance(moment, Moment) else None,
        moment_damage=moment if isinstance(moment, str) else "",
        rows=rows,
    )


async def _stored(session: Any, query: Query) -> StoredGame:
    """The game that an address names.

    Raises:
        NoSuchThing: There is none.
    """
    key = query.own.get("id", "")
    is_number = key.isascii() and key.isdecimal() and len(key) < 19
    stored = await load_game_by_id(session, int(key)) if is_number else None
    if stored is None:
        raise NoSuchThing(f"There is no game {key!a:.40}.")
    return stored


def _first_ply(marks: Sequence[MoveMark]) -> int:
    """The ply at which a game opens: the first bait that was taken, or the first bait, or our first move."""
    for chosen in (
        [mark for mark in marks if mark.is_taken],
        [mark for mark in marks if mark.bait is not None],
        marks,
    ):
        if chosen:
            return chosen[0].ply
    return 0


def _replayed(stored: StoredGame, ply: int) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], str]:
    """The sides, the moves' names, the board before a ply, and the reason if some are missing."""
    game = GAMES.get(stored.game)
    if game is None:
        return (), stored.moves, (), f"this program does not know the rules of {stored.game!a:.40}"
    names, rows = list[str](), tuple[str, ...]()
    try:
        start = stored.initial_position
        position = game.initial() if start is None else game.parse_position(start)
        for text in stored.moves:
            if len(names) == ply:
                rows = game.board_rows(position)
            position = if_it_goes_on(game, position)
            move = game.parse_move(position, text)
            names.append(game.move_name(position, move))
            position = game.play(position, move)
        if len(names) == ply:
            rows = game.board_rows(position)
    except (EngineFault, *VALUE_ERRORS) as error:
        return game.sides, (*names, *stored.moves[len(names) :]), rows, reason_of(error)
    return game.sides, tuple(names), rows, ""


async def download(database: Database, query: Query) -> Download:
    """The game in a format of other programs (parameter ``format``).

    Raises:
        BadQuery: The format is unknown, or cannot express the game.
        NoSuchThing: There is no such game.
    """
    form = GameFormat(query.choice("format", tuple(FORMATS)))
    async with database.read() as session:
        stored = await _stored(session, query)
        try:
            decisions = [] if form is GameFormat.TRANSCRIPT else await list_decisions(session, stored.id)
            record = record_of(stored, stored.account or "desdemona", decisions)
            text = await asyncio.to_thread(files.write, record, form)
        except BadGame as error:
            raise BadQuery(f"format: {form} cannot express this game: {error}") from error
    return Download(text, FORMATS[form], f"game-{stored.id}.{_ENDINGS.get(form.value, form.value)}")


PAGE = Page(
    "game",
    "/dash/games/{id}",
    "Game",
    load,
    parameters=frozenset({"ply", "format"}),
    filters=(),
    is_in_menu=False,
    under="games",
    download=download,
    template="game.html",
)
