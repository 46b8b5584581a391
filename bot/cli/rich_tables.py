"""Formats records as rich tables, or as rows of plain values.  Prints nothing."""

from collections.abc import Sequence

from rich.console import Group, JustifyMethod, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bot.base.rounding import counted, percent
from bot.text.moment_text import judge_moment
from engine.decision import SearchMode
from engine.expected import WHOLE
from engine.game import replay
from engine.games import get_rules
from storage.evidence.intervals import Performance
from storage.evidence.trap_report import BaitReport, CandidateReport, DecisionReport, GameReport
from storage.ledger.own_game_records import match_limits, match_of
from storage.records import GameStatus, StoredGame

NONE = "-"

# The terminal wraps it, so it is one line.
_LEGEND = (
    "standard: the score by plain minimax, <= when it is only known to be no better; trappy: the same with "
    "the bonus for the paper's best trap; expected: what the move promises against the replies that a model "
    "of people expects; paper's trap: a reply whose quality (trappiness times cost) reaches the threshold, "
    "whether or not it tempts people (?: not all replies are known); bait: a reply that costs a tenth of the "
    "game or more, that one person in ten or more is expected to play, and that looks as good as the best "
    "reply to some shorter search; game: a win is 100 %."
)


def game_view(report: GameReport, *, traps_only: bool = False) -> RenderableType:
    """A whole game: header, final board, moves, and each decision with a table like the paper's Figure 8.

    Args:
        traps_only: A table of the baits, and only the moves with one; without any, why there is none.
    """
    header = report.header
    decisions = [d for d in report.decisions if _counted_baits(d) or not traps_only]
    return Group(
        _header(report),
        Padding(_final_board(header), (1, 0, 1, 2), expand=False),
        _moves(report.names),
        *(_traps(report) if traps_only else ()),
        *(_decision(report, decision) for decision in decisions),
        "",
        _LEGEND,
    )


def result_text(game: StoredGame) -> str:
    """The game's result for us, or its state."""
    if game.state is not GameStatus.FINISHED:
        return game.state.value
    return NONE if game.result is None else game.result.value


def performance_text(found: Performance) -> str:
    """For instance ``1702 (1604 to 1815)``; see `Performance.words`."""
    return found.words or NONE


def _header(report: GameReport) -> RenderableType:
    game = report.header
    clock = NONE if game.clock_initial_s is None else f"{game.clock_initial_s} s + {game.clock_increment_s} s"
    kind = f"{'rated' if game.rated else 'casual'}, {game.speed}, {clock}"
    if (match := match_of(game)) is not None:
        kind = f"match {match}, {match_limits(game)}"
    accident = "" if report.sets_traps else " by accident"
    open_ = [d for d in report.decisions if not d.is_decided]  # the others count nowhere
    outcomes = [d.outcome for d in open_ if d.is_trap]
    traps = f"{len(outcomes)} set{accident}, {sum(outcome == 'fell' for outcome in outcomes)} fallen into"
    taken = [d.forecast.is_taken for d in open_ if d.forecast is not None and _baits(d)]
    baits = f"{_moves_text(len(taken))} with one{accident}, {sum(map(bool, taken))} fallen for"
    answered = [d for d in open_ if len(d.replies) > 1 and d.reply is not None]
    if unknown := sum(not _is_checked(d) for d in answered):
        baits += f"; not known for {_moves_text(unknown)}"
    ours, theirs = report.sides[game.our_side], report.sides[1 - game.our_side]
    table = Table.grid(padding=(0, 2))
    for name, value in (
        (
            "game",
            f"{game.site_game_id} at {game.site}{account_text(game)}, {game.started_at:%Y-%m-%d %H:%M} UTC",
        ),
        ("kind", f"{get_rules(game.game).title}, {kind}"),
        (
            "strategy",
            f"{game.strategy} ({ours}), rating {_or_none(game.our_rating)}, engine {game.engine_version}",
        ),
        (
            "opponent",
            f"{printable_name(game.opponent_name)} ({theirs}), rating {_or_none(game.opponent_rating)}",
        ),
        ("result", f"{result_text(game)} ({_or_none(game.end_reason)})"),
        ("baits", baits),
        ("paper's traps", traps),
    ):
        table.add_row(name, value)
    return table


