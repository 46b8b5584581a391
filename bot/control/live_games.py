"""The games in progress, each as one immutable value that all displays use."""

from dataclasses import dataclass

from bot.account.lobby import Lobby
from bot.base.reconnect import RetryStatus
from bot.game.game_runner import GameRunner
from engine.game import IllegalMove, replay, starting_position
from engine.games import get_rules


@dataclass(frozen=True, slots=True)
class BaitStatus:
    """A bait that our last move set and that is still unanswered. For the operator only, because the
    opponent can read everything that is published."""

    reply: str
    """The bait's move in the notation that people use."""
    squares: tuple[str, ...]
    probability: float
    """Probability that this opponent plays the bait, from 0 to 1."""
    cost: float
    """Cost of the bait to the opponent, in expected score from 0 to 1."""


@dataclass(frozen=True, slots=True)
class LiveGame:
    """A game that is being played.  For the operator only, because it reveals the strategy."""

    key: str
    """The site's key for the game."""
    account: str
    """The account's name in the settings."""
    site: str
    game: str
    """Name of the game. Game, opponent and strategy are empty until the site has sent the game."""
    variant: str
    rated: bool
    speed: str
    opponent: str
    opponent_rating: int | None
    opponent_is_bot: bool
    strategy: str
    """Our strategy in this game."""
    is_drawn: bool
    """Whether the strategy was chosen at random and must stay secret (unless `trial.reveal`)."""
    ply: int
    """Number of moves played."""
    our_turn: bool | None
    """Whether it is our turn; None if the game is over or the site has not sent the game yet."""
    our_clock_s: float | None
    """Seconds left on our clock, or None if the game has no clock."""
    their_clock_s: float | None
    is_over: bool
    """Whether the game is over at the site and its record is being closed."""
    position: str
    """The position in the game's notation; empty until the site has sent the game."""
    our_side: int = 0
    last_move: tuple[str, ...] = ()
    """Squares of the last move; empty before the first move and after a pass."""
    overdue_s: float | None = None
    """Seconds by which our move is overdue, or None if it is not our turn."""
    bait: BaitStatus | None = None
    """The bait set by our last move, until it is answered; None if there is none or it is not known yet."""
    opponent_site_id: str = ""
    """The site's key of the opponent's account; empty until the site has sent the game."""
    retry: RetryStatus | None = None
    """The failure to open the game's stream; None if there is none."""


def live_games(name: str, lobby: Lobby) -> list[LiveGame]:
    """Return the games in progress on an account."""
    runners = ((key, lobby.player(key)) for key in lobby.playing)
    return [_live_game(name, lobby.owner.site, key, player) for key, player in runners if player is not None]


def _live_game(account: str, site: str, key: str, player: GameRunner) -> LiveGame:
    stored, session, clocks_s = player.stored, player.session, player.clocks_s
    # The site shows a game a moment before it is in the ledger.
    is_shown = stored is not None and session.moves is not None and session.position is not None
    rules = get_rules(session.game) if is_shown else None
    our_turn = None
    if rules is not None and not player.is_over:
        our_turn = rules.side_to_move(session.position) == session.our_side
    ours, theirs = (None, None)
    if clocks_s is not None:
        ours, theirs = clocks_s[session.our_side], clocks_s[session.their_side]
    return LiveGame(
        key=key,
        account=account,
        site=site,
        game=stored.game if stored else "",
        variant=stored.variant if stored else "",
        rated=stored is not None and stored.rated,
        speed=stored.speed if stored else "",
        opponent=stored.opponent_name if stored else "",
        opponent_rating=stored.opponent_rating if stored else None,
        opponent_is_bot=stored is not None and stored.opponent_is_bot,
        strategy=stored.strategy if stored else "",
        is_drawn=stored is not None and stored.is_drawn,
        ply=len(session.moves or ()),
        our_turn=our_turn,
        our_clock_s=ours,
        their_clock_s=theirs,
        is_over=player.is_over,
        position=rules.position_text(session.position) if rules is not None else "",
        our_side=session.our_side if is_shown else 0,
        last_move=_last_move(player) if is_shown else (),
        overdue_s=player.overdue_s,
        bait=_bait(player) if is_shown else None,
        opponent_site_id=stored.opponent_id if stored else "",
        retry=player.link_retries.status,
    )


def _last_move(player: GameRunner) -> tuple[str, ...]:
    """Squares of the last move on the board."""
    session, stored = player.session, player.stored
    if not session.moves or stored is None:
        return ()
    rules = get_rules(session.game)
    try:
        before = replay(rules, session.moves[:-1], starting_position(rules, stored.initial_position))
        return rules.move_squares(rules.parse_move(before, session.moves[-1]))
    except IllegalMove:  # the site goes on where our rules end the game
        return ()


def _bait(player: GameRunner) -> BaitStatus | None:
    bait, session = player.pending_bait, player.session
    if bait is None:
        return None
    rules = get_rules(session.game)
    try:
        move = rules.parse_move(session.position, bait.reply)
        name = rules.move_name(session.position, move)
    except IllegalMove:  # the forecast was of a move that another one has replaced
        return None
    return BaitStatus(name, rules.move_squares(move), bait.p_reply, bait.cost.cost / 10_000)
