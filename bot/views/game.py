"""One game with its moves and all details of our decisions."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from bot.base.rounding import duration, plural
from bot.parts.values import (
    Beside,
    Board,
    BoardPart,
    Heading,
    Links,
    ListedMove,
    ListedMoves,
    Note,
    Pager,
    Part,
    Pill,
    Rows,
    Story,
    TablePart,
)
from bot.text.trust_text import trust_text
from bot.text.values_text import time_text, title_of
from bot.views.addresses import opponent_path
from bot.views.games import reason_text, result_label
from bot.views.moments import Moment, facts_table, read_moment_of
from bot.views.page import BadQuery, Download, Page, PageNotFound, Query
from engine.errors import EngineFault
from engine.expected import WHOLE
from engine.formats import files
from engine.formats.files import GameFormat
from engine.formats.record import BadGame
from engine.game import continued_position, starting_position
from engine.games import GAMES, first_side
from engine.opponents.odds import odds_from_start
from engine.opponents.trust import ExploitFacts
from storage.database import Database
from storage.errors import VALUE_ERRORS, reason_of
from storage.evidence.queries.game_list import MoveMark, list_marks
from storage.ledger.decisions import list_decisions
from storage.ledger.exploit_facts import exploit_facts
from storage.ledger.games import load_game_by_id
from storage.ledger.own_game_records import match_limits, match_of, record_of
from storage.records import BaitOutcome, GameStatus, StoredGame

FORMATS = {
    GameFormat.PGN.value: "application/vnd.chess-pgn",
    GameFormat.GGF.value: "text/plain",
    GameFormat.TRANSCRIPT.value: "text/plain",
}
"""Formats that `desdemona export` writes, with their media types."""
_ENDINGS = {GameFormat.TRANSCRIPT.value: "txt"}
_STATES = {
    "committed": "stored; the move may not have been sent",
    "sent": "the server accepted it",
    "confirmed": "the server shows it",
    "dropped": "never played: the game ended first",
}
_NO_REPLAY = (
    "The moves of this game cannot be replayed to the end: {}. The list below shows the rest as recorded."
)
_MAX_PLY = 1_000_000


@dataclass(frozen=True, slots=True)
class GameView:
    """The content of the page."""

    stored: StoredGame
    sides: tuple[str, ...]
    """Names of the two sides, starting with the first mover; empty if the game's rules are unknown."""
    names: tuple[str, ...]
    """Every move in human-readable notation."""
    damage: str
    """Why the moves cannot be fully replayed; empty if they can."""
    marks: tuple[MoveMark, ...]
    ply: int
    """The ply shown."""
    mark: MoveMark | None
    """Mark of the displayed decision; None if we made no decision at this ply."""
    moment: Moment | None
    moment_damage: str
    """Why the decision's record is unreadable; empty if it is valid or there is no decision."""
    rows: tuple[str, ...]
    """The board before the ply; empty if unknown."""
    facts: ExploitFacts | None
    """What exploit knew of the opponent after the game; None if it did not play."""

    @property
    def title(self) -> str:
        """See `bot.views.page.View.title`."""
        return f"{self.stored.opponent_name[:60]}, {title_of(self.stored.game)}"

    @property
    def parts(self) -> tuple[Part, ...]:
        """See `bot.views.page.View.parts`."""
        told = self.moment
        rules = GAMES.get(self.stored.game)
        is_in_pairs = rules is None or rules.is_numbered_in_pairs
        moves = ListedMoves(tuple(self._cells), "moves", is_in_pairs)
        found: list[Part] = [game_heading(self.stored, self.sides, self.marks, self.facts)]
        if self.damage:
            found.append(Note(_NO_REPLAY.format(self.damage), is_card=True))
        found.append(Beside((self._board, self._story, moves), "moment-page", "moment"))
        if told is not None:
            found += [*told.choice, Beside((told.reply_table, told.candidate_table))]
        if self.mark is not None:
            nothing = (facts_table("What was expected", (), "There is no forecast of the reply."),)
            expected = nothing if told is None else (told.forecast_table,)
            found.append(Beside((*expected, self._record(self.mark))))
        path = f"/dash/games/{self.stored.id}/download?format="
        forms = [form for form in FORMATS if self.stored.game == "othello" or form != GameFormat.GGF]
        links = [(form if form == "transcript" else form.upper(), path + form) for form in forms]
        links.append(("JSON", f"/dash/api/game/{self.stored.id}?ply={self.ply}"))
        return (*found, Links("Download:", tuple(links)))

    @property
    def _board(self) -> BoardPart:
        """The board that the opponent faced or, if no decision is shown, the board before the ply."""
        board, after = None, plural(self.ply, "move")
        if self.moment is not None:
            board = self.moment.board
        elif self.rows:
            board = Board(self.stored.game, self.rows, f"After {after}", self.stored.our_side)
        plies = [mark.ply for mark in self.marks]
        earlier = [self._at(ply) for ply in plies if ply < self.ply]
        later = [self._at(ply) for ply in plies if ply > self.ply]
        step = f"after {after}"
        if self.mark is not None:
            step = f"our move {len(earlier) + 1} of {len(plies)}"
        pager = Pager(1, None, "", "", ("← Earlier", "Later →"), step)
        return BoardPart(
            board, replace(pager, earlier=earlier[-1] if earlier else "", later=later[0] if later else "")
        )

    @property
    def _story(self) -> Story:
        if self.moment is not None:
            return self.moment.story
        if self.mark is not None:
            said = f"{self.moment_damage}. This view shows the rest. `desdemona db recheck` lists all damage."
            before = f"Move {self.mark.ply // 2 + 1} · we played {self.mark.move}"
            return Story(before, "The record of this move is damaged", "trap", (said,))
        if self.marks:
            said = "Choose one of our moves in the list, or step through them with the links."
            return Story("", "We made no decision here", "", (said,))
        said = "Only the moves are known: another engine chose them, or the game ended before our first move."
        if self.stored.state is GameStatus.OPEN:
            said = "The game has just begun."
        return Story("", "No decision of ours is recorded", "", (said,))

    def _record(self, mark: MoveMark) -> TablePart:
        """When the move was decided, sent and confirmed, and the time that each side took."""
        times = zip(
            ("Decided", "Sent", "Confirmed"), (mark.created_at, mark.sent_at, mark.confirmed_at), strict=True
        )
        reply = "not timed" if mark.reply_time_s is None else f"after {duration(mark.reply_time_s, 1)}"
        return facts_table(
            "The record",
            (
                ("State", f"{mark.state}: {_STATES.get(mark.state, mark.state)}"),
                ("Their reply", reply),
                *((name, time_text(at, "%Y-%m-%d %H:%M:%S")) for name, at in times),
            ),
        )

    @property
    def _cells(self) -> Iterator[ListedMove]:
        ours = {mark.ply: mark for mark in self.marks}
        game = self.stored.game
        first = first_side(game, self.stored.initial_position) if game in GAMES else 0
        for ply, name in enumerate(self.names):
            of, mark, marks = ply if ply in ours else ply - 1, ours.get(ply), list[str]()
            if mark is not None and mark.bait is not None:
                marks.append(BaitOutcome.of(mark.is_taken).value)
            if mark is not None and mark.is_slip:
                marks.append("slip")
            is_ours = (first + ply) % 2 == self.stored.our_side or mark is not None
            link = self._at(of) if of in ours else ""
            yield ListedMove(name, link, is_ours, ply == self.ply, tuple(marks))

    def _at(self, ply: int) -> str:
        return f"/dash/games/{self.stored.id}?ply={ply}#moment"

    def to_json(self) -> dict[str, Any]:
        """See `bot.views.page.View.to_json`."""
        header = asdict(self.stored)
        for name in ("started_at", "ended_at"):
            header[name] = time_text(getattr(self.stored, name), "%Y-%m-%dT%H:%M:%SZ")
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
            "trust": trust_record(self.facts),
        }

    def tables(self) -> Mapping[str, Rows]:
        """See `bot.views.page.View.tables`."""
        moves, told = [_mark_row(mark) for mark in self.marks], self.moment
        if told is None:
            return {"moves": moves, "replies": (), "candidates": ()}
        return {
            "moves": moves,
            "replies": [
                {
                    "reply": each.reply,
                    "name": each.name,
                    "at_depth_2": each.score_texts[0] if len(each.score_texts) > 1 else None,
                    "at_depth_3": each.score_texts[1] if len(each.score_texts) > 2 else None,
                    "at_full_depth": each.their_text,
                    "cost": None if each.judged is None else each.judged.cost / WHOLE,
                    "cost_depth": None if each.judged is None else each.judged.judge_depth,
                    "is_solved": None if each.judged is None else each.judged.is_solved,
                    "probability": each.probability,
                    "is_bait": each.reply in {bait.reply for bait in told.baits},
                    "is_played": each.reply == told.decision.reply,
                }
                for each in told.replies
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
                for each in told.candidates
            ],
        }