def _traps(report: GameReport) -> list[RenderableType]:
    """All baits in one table, a row for each; without any, or before all moves are judged, it is said so."""
    played = [d for d in report.decisions if d.state != "dropped"]
    waiting = sum(not _is_judged(d) for d in played)
    judged, decided = len(played) - waiting, sum(_is_judged(d) and d.is_decided is True for d in played)
    lines = []
    if not any(map(_counted_baits, played)):
        so_far = "so far in" if waiting else "in"
        lines.append(
            f"No confirmed trap {so_far} this game: {_moves_text(judged)} judged, {decided} of them decided."
        )
    if waiting:
        lines.append(
            f"The analyses of {_moves_text(waiting)} are still to be done: the running program does them, or "
            "`desdemona db recheck`."
        )
    parts = [Text(line) for line in lines]
    if not any(map(_counted_baits, played)):
        return ["", *parts]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("move", "bait", "expected", "at depth 2", "in fact", "costs", "reply"):
        justify: JustifyMethod = "left" if name in ("move", "bait", "reply") else "right"
        table.add_column(name, justify=justify)
    for decision in played:
        replies = {each.reply: each for each in decision.replies}
        for bait in _counted_baits(decision):
            score_texts = replies[bait.reply].score_texts
            taken = ", the bait" if decision.reply == bait.reply else ""
            table.add_row(
                f"{decision.number}. {decision.name}",
                bait.name,
                percent(bait.probability, 1),
                score_texts[0] if score_texts else NONE,
                replies[bait.reply].their_text,
                percent(bait.cost / WHOLE, 1),
                f"{_or_none(decision.reply_name)}{taken}",
            )
    return ["", table, *parts]


def _counted_baits(decision: DecisionReport) -> tuple[BaitReport, ...]:
    """Baits, but for decided positions and moves that the server never took: there nothing counts."""
    return () if decision.is_decided or decision.state == "dropped" else _baits(decision)


def _is_judged(decision: DecisionReport) -> bool:
    """Whether it is known which replies are baits; where there is no choice, none is."""
    return decision.is_complete and (_is_checked(decision) or len(decision.replies) < 2)


def _final_board(header: StoredGame) -> RenderableType:
    game = get_rules(header.game)
    start = None if header.initial_position is None else game.parse_position(header.initial_position)
    return _board(game.board_rows(replay(game, header.moves, start)))


def _moves(moves: Sequence[str]) -> RenderableType:
    turns = [" ".join(moves[ply : ply + 2]) for ply in range(0, len(moves), 2)]
    return Text(" ".join(f"{number}. {turn}" for number, turn in enumerate(turns, start=1)))


def _decision(report: GameReport, decision: DecisionReport) -> RenderableType:
    side = report.sides[report.header.our_side]
    effort = f"{_search(decision)}, {decision.time_s:.2f} s"
    title = f"Move {decision.number}, {side} plays {decision.name} ({effort})"
    table = Table(box=None, pad_edge=False)
    goes_by_values = decision.chosen.value_text is not None
    table.add_column("move")
    table.add_column("standard", justify="right")
    table.add_column("expected" if goes_by_values else "trappy", justify="right")
    table.add_column("paper's trap")
    table.add_column("")
    ranked = sorted(decision.candidates, key=_rank)
    for candidate in ranked:
        notes = [
            *(["played"] if candidate.move == decision.move else []),
            *(["drawn against"] if decision.draw and candidate.name == decision.draw.other_name else []),
            *(["standard's choice"] if candidate.move == decision.standard.move else []),
        ]
        table.add_row(
            candidate.name,
            f"{'<= ' if candidate.raw_is_bound else ''}{candidate.raw_text}",
            _judged_text(candidate, goes_by_values=goes_by_values),
            "?" if candidate.sets_trap is None else _or_none(candidate.set_trap_name),
            ", ".join(notes),
        )
    sides = Table.grid(padding=(0, 4))
    sides.add_row(_board(decision.rows_after), table)
    story = _story(decision, report.header)
    return Group("", Text(title, style="bold"), Text(story), Padding(sides, (1, 0, 0, 2), expand=False))


