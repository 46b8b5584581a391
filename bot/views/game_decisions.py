"""A whole game with all our decisions in order, as `desdemona show` prints it."""

from collections.abc import Sequence
from dataclasses import replace

from bot.base.rounding import NO_VALUE, percent, plural
from bot.parts.values import (
    Board,
    BoardPart,
    Column,
    ListedMove,
    ListedMoves,
    Note,
    Pager,
    Part,
    TablePart,
)
from bot.text.bait_text import score_text, with_depth
from bot.text.trap_report import GameReport
from bot.views.game import game_heading
from bot.views.moments import Moment, moment_of
from engine.expected import WHOLE
from engine.game import replay, starting_position
from engine.games import get_rules
from engine.opponents.trust import ExploitFacts
from storage.evidence.queries.game_list import MoveMark

_COLUMNS = (
    Column("Move", is_text=True),
    Column("Bait", is_text=True),
    *map(Column, ("Expected", "At depth 2", "At depth 3", "Costs")),
    Column("Reply", is_text=True),
)
_NO_PAGER = Pager(1, None, "", "")


def report_parts(
    report: GameReport,
    marks: Sequence[MoveMark],
    facts: ExploitFacts | None = None,
    *,
    traps_only: bool = False,
) -> tuple[Part, ...]:
    """The game's header, final board and moves, and each decision with a table like the paper's Figure 8.

    Args:
        report: The game.
        marks: Marks on our moves in the game.
        facts: What exploit knew of the opponent after the game; None if it did not play.
        traps_only: Show only the table of baits and the moves that set one; if none did, explain why.
    """
    header = report.header
    rules = get_rules(header.game)
    start = starting_position(rules, header.initial_position)
    last = rules.board_rows(replay(rules, header.moves, start))
    moments = [moment_of(header, decision) for decision in report.decisions]
    found: list[Part] = [
        game_heading(header, report.sides, marks, facts),
        Note(_counts(moments)),
        BoardPart(Board(header.game, last, "The last position", header.our_side), _NO_PAGER),
        ListedMoves(tuple(map(ListedMove, report.names)), is_numbered_in_pairs=rules.is_numbered_in_pairs),
        *(_baits(moments) if traps_only else ()),
    ]
    notes: dict[str, None] = {}
    for moment in moments:
        if moment.baits or not traps_only:
            tables = *moment.choice, BoardPart(moment.board, _NO_PAGER), moment.candidate_table
            notes.update(dict.fromkeys(each.note for each in tables if isinstance(each, TablePart)))
            without = (replace(each, note="") if isinstance(each, TablePart) else each for each in tables)
            found += [moment.story, *without]
    return (*found, *(Note(each) for each in notes if each))


def _counts(moments: Sequence[Moment]) -> str:
    """State the number of traps in the paper's sense and of moves whose baits are unknown."""
    counted_ = [each.decision for each in moments if not each.decision.is_decided and each.decision.is_trap]
    fell = sum(each.outcome == "fell" for each in counted_)
    accident = "" if all(each.decision.sets_traps for each in moments) else " by accident"
    set_ = f"{len(counted_)} set{accident}, {fell} successful"
    said = f"Traps in the paper's sense, each at its move's own depth: {set_}."
    unknown = sum(
        not each.is_checked and len(each.decision.replies) > 1 and each.decision.reply is not None
        for each in moments
        if not each.decision.is_decided
    )
    return f"{said} Baits are not known for {plural(unknown, 'move')}." if unknown else said


def _baits(moments: Sequence[Moment]) -> list[Part]:
    """A table with one row per bait, plus a note if there are no baits or some moves are not yet judged."""
    played = [each for each in moments if not each.is_dropped]
    waiting = sum(not each.is_judged for each in played)
    decided = sum(each.is_judged and each.decision.is_decided is True for each in played)
    rows = []
    for moment in played:
        told = moment.decision
        replies = {each.reply: each for each in told.replies}
        for bait in moment.baits:
            reply = replies[bait.reply]
            rows.append(
                (
                    f"{told.number}. {told.name}",
                    bait.name,
                    percent(bait.probability, 1),
                    *(score_text(text) for text in (*reply.score_texts, None, None)[:2]),
                    str(with_depth(percent(bait.cost / WHOLE, 1), bait)),
                    f"{told.reply_name or NO_VALUE}{', the bait' * (told.reply == bait.reply)}",
                )
            )
    nothing = (
        f"No bait {'so far in' if waiting else 'in'} this game: "
        f"{plural(len(played) - waiting, 'move')} analysed, {decided} of them decided."
    )
    found: list[Part] = [TablePart("Baits", _COLUMNS, tuple(rows)) if rows else Note(nothing)]
    if waiting:
        found.append(
            Note(
                f"Not yet analysed: {plural(waiting, 'move')}. The running program or `desdemona db "
                "recheck` will analyse the rest."
            )
        )
    return found