def trust_record(facts: ExploitFacts | None) -> dict[str, Any] | None:
    """How far exploit believed its model of the opponent, as plain JSON values."""
    return None if facts is None else {"before": facts.prior, "after": facts.trust, "replies": facts.replies}


def game_heading(
    stored: StoredGame,
    sides: Sequence[str],
    marks: Sequence[MoveMark],
    facts: ExploitFacts | None = None,
) -> Heading:
    """The heading of a game: players, result, number of baits taken, and trust in the opponent's model.

    Args:
        stored: The game.
        sides: Names of the sides; empty if the game's rules are unknown.
        marks: Marks on our moves.
        facts: What exploit knew of the opponent after the game; None if it did not play.
    """
    word, mood = result_label(stored.state, stored.result)
    counts = [mark for mark in marks if mark.state != "dropped"]
    taken, set_ = sum(bool(mark.is_taken) for mark in counts), sum(mark.bait is not None for mark in counts)
    slips = sum(mark.is_slip for mark in counts)
    unjudged = sum(mark.is_unjudged for mark in counts)
    colour = f" with {sides[stored.our_side]}" if sides else ""
    ours = "" if stored.our_rating is None else f", {stored.our_rating}"
    clock = ""
    if stored.clock_initial_s is not None:
        clock = f", {stored.clock_initial_s / 60:g}+{stored.clock_increment_s or 0}"
    match = match_of(stored)
    given = odds_from_start(stored.game, stored.initial_position)
    return Heading(
        stored.opponent_name,
        crumbs=(
            ("Games", "/dash/games"),
            (title_of(stored.game), f"/dash/games?game={stored.game}"),
            (stored.site, ""),
            *(((stored.account, ""),) if stored.account else ()),
            (stored.site_game_id, ""),
        ),
        link=opponent_path(stored.site, stored.opponent_id),
        lead=""
        if facts is None
        else trust_text(facts, is_bot=stored.opponent_is_bot, rating=stored.opponent_rating),
        detail="" if stored.opponent_rating is None else str(stored.opponent_rating),
        pills=(
            Pill(word, reason_text(stored.end_reason), mood="bad" if mood == "trap" else "good"),
            Pill(stored.strategy, f"{colour}{ours}, engine {stored.engine_version}".strip(" ,")),
            Pill("rated" if stored.rated else "casual", f"{stored.speed}{clock}"),
            *(() if given is None else (Pill(f"odds: {given[0].text}", f"from {sides[given[1]]}"),)),
            *(() if match is None else (Pill("match", f"{match}, {match_limits(stored)}".rstrip(", ")),)),
            Pill(time_text(stored.started_at)),
            Pill(f"{taken} of {set_}", "baits taken", mood="bad" if taken else "quiet"),
            Pill(str(slips), "slip" if slips == 1 else "slips", mood="warn" if slips else "quiet"),
            *([Pill(plural(unjudged, "reply", "replies"), "not judged yet")] if unjudged else ()),
        ),
        pills_name="The game",
    )