def _rank(candidate: CandidateReport) -> tuple[bool, bool, float, int]:
    """Sort key: the value that decided the choice, the best first."""
    best = candidate.adjusted_centi if candidate.value is None else candidate.value
    return (candidate.raw_is_bound, candidate.value is None, -best, -candidate.raw_centi)


def _judged_text(candidate: CandidateReport, *, goes_by_values: bool) -> str:
    if goes_by_values:
        return _or_none(candidate.value_text)
    return NONE if candidate.raw_is_bound else candidate.adjusted_text


def _search(decision: DecisionReport) -> str:
    """Describe the search that found the move."""
    pick = decision.pick
    if decision.source is not None and pick is None:
        return f"depth {decision.depth} by {printable_name(decision.source.name)}"
    if decision.search_mode == SearchMode.VARIETY_DRAW:
        return f"drawn at random, depth {decision.depth}"
    if pick is None:
        return f"depth {decision.depth}"
    if decision.source is not None:
        found = f"depth {pick.depth} by {printable_name(decision.source.name)}"
    elif decision.search_mode != "strong":  # an opening book or an endgame tablebase
        origin = f" ({printable_name(pick.origin)})" if pick.origin else ""
        found = f"{decision.search_mode}{origin}"
    else:
        found = "solved" if pick.solved else f"depth {pick.depth} at {pick.confidence} %"
    score = "" if decision.pick_text is None else f", {decision.pick_text}"
    return f"{found}{score}, replies judged to depth {decision.depth}"


def _story(decision: DecisionReport, header: StoredGame) -> str:
    """The verdict on the move, and its values by the paper's arithmetic."""
    if decision.state == "dropped":
        return "Never played: the game ended before the server took the move."
    name, unit = printable_name(header.opponent_name), get_rules(header.game).score_unit
    verdict = judge_moment(decision, name, header.account or "the bot", unit)
    said = [
        f"{verdict.title}.",
        *verdict.story,
        *(f"{each.term} {each.move}: {each.text}." for each in verdict.facts),
    ]
    if decision.is_complete:
        said.append(_paper_text(decision))
    return printable_name(_draw_text(decision) + " ".join(map(str, said)))


def _draw_text(decision: DecisionReport) -> str:
    """The random draw that decided the move, in one sentence; empty: there was none."""
    draw = decision.draw
    if draw is None:
        return ""
    values = [
        f"expected score {percent(value / WHOLE, 1)}" for value in (draw.trap_value, draw.control_value)
    ]
    return (
        f"Drawn at random: {draw.trap_name} sets a trap "
        f"({values[0]}; drawn with probability {draw.chance:g}), {draw.control_name} "
        f"sets none ({values[1]}); seed {draw.seed}. "
    )


def _is_checked(decision: DecisionReport) -> bool:
    """Whether it is known which replies tempt people."""
    return decision.forecast is not None and decision.forecast.is_confirmed


def _baits(decision: DecisionReport) -> tuple[BaitReport, ...]:
    """Confirmed baits, the costliest and likeliest first."""
    return decision.forecast.baits if decision.forecast is not None and _is_checked(decision) else ()


def _paper_text(decision: DecisionReport) -> str:
    """The trap in the paper's sense, in one sentence."""
    if decision.trap is None:
        return "No trap in the paper's sense."
    if not decision.is_trap:
        return "No trap in the paper's sense worth counting."
    accident = "" if decision.sets_traps else " by accident"
    trap = f"The paper's trap{accident}: {decision.trap.name}, quality {decision.trap.quality_text}."
    if decision.outcome is None or decision.reply is None:
        return trap
    best = " for the best trap" if decision.fell_for_best else ""
    return f"{trap} Figure 9: {decision.outcome.replace('_', ' ')}{best}."


def _moves_text(count: int) -> str:
    return counted(count, "move")


def _board(rows: Sequence[str]) -> Text:
    return Text("\n".join(" ".join(row) for row in rows))


def variant_name(game: StoredGame) -> str:
    """The variant's name; the game's name for a site's "standard"."""
    return game.game if game.variant == "standard" else game.variant


def account_text(game: StoredGame) -> str:
    """Our account; empty if it is not recorded."""
    return f" as {printable_name(game.account)}" if game.account else ""


def _or_none(value: object) -> str:
    return NONE if value is None else str(value)


def printable_name(name: str) -> str:
    """A name from outside, without characters that could control the terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in name)
