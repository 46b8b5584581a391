"""The games in progress as cards: board, players, clocks, and the bait of our last move."""

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from bot.charts.boards import BoardMark, MarkKind, board_shapes, board_svg
from bot.control.live_games import LiveGame
from engine.games import get_rules
from engine.strategies.registry import STRATEGIES

LOW_S = 60.0
"""A clock below this many seconds is shown as short of time."""


@dataclass(frozen=True, slots=True)
class ShownClock:
    """One side's clock."""

    text: str
    left_s: int
    is_running: bool
    is_low: bool


@dataclass(frozen=True, slots=True)
class BoardCard:
    """One game."""

    key: str
    account: str
    title: str
    """The game's name."""
    site: str
    opponent: str
    rating: int | None
    is_bot: bool
    strategy: str
    is_trappy: bool
    theirs: ShownClock | None
    """None: there is no clock."""
    ours: ShownClock | None
    board: Markup | None
    """None: the site has not shown the game yet."""
    bait: str
    """The reply that tempts, as people write it; empty: none."""
    probability: float
    cost: float
    saying: str
    """The game's state, if no bait is armed."""
    is_late: bool
    """Our move is overdue."""
    opponent_site_id: str
    """The site's key of the opponent's account; empty: not known yet."""


def board_cards(games: Iterable[LiveGame]) -> list[BoardCard]:
    """The cards of the running games, in their order."""
    return [_card(game) for game in games]


def shapes_of(games: Iterable[LiveGame]) -> Markup:
    """The shapes that the boards of these games use, once for a page."""
    return board_shapes(sorted({game.game for game in games if game.position}))


def _card(game: LiveGame) -> BoardCard:
    rules = get_rules(game.game) if game.game else None
    is_theirs = game.our_turn is False
    return BoardCard(
        key=game.key,
        account=game.account,
        title=rules.title if rules is not None else "",
        site=game.site,
        opponent=game.opponent or "somebody",
        rating=game.opponent_rating,
        is_bot=game.opponent_is_bot,
        strategy=game.strategy,
        is_trappy=(kind := STRATEGIES.get(game.strategy)) is not None and kind.sets_traps,
        theirs=_clock(game.their_clock_s, is_running=is_theirs),
        ours=_clock(game.our_clock_s, is_running=game.our_turn is True),
        board=_board(game),
        bait="" if game.bait is None else game.bait.reply,
        probability=0.0 if game.bait is None else game.bait.probability,
        cost=0.0 if game.bait is None else game.bait.cost,
        saying=_saying(game),
        is_late=bool(game.overdue_s),
        opponent_site_id=game.opponent_site_id,
    )


def _clock(left_s: float | None, *, is_running: bool) -> ShownClock | None:
    if left_s is None:
        return None
    return ShownClock(clock_text(left_s), int(left_s), is_running, left_s < LOW_S)


def clock_text(left_s: float) -> str:
    """Time left, for instance ``4:05`` or ``1:02:03``."""
    minutes, seconds = divmod(int(max(0.0, left_s)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _board(game: LiveGame) -> Markup | None:
    if not game.position:
        return None
    rules = get_rules(game.game)
    marks = () if game.bait is None else (BoardMark(MarkKind.BAIT, game.bait.squares),)
    return board_svg(
        game.game,
        rules.board_rows(rules.parse_position(game.position)),
        title=f"{rules.title} against {game.opponent or 'somebody'}",
        side=game.our_side,
        last_move=game.last_move,
        marks=marks,
    )


def _saying(game: LiveGame) -> str:
    if game.our_turn is None:
        return "Joining the game."
    if game.our_turn:
        late = f" The move is {game.overdue_s:.0f} s late." if game.overdue_s else ""
        return f"Our move.{late}"
    return "Their move. Nothing is armed."
