"""What a move of exploit brings against people, compared with the move of strong in the same position.

    python -m bench.decisions.chosen_moves [--game chess] [--model FILE] [--people SPEC] [--endings]

Positions come from games in which strong gives people odds, one of each game; with `--endings`, from even
games among people, near the end, where the side to move has lost. Both strategies choose with the same nodes,
exploit with a trust of 1. Where their moves differ, strong plays on to the end after each of them, `--games`
times, against the people: the difference of the points is what exploit's move brings, without what its later
moves would add. Unless they are given, the people are the model that exploit believes in, at temperature .5.
"""

import argparse
import random
from typing import Any

import numpy as np

from bot.match.conditions import AdjudicationRule, Terms
from bot.match.openings import Opening, odds_opening, random_opening
from bot.match.participants import Participant, make_player
from bot.match.play import play_game
from bot.match.player_specs import parse_spec
from engine.game import WIN_CENTI, Game, positions
from engine.games import get_rules
from engine.protocols.settings import Allowance
from engine.search.searchers import NativeSearcher, make_searcher
from engine.stop import StopFlag
from lab.experiments.estimates_text import in_points, mean_of

_ODDS = {"othello": "3-corners", "chess": "queen+knight", "xiangqi": "chariot"}
_NODES = {"othello": 4_000_000}
_OTHER_NODES = 600_000
_ENDING_PLIES = (11, 20)
_TABLE_MB = 64
_SOLVER_NODES = 100_000_000
_MAX_TRIES = 20
"""Most games for each position wanted: not every game has one that fits."""


class Trial:
    """The players of one comparison."""

    def __init__(self, given: argparse.Namespace) -> None:
        self._game: Game[Any] = get_rules(given.game)
        self._given = given
        model = f",model={given.model}" if given.model else ""
        people = given.people or f"human:temperature=0.5{model}"
        self._nodes = given.nodes or _NODES.get(given.game, _OTHER_NODES)
        quick = f"strong:nodes={given.playout_nodes}"
        self._choosers = {
            name: self._player(f"{name}:nodes={self._nodes}{more}")
            for name, more in (("strong", ""), ("exploit", f",trust=1,rating=1500{model}"))
        }
        self._terms = self._terms_of(people if given.endings else quick, people)
        self._playout_terms = self._terms_of(quick, people)
        self._solver = make_searcher(given.game, _TABLE_MB)

    def _terms_of(self, a: str, b: str) -> Terms:
        rule = AdjudicationRule(900, 6) if self._game.name == "chess" else None
        return Terms(
            game=self._game.name, a=parse_spec(a), b=parse_spec(b), depth=1000, openings="", adjudication=rule
        )

    def _player(self, text: str) -> Participant:
        return make_player(self._terms_of(text, text), 0, "1")

    def _play(self, terms: Terms, number: int, opening: Opening, seed: str) -> tuple[float, list[str]]:
        """A's points, and all moves."""
        players = (make_player(terms, 0, seed), make_player(terms, 1, seed))
        played = play_game(terms, number, opening, players, keeps_decisions=False)
        return played.finished.points, list(played.moves)

    def position(self, number: int) -> Opening | None:
        """A position with A to move, as the opening of further games; None if the game has none that fits."""
        given, game = self._given, self._game
        if given.endings:
            opening = random_opening(game.name, given.seed, number)
        else:
            opening = odds_opening(game.name, given.odds or _ODDS[game.name], given.seed, number)
        _, moves = self._play(self._terms, number, opening, f"{given.seed} {number}")
        start = game.initial() if opening.start is None else game.parse_position(opening.start)
        known, rng = list(positions(game, moves, start)), random.Random(f"{given.seed} {number}")
        fits = [
            at
            for at, each in enumerate(known[len(opening.moves) :], len(opening.moves))
            if at % 2 == number % 2 and len(game.legal_moves(each)) > 1
        ]
        if given.endings:
            most = rng.randint(*_ENDING_PLIES)
            fits = [at for at in fits if game.plies_left(known[at]) <= most][:1]
            fits = [at for at in fits if self._is_lost(known[at])]
        return Opening(opening.start, tuple(moves[: rng.choice(fits)])) if fits else None

    def _is_lost(self, position: Any) -> bool:
        assert isinstance(self._solver, NativeSearcher)
        root = self._game.for_search(position)
        found = self._solver.think(root, self._game.deepest_search, None, StopFlag(), nodes=_SOLVER_NODES)
        return found.solved and found.score_centi <= -WIN_CENTI

    def difference(self, number: int, after: Opening) -> float | None:
        """The points with exploit's move minus those with strong's; None if the moves are the same."""
        moves = {}
        for name, player in self._choosers.items():
            player.new_game(None if after.start is None else self._game.parse_position(after.start))
            moves[name] = player.choose(after.moves, Allowance(nodes=self._nodes), StopFlag()).move
        if moves["exploit"] == moves["strong"]:
            return None
        points = {
            name: [
                self._play(
                    self._playout_terms,
                    number,
                    Opening(after.start, (*after.moves, move)),
                    f"{self._given.seed} {number} {name} {game}",
                )[0]
                for game in range(self._given.games)
            ]
            for name, move in moves.items()
        }
        return float(np.mean(points["exploit"]) - np.mean(points["strong"]))


def main() -> None:
    """Choose, play and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--game", default="othello", choices=sorted(_ODDS))
    parser.add_argument("--odds", help="name of the odds (docs/matches.md)")
    parser.add_argument("--endings", action="store_true")
    parser.add_argument("--model", help="the network in which exploit believes; by default the bundled one")
    parser.add_argument("--people", help="the opponent, as for `desdemona match`")
    parser.add_argument("--positions", type=int, default=200)
    parser.add_argument("--games", type=int, default=40)
    parser.add_argument("--nodes", type=int, help="of a choice; by default 600,000, in Othello 4,000,000")
    parser.add_argument("--playout-nodes", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.endings and (given.game != "othello" or given.odds):
        parser.error("--endings are even games of Othello")
    trial, gains, different = Trial(given), list[float](), 0
    for number in range(_MAX_TRIES * given.positions):
        if len(gains) == given.positions:
            break
        if (found := trial.position(number)) is not None:
            gain = trial.difference(number, found)
            different += gain is not None
            gains.append(gain or 0.0)
    print(f"{given.game}: {len(gains)} positions, {different} with another move than strong's")
    print(f"exploit's moves bring {in_points(mean_of(np.array(gains)))} points a position")


if __name__ == "__main__":
    main()