def _mark_row(mark: MoveMark) -> dict[str, Any]:
    row = asdict(mark)
    for name in ("created_at", "sent_at", "confirmed_at"):
        value = getattr(mark, name)
        row[name] = None if value is None else time_text(value, "%Y-%m-%dT%H:%M:%SZ")
    return row


async def load(database: Database, query: Query) -> GameView:
    """See `bot.views.page.Page.load`."""
    async with database.read() as session:
        stored = await _stored(session, query)
        marks = await list_marks(session, stored.id)
        ply = query.number("ply", _first_ply(marks), 0, _MAX_PLY)
        last = max([len(stored.moves), *(mark.ply for mark in marks)])
        if ply > last:
            raise BadQuery(f"ply: {ply} is beyond the game's last ply, {last}")
        mark = next((each for each in marks if each.ply == ply), None)
        moment = None if mark is None else await read_moment_of(session, stored, ply)
        facts = await exploit_facts(session, stored)
    sides, names, rows, damage = await asyncio.to_thread(_replay, stored, ply)
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
        facts=facts,
    )


async def _stored(session: Any, query: Query) -> StoredGame:
    """Load the game with the id in the request's URL.

    Raises:
        PageNotFound: The game does not exist.
    """
    key = query.own.get("id", "")
    is_number = key.isascii() and key.isdecimal() and len(key) < 19
    stored = await load_game_by_id(session, int(key)) if is_number else None
    if stored is None:
        raise PageNotFound(f"There is no game {key!a:.40}.")
    return stored


def _first_ply(marks: Sequence[MoveMark]) -> int:
    """The ply at which to open a game: the first bait taken, else the first bait, else our first move."""
    for chosen in (
        [mark for mark in marks if mark.is_taken],
        [mark for mark in marks if mark.bait is not None],
        marks,
    ):
        if chosen:
            return chosen[0].ply
    return 0


def _replay(stored: StoredGame, ply: int) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], str]:
    """The names of the sides and moves, the board before a ply, and why any of them is missing."""
    game = GAMES.get(stored.game)
    if game is None:
        return (), stored.moves, (), f"this program does not know the rules of {stored.game!a:.40}"
    names, rows = list[str](), tuple[str, ...]()
    try:
        position = starting_position(game, stored.initial_position)
        for text in stored.moves:
            if len(names) == ply:
                rows = game.board_rows(position)
            position = continued_position(game, position)
            move = game.parse_move(position, text)
            names.append(game.move_name(position, move))
            position = game.play(position, move)
        if len(names) == ply:
            rows = game.board_rows(position)
    except (EngineFault, *VALUE_ERRORS) as error:
        return game.sides, (*names, *stored.moves[len(names) :]), rows, reason_of(error)
    return game.sides, tuple(names), rows, ""


async def download(database: Database, query: Query) -> Download:
    """Convert the game to the format of another program (parameter ``format``).

    Raises:
        BadQuery: The format is unknown or cannot express the game.
        PageNotFound: The game does not exist.
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
)
