"""Shows the games in progress as cards: board, players, clocks, and the bait of our last move."""

from bot.base.rounding import percent
from bot.charts.boards import BoardMark, MarkKind
from bot.control.live_games import LiveGame
from bot.parts.values import ActionForm, Board, Card, FormField, ShownClock
from bot.text.values_text import title_of
from bot.views.addresses import opponent_path
from engine.games import get_rules
from engine.strategies.registry import STRATEGIES

LOW_CLOCK_S = 60.0
"""The page marks a clock as low if fewer seconds than this are left."""


def board_card(game: LiveGame) -> Card:
    """Build the card that shows a running game."""
    rating = "unrated" if game.opponent_rating is None else str(game.opponent_rating)
    kind = STRATEGIES.get(game.strategy)
    where = {"game": game.key, "account": game.account}
    block = {"name": game.opponent, "account": game.account}
    style = "saying trap" if game.bait is not None else "saying late" if game.overdue_s else "saying"
    return Card(
        name=game.opponent or "somebody",
        name_link=opponent_path(game.site, game.opponent_site_id) if game.opponent_site_id else "",
        detail=f"{rating}{', program' * game.opponent_is_bot}",
        board=_board(game),
        said=((_bait_text(game), style),),
        about=f"{title_of(game.game)} · {game.account}" if game.game else game.account,
        tag=(game.strategy, "trap" if kind is not None and kind.sets_traps else ""),
        clocks=(
            _clock(game.their_clock_s, is_running=game.our_turn is False),
            _clock(game.our_clock_s, is_running=game.our_turn is True),
        ),
        forms=(
            ActionForm("say", "Say", where, fields=(FormField("text", "Message"),)),
            ActionForm("abort", "Abort", where),
            ActionForm("resign", "Resign", where, "small danger"),
            *((ActionForm("block", "Block", block, "small danger"),) if game.opponent else ()),
        ),
        key=f"{game.account}-{game.key}",
    )


def _clock(left_s: float | None, *, is_running: bool) -> ShownClock | None:
    if left_s is None:
        return None
    return ShownClock(clock_text(left_s), int(left_s), is_running, left_s < LOW_CLOCK_S)


def clock_text(left_s: float) -> str:
    """Format the time left: ``4:05`` or ``1:02:03``."""
    minutes, seconds = divmod(int(max(0.0, left_s)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _board(game: LiveGame) -> Board | None:
    if not game.position:
        return None
    rules = get_rules(game.game)
    return Board(
        game.game,
        tuple(rules.board_rows(rules.parse_position(game.position))),
        f"{rules.title} against {game.opponent or 'somebody'}",
        game.our_side,
        game.last_move,
        () if game.bait is None else (BoardMark(MarkKind.BAIT, game.bait.squares),),
    )


def _bait_text(game: LiveGame) -> str:
    if game.bait is not None:
        likely, cost = percent(game.bait.probability), percent(game.bait.cost)
        return f"{game.bait.reply} is the bait: {likely} likely, costs {cost} of the game."
    if game.our_turn is None:
        return "Joining the game."
    if game.our_turn:
        late = f" The move is {game.overdue_s:.0f} s late." if game.overdue_s else ""
        return f"Our move.{late}"
    return "Their move. No trap is armed."
