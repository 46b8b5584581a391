"""Short games of each kind, really played and judged, which the database of these tests repeats."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from bench.storage.sample_decisions import DRAWN_AT, Sample, drawn_samples, sample
from engine.completion import complete
from engine.games import get_rules
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits

DEPTHS = {"othello": 4, "chess": 3, "xiangqi": 3, "connect4": 4}
PLIES = 12
CHESS960 = "bqnbrnkr/pppppppp/8/8/8/8/PPPPPPPP/BQNBRNKR w KQkq - 0 1"


@dataclass(frozen=True)
class Move:
    """A move of ours with what is known of it, and the reply."""

    ply: int
    found: Sample
    reply: str | None
    """None: the game ended before it."""


@dataclass(frozen=True)
class PlayedGame:
    """A game of random moves of both sides; ours are searched and judged."""

    game: str
    initial_position: str | None
    our_side: int
    moves: tuple[str, ...]
    ours: tuple[Move, ...]


@cache
def played() -> Sequence[PlayedGame]:
    """Two games of each kind, one from either side, and one from a position of its own."""
    rng = random.Random(7)
    found = [_play(game, None, side, rng) for game in DEPTHS for side in (0, 1)]
    return (*found, _play("chess", CHESS960, 0, rng))


def drawn_game() -> PlayedGame:
    """A game from a position in which a lot chose our only move, and the best reply to it."""
    found, _ = drawn_samples()
    reply = min(found.decision.chosen.replies, key=lambda each: each.final_centi).reply
    return PlayedGame("othello", DRAWN_AT, 0, (found.decision.move, reply), (Move(0, found, reply),))


def _play(name: str, initial: str | None, our_side: int, rng: random.Random) -> PlayedGame:
    rules = get_rules(name)
    searcher: Any = make_searcher(name, 1)
    player = MoveChooser(strategy_named("trappy"), rules, TrapParams(), searcher)
    position = rules.initial() if initial is None else rules.parse_position(initial)
    texts: list[str] = []
    ours: list[tuple[int, Sample]] = []
    while len(texts) < PLIES - our_side:
        moves = rules.legal_moves(position)
        if len(texts) % 2 == our_side:
            made = player.choose(position, Limits(DEPTHS[name]), StopFlag())
            whole = complete(made, searcher, StopFlag())
            ours.append((len(texts), sample(whole, wants_bait=len(ours) % 3 != 2)))
            move = rules.parse_move(position, made.move)
        else:
            move = _reply(rules, list(moves), ours[-1][1] if ours else None, rng)
        texts.append(rules.move_text(move))
        position = rules.play(position, move)
        if not rules.legal_moves(position):
            break
    return PlayedGame(
        name,
        initial,
        our_side,
        tuple(texts),
        tuple(Move(ply, found, texts[ply + 1] if ply + 1 < len(texts) else None) for ply, found in ours),
    )


def _reply(rules: Any, moves: list[Any], found: Sample | None, rng: random.Random) -> Any:
    """Any move; if there is a bait, half of the time that one."""
    baits = [move for move in moves if found is not None and rules.move_text(move) in found.baits]
    return rng.choice(baits) if baits and rng.random() < 0.5 else rng.choice(moves)
