"""Questions in a game's chat and the bot's answers.  Pure.

The engine's evaluation is secret during the game unless the operator allows spectators to see it; a spectator
may be the opponent under another name. The strategy is always secret during the game, since a comparison is
fair only if opponents do not know it. While the strategy stays secret after the game (a blind trial,
docs/trials.md), no answer may ever depend on it.
"""

from dataclasses import dataclass
from enum import StrEnum

from bot.base.config import ChatConfig
from bot.base.events import ChatLine, Room
from bot.base.rounding import percent
from engine import ENGINE_VERSION
from engine.decision import Decision
from engine.expected import WHOLE
from engine.forecasts import depth_from_move
from engine.games import get_rules
from engine.human.reply_forecast import ReplyForecast
from engine.strategies.registry import strategy_named
from storage.evidence.statistics.encounters import Encounters

MIN_ANSWER_INTERVAL_S = 5.0
"""Minimum time between two answers in one room of a game, in seconds."""


class Command(StrEnum):
    """The questions that the bot answers."""

    HELP = "!help"
    ENGINE = "!engine"
    EVAL = "!eval"
    TRAP = "!trap"
    STATS = "!stats"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatFacts:
    """The facts about a game from which the bot composes its answers."""

    bot: str
    opponent: str
    strategy: str
    """Name of one of `engine.strategies.registry.STRATEGIES`."""
    like_rating: int | None = None
    """The rating of the people whom the strategy imitates; None if it imitates nobody."""
    is_over: bool
    """Whether the game is over; if so, nothing is secret any more unless `is_blind`."""
    is_blind: bool
    """Whether the strategy stays secret after the game."""
    may_show: bool
    """Whether the room may see the engine's evaluation; see `may_show`."""
    latest: Decision | None = None
    """The decision behind our last move on the board; only for !eval and !trap."""
    forecast: ReplyForecast | None = None
    """The forecast of people's replies to our last move; None if it has not been made yet; only for !trap."""
    earlier: Encounters = Encounters()  # noqa: RUF009 - frozen
    """Earlier games with this opponent; only for !stats."""


def parse_command(line: ChatLine, bot: str) -> Command | None:
    """The question in a line of chat; None if there is none, or if the line is our own or the site's."""
    if line.by_site or line.name.casefold() == bot.casefold():
        return None
    words = line.text.split(maxsplit=1)
    return next((command for command in Command if words and words[0].casefold() == command), None)


def may_show(line: ChatLine, opponent: str, config: ChatConfig) -> bool:
    """Whether the sender and everyone who can read the answer may see scores during the game."""
    is_spectator = line.room is Room.SPECTATOR and line.name.casefold() != opponent.casefold()
    return config.spectator_commands and is_spectator


def answer_text(command: Command, facts: ChatFacts) -> str:
    """Return the answer to a question; the caller truncates it to the chat's limit."""
    match command:
        case Command.HELP:
            return f"I am a program. Ask me {', '.join(other for other in Command if other != command)}."
        case Command.ENGINE:
            return _engine(facts)
        case Command.STATS:
            return _stats(facts)
        case Command.EVAL | Command.TRAP if facts.is_blind:
            return "I keep that to myself."
        case Command.EVAL | Command.TRAP if not (facts.may_show or facts.is_over):
            return "I keep that to myself while we play."
        case Command.EVAL | Command.TRAP if facts.latest is None:
            return "I have not moved yet."
        case Command.EVAL:
            return _eval(facts.latest)
        case Command.TRAP:
            return _trap(facts.latest, facts.forecast)


def _engine(facts: ChatFacts) -> str:
    # Whole sentences: the arena's page translates them. What is told without the player is true of every one,
    # also of one that draws single decisions, so that it tells nothing.
    who = f"{facts.bot}, engine version {ENGINE_VERSION}"
    if facts.like_rating is not None and not facts.is_blind:  # the greeting has told it
        rating = facts.like_rating
        return f"I am {who}. A model of how people rated {rating} play draws my moves; I am no person."
    if facts.is_blind:
        return f"I am {who}. Some of my moves set traps, others do not; I do not say which."
    if not facts.is_over:
        return f"I am {who}. Some of my moves set traps, others do not; I do not say yet which."
    name = f"I am {who}"
    if strategy_named(facts.strategy).draws_decisions:
        return f"{name}, player {facts.strategy}: on some moves, chance decided whether I set a trap."
    manner = "I set traps" if strategy_named(facts.strategy).sets_traps else "I did not mean to set traps"
    return f"{name}, player {facts.strategy}: {manner} in this game."


def _eval(decision: Decision) -> str:
    game = get_rules(decision.game)
    position = game.parse_position(decision.position)
    move = game.move_name(position, game.parse_move(position, decision.move))
    pick = decision.pick
    if pick is not None and pick.score_centi is not None:
        score_centi, depth = pick.score_centi, pick.depth
    else:
        score_centi, depth = decision.chosen.raw_centi, decision.depth
    searched = f" at depth {depth}" if depth else ""
    text = f"For me, {move} was worth {game.score_text(score_centi, position)}{searched}."
    if decision.trial_draw is None:
        return text
    other = (
        decision.trial_draw.control if decision.move == decision.trial_draw.trap else decision.trial_draw.trap
    )
    name = game.move_name(position, game.parse_move(position, other))
    return f"{text} A random number decided between this move and {name}."


def _trap(decision: Decision, forecast: ReplyForecast | None) -> str:
    game = get_rules(decision.game)
    position = game.parse_position(decision.position)
    played = game.parse_move(position, decision.move)
    move = game.move_name(position, played)
    if not decision.is_complete:
        return f"I am still working out what {move} does."
    if forecast is None or not forecast.is_judged:
        return f"I am still working out what people reply to {move}."
    bait = forecast.bait
    if bait is None:
        return f"I know of no error that {move} tempts people to make."
    after = game.play(position, played)
    reply = game.move_name(after, game.parse_move(after, bait.reply))
    cost, depth = percent(bait.cost.cost / WHOLE), ""
    if bait.cost.is_solved:
        depth = ", solved"
    elif plies := depth_from_move(decision.game, bait.cost):
        depth = f" to depth {plies}"
    return f"{percent(bait.p_reply)} of people reply {reply} to {move}. It costs {cost} of the game{depth}."


def _stats(facts: ChatFacts) -> str:
    before = facts.earlier
    if not before.games:
        return f"{facts.opponent}, this is our first game."
    # A short sign that more may follow, as chat lines have little room.
    unjudged = "+" if before.unjudged else ""
    return (
        f"{facts.opponent} against me before: {before.losses} won, {before.draws} drawn, {before.wins} lost. "
        f"Traps set: {before.baits_set}, baits taken: {before.baits_taken}; slips: {before.slips}{unjudged}."
    )
