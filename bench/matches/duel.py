"""Paired games between two searches or programs, by the parts of `bot.match`; nothing is stored.

For players that `desdemona match` does not offer: bare searches, limited by time or by a number of nodes.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bot.match.conditions import Adjudication, Terms
from bot.match.openings import random_opening
from bot.match.participants import Participant
from bot.match.play import Finished, play_game
from bot.match.player_specs import parse_spec
from bot.match.processor_use import processor_time_s, used_s
from bot.match.report import result_text, short_text
from bot.match.runner import Match, MatchStanding
from bot.match.score import result_of
from engine.game import replay
from engine.games import get_rules
from engine.protocols.external_engine import ExternalEngine
from engine.protocols.settings import Allowance, ChosenMove, ExternalSettings
from engine.search.reference import INFINITY, Searcher
from engine.search.searchers import make_searcher
from engine.stop import StopFlag, Stopped
from engine.strategies.move_context import SelectiveSearcher


class BareSearch:
    """Chooses moves by a search alone: the strong one, or iterative deepening of the exact one."""

    def __init__(
        self,
        game_name: str,
        percent: int | None = 73,
        *,
        nodes: int | None = None,
        threads: int = 1,
        table_mb: int = 64,
    ) -> None:
        """
        Args:
            game_name: The game.
            percent: Confidence that the strong search's cuts need; None: the exact search.
            nodes: Node limit for each move, in place of its time; None: the time.
            threads: Of the strong search.
            table_mb: Of its table.
        """
        self.name = "exact" if percent is None else f"strong {percent} %"
        self._game = get_rules(game_name)
        self._searcher = make_searcher(game_name, table_mb)
        self._percent, self._nodes, self._threads = percent, nodes, threads
        self._start: Any = None
        self.shallow = 0
        """Moves searched one ply deep or not at all, though there was more to search: a busy machine left no
        time.  Such moves say nothing about the search, so `duel` reports them."""

    def new_game(self, start: Any = None) -> None:
        """Begin in that position."""
        self._start = start

    def choose(self, moves: Sequence[str], allowance: Allowance, stop: StopFlag) -> ChosenMove:
        """A move within the allowance's time, or the number of nodes."""
        before_s, before = processor_time_s(), self._searcher.nodes
        chosen = self._search(moves, allowance, stop)
        cpu_s = used_s(before_s, processor_time_s())
        return replace(chosen, cpu_s=cpu_s, nodes=self._searcher.nodes - before)

    def _search(self, moves: Sequence[str], allowance: Allowance, stop: StopFlag) -> ChosenMove:
        position = self._game.for_search(replay(self._game, moves, self._start))
        time_s = None if self._nodes is not None else allowance.move_s
        if self._nodes is not None:
            stop.set_node_limit(self._nodes)
        elif time_s is not None:
            stop.set_deadline(time_s)
        if self._percent is None:
            return self._deepen(self._searcher, position, stop)
        assert isinstance(self._searcher, SelectiveSearcher)
        deepest = min(60, self._game.deepest_search)
        options = {"confidence_percent": self._percent, "threads": self._threads}
        try:
            found = self._searcher.think(position, deepest, time_s, stop, **options)
        except Stopped:
            found = self._searcher.think(position, 1, None, StopFlag(), **options)
        self._note_depth(position, found.depth, is_settled=found.solved)
        return ChosenMove(found.move, found.score_centi, found.principal_variation, found.depth, 0.0)

    def _note_depth(self, position: Any, depth: int, *, is_settled: bool) -> None:
        self.shallow += not is_settled and depth <= 1 < self._game.most_plies_left(position)

    def close(self) -> None:
        """Does nothing: there is nothing to close."""

    def _deepen(self, searcher: Searcher, position: Any, stop: StopFlag) -> ChosenMove:
        """The best move of the deepest iteration that the flag allows, or of a part of it."""
        game = self._game
        moves = list(game.legal_moves(position))
        depth, score = 0, 0
        try:
            while depth < game.most_plies_left(position):
                best = -INFINITY
                for move in tuple(moves):
                    value = -searcher.search(game.play(position, move), depth, -INFINITY, -best, stop)
                    if value > best:
                        best = value
                        moves.remove(move)
                        moves.insert(0, move)
                depth, score = depth + 1, best
        except Stopped:
            pass
        self._note_depth(position, depth, is_settled=False)
        text = game.move_text(moves[0])
        return ChosenMove(text, score, (text,), depth, 0.0)


def program(game_name: str, protocol: str, command: Sequence[str]) -> ExternalEngine:
    """Another program."""
    return ExternalEngine(ExternalSettings(game=game_name, protocol=protocol, command=tuple(command)))


def duel(
    game_name: str,
    a: Participant,
    b: Participant,
    *,
    pairs: int,
    seconds: float,
    seed: int,
    adjudication: Adjudication | None = None,
) -> str:
    """Play the games and return the result as text; players keep their state from game to game.

    The result ends with a warning if a search had no time for some of its moves.
    """
    terms = Terms(
        game=game_name,
        a=replace(parse_spec("strong"), text=a.name),
        b=replace(parse_spec("strong"), text=b.name),
        move_s=seconds,
        grace_s=60.0,  # a hiccup of the machine must not lose a game
        adjudication=adjudication,
        openings=f"seed {seed}",
    )
    match = Match(id="bench", terms=terms, games=2 * pairs, seed=seed)
    games: dict[int, Finished] = {}
    try:
        for number in range(match.games):
            opening = random_opening(game_name, seed, number // 2)
            games[number] = play_game(terms, number, opening, (a, b)).finished
            if number % 20 == 19:
                print(f"{number + 1} games: {short_text(_standing(match, games))}", flush=True)
    finally:
        a.close()
        b.close()
    warnings = [
        f"{'AB'[which]}: {player.shallow} moves searched at most one ply deep: give more time, or nodes"
        for which, player in enumerate((a, b))
        if isinstance(player, BareSearch) and player.shallow
    ]
    return "\n".join([result_text(_standing(match, games)), *warnings])


def _standing(match: Match, games: dict[int, Finished]) -> MatchStanding:
    return MatchStanding(match=match, result=result_of(games), tested=None, resumed=0)
