"""Prepares people's games for `bench.people.person_replay`: what models say of each reply, a file a person.

    python -m bench.people.person_data FILES... --out FOLDER [--game othello] [--persons 100]

FILES: for Othello WTHOR's files, for xiangqi a table of games (`engine.formats.tables`). Persons with enough
games in these years come in an order drawn by their names; programs by name are left out. Ratings are
reconstructed from the results of all years. Files that exist are kept, so that the work can be interrupted.
About 15 ms a reply on one core at Othello.
"""

import argparse
import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from engine.decision import Person
from engine.expected import WHOLE, expected_score
from engine.formats.record import steps
from engine.game import Game
from engine.games import get_rules
from engine.human.model import PredictionQuery
from engine.human.registry import ModelRegistry
from engine.search.searchers import NativeSearcher, make_searcher
from engine.stop import StopFlag
from lab.analysis.elo import EloStanding, rated_result, standings
from lab.analysis.persons import is_person
from lab.analysis.recorded_games import GivenGame, first_copies, read_games

TABLE_MB = 16


class PlayedGame(NamedTuple):
    """One game of a person."""

    game: GivenGame
    side: int
    standings: tuple[EloStanding, EloStanding]


class AnsweredPosition(NamedTuple):
    """A position with a choice in which the person replied."""

    ply: int
    past: tuple[Any, ...]
    """The position and, if there is one, the one before."""
    move: int


def games_by_person(paths: Sequence[Path], game: str, years: range) -> dict[str, list[PlayedGame]]:
    """Each person's games in these years, in order."""
    games = sorted(first_copies(list(read_games(paths, game))), key=lambda each: each.year or 0)  # stable
    known = standings(result for each in games if (result := rated_result(each.record)) is not None)
    found: dict[str, list[PlayedGame]] = defaultdict(list)
    for each in games:
        if each.year in years and each.key in known:
            for side, name in enumerate(each.record.players):
                if is_person(name):
                    found[name].append(PlayedGame(each, side, known[each.key]))
    return found


def answered(game: Game[Any], played: PlayedGame) -> Iterator[AnsweredPosition]:
    before: tuple[Any, ...] = ()
    for ply, (position, move) in enumerate(steps(played.game.record)):
        if ply and game.side_to_move(position) == played.side and len(game.legal_moves(position)) > 1:
            yield AnsweredPosition(ply, (*before, position), move)
        before = (position,)


def costs(game: Game[Any], searcher: NativeSearcher, position: Any, depth: int) -> list[float]:
    """What each reply costs, from 0 to 1, as `engine.human.person_prior.costs_of` at this depth."""
    scale = game.expected_scale_centi(position)
    plies = depth - 2  # our move and the reply come before
    scores = searcher.scores_after(position, game.legal_moves(position), plies, plies, StopFlag())
    ours = [expected_score(each[-1], scale) for each in scores]
    return [(each - min(ours)) / WHOLE for each in ours]


def arrays(
    name: str, game: Game[Any], games: Sequence[PlayedGame], registry: ModelRegistry, depth: int
) -> dict[str, Any]:
    """What `bench.people.person_replay.read_person` reads."""
    searcher = make_searcher(game.name, TABLE_MB)
    assert isinstance(searcher, NativeSearcher)
    rows: dict[str, list[Any]] = defaultdict(list)
    with registry.lend(game.name) as models:
        for number, played in enumerate(games):
            own, other = played.standings[played.side], played.standings[1 - played.side]
            person = Person(round(own.rating), None, round(other.rating), own.games)
            points = played.game.record.points
            for each in answered(game, played):
                position = each.past[-1]
                moves = list(game.legal_moves(position))
                query = PredictionQuery(each.past, person)
                rows["start"].append(len(rows["cost"]))
                rows["p0"] += models.human.predict([query])[0]
                if models.planes is not None:
                    rows["planes"] += models.planes.planes(query)
                rows["cost"] += costs(game, searcher, position, depth)
                rows["reply"] += map(game.move_text, moves)
                one = (
                    game.position_text(position), number, each.ply, moves.index(each.move), own.rating,
                    points == played.side,
                )  # fmt: skip
                for column, value in zip(_COLUMNS, one, strict=True):
                    rows[column].append(value)
    kinds = {"planes": np.float32}
    columns = {key: np.array(column, kinds.get(key)) for key, column in rows.items()}
    return columns | {"rules": np.array(game.name), "name": np.array(name)}


_COLUMNS = ("position", "game", "ply", "played", "rating", "lost")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--game", default="othello")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--from-year", type=int, default=2016)
    parser.add_argument("--to-year", type=int, default=2019)
    parser.add_argument("--persons", type=int, default=100)
    parser.add_argument("--skip", type=int, default=0, help="leave out this many persons first")
    parser.add_argument("--least-games", type=int, default=12)
    parser.add_argument("--most-games", type=int, default=105)
    parser.add_argument("--depth", type=int, default=6)
    arguments = parser.parse_args()
    years = range(arguments.from_year, arguments.to_year + 1)
    found = games_by_person(arguments.files, arguments.game, years)
    names = [name for name, games in found.items() if len(games) >= arguments.least_games]
    names.sort(key=lambda name: hashlib.sha256(f"1 {name}".encode()).digest())
    arguments.out.mkdir(parents=True, exist_ok=True)
    registry = ModelRegistry()
    for number, name in enumerate(names[arguments.skip :][: arguments.persons], start=arguments.skip):
        path = arguments.out / f"{number:04d}.npz"
        if not path.exists():
            games = found[name][: arguments.most_games]
            data = arrays(name, get_rules(arguments.game), games, registry, arguments.depth)
            unfinished = path.with_suffix(".part.npz")
            np.savez_compressed(unfinished, **data)
            unfinished.rename(path)
            print(f"{number + 1}: {len(games)} games, {len(data['start'])} replies", flush=True)


if __name__ == "__main__":
    main()
