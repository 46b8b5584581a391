"""Do traps pay against people?  Games of every player against people as models know them.

    python -m bench.proof_in_play play chess-odds --maia data/maia [--games 402] [--folder docs/data]
    python -m bench.proof_in_play tell chess-odds [--games 402] [--folder docs/data]

The parts are `PARTS`: chess and Othello, from normal starts and at odds.  In each, every player meets the
same people in the same openings, in batches, so that all have played about the same number of games whenever
it is stopped; the same command continues.  People draw their moves from a human-move model
(`bot.match.human_players`): Maia's networks for ratings of 1100, 1500 and 1900 at chess (at odds with a
temperature of 0.5; otherwise even a queen is too little), and at Othello the program's own network, once more
careless than it is, once as it is, and once surer of itself (temperature 1.5, 1, 0.5).  Our players search to
a fixed depth; at chess those with an opponent model use the network for 1500 against all opponents, and do
not get the rating.

Games are those of `desdemona match`.  The part's file has one line a game (`bench.proof_told.Row`), which
suffices for all tables.
"""

import argparse
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from bench.proof_told import Row, read_rows, row_of, told, write_row
from bot.match.conditions import Terms
from bot.match.openings import Opening, read_openings
from bot.match.play import GameTask
from bot.match.play import play as play_one
from bot.match.player_specs import OurSpec, parse_spec
from bot.match.runner import Match
from bot.match.worker_pool import LocalWorkers

PLAYERS = {
    "standard": "standard",
    "median": "trappy:assessment=median",
    "best": "trappy:assessment=best",
    "last": "trappy:assessment=last",
    "flat risk": "trappy:assessment=median,scale=expected,risk_share_percent=100",
    "expected scale": "trappy:assessment=median,scale=expected",
    "opponent_model": "opponent_model",
    "calibrated": "calibrated",
}
"""The players by their names in the files; the first is the control."""

_RATINGS = (1100, 1500, 1900)
_OUR_RATING = 1500
_TEMPERATURES = (1.5, 1.0, 0.5)
_BATCH = 10  # games with the same people before the next player has its turn
_SEED = 1

_QUEEN = (
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1 | "
    "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
)
_ROOK = (
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/1NBQKBNR w Kkq - 0 1 | "
    "1nbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQk - 0 1"
)
_CORNERS = (
    "w7/8/8/3wb3/3bw3/8/8/8 b | b7/8/8/3wb3/3bw3/8/8/8 b",
    "w7/8/8/3wb3/3bw3/8/8/7w b | b7/8/8/3wb3/3bw3/8/8/7b b",
    "w6w/8/8/3wb3/3bw3/8/8/7w b | b6b/8/8/3wb3/3bw3/8/8/7b b",
)


@dataclass(frozen=True)
class Part:
    """A game and how it starts."""

    game: str
    depth: int
    openings: tuple[str, ...] = ()
    """Openings at odds; empty: nearly balanced ones by the seed."""
    temperature: float = 1.0
    """Temperature of the people at chess: the lower, the more often they play likely moves, and the stronger
    they are."""


PARTS = {
    "othello-normal": Part("othello", 6),
    "othello-corners": Part("othello", 4, _CORNERS),
    "chess-normal": Part("chess", 4),
    "chess-odds": Part("chess", 4, (_QUEEN, _ROOK), 0.5),
}


def tasks(name: str, each: int, maia: Path | None) -> Iterator[tuple[str, str, GameTask]]:
    """Every game of a part in the order of playing, with the names of the player and the people.

    Args:
        name: One of `PARTS`.
        each: Games of each player with each of the people.
        maia: Folder of Maia's networks, for chess.
    """
    part = PARTS[name]
    openings: list[Opening] | None = None
    if part.openings:
        openings = read_openings("\n".join(part.openings).encode(), part.game, name)
    matches = {}
    for player, text in PLAYERS.items():
        model, ours = "", parse_spec(text)
        models_opponent = isinstance(ours, OurSpec) and ours.kind.models_opponent
        if maia is not None and part.game == "chess" and models_opponent:
            model = f":model={maia / f'maia-{_OUR_RATING}.onnx'}"
        for people, spec in _people(part, maia).items():
            terms = Terms(
                game=part.game,
                a=parse_spec(text + model),
                b=parse_spec(spec),
                depth=part.depth,
                openings=f"{name} seed {_SEED}",
            )
            matches[player, people] = Match(id=name, terms=terms, games=each, seed=_SEED, openings=openings)
    for first in range(0, each, _BATCH):
        for (player, people), match in matches.items():
            for number in range(first, min(first + _BATCH, each)):
                yield player, people, match.task(number)


def _people(part: Part, maia: Path | None) -> dict[str, str]:
    if part.game != "chess":
        return {f"t{heat:g}": f"human:temperature={heat:g},name=people t{heat:g}" for heat in _TEMPERATURES}
    if maia is None:
        raise SystemExit("--maia must name the folder of Maia's networks (desdemona model import)")
    return {
        name: f"human:model={maia / name}.onnx,temperature={part.temperature:g},name={name}"
        for name in (f"maia-{rating}" for rating in _RATINGS)
    }


def play(name: str, games: int, maia: Path | None, folder: Path, processes: int) -> None:
    """Play the remaining games of a part."""
    path = folder / f"{name}.csv"
    known = {(row.player, row.people, row.number) for row in (read_rows(path) if path.exists() else ())}
    todo = (each for each in tasks(name, games // 3, maia) if (*each[:2], each[2].number) not in known)
    workers = LocalWorkers(processes)
    running: set[Future[Row]] = set()
    try:
        with path.open("a", newline="") as file:
            while True:
                for each in islice(todo, 2 * processes - len(running)):
                    running.add(workers.run(played, each))
                if not running:
                    return
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    write_row(file, future.result())
    finally:
        workers.close()


def played(what: tuple[str, str, GameTask]) -> Row:
    """Play one game and summarise it."""
    player, people, task = what
    return row_of(player, people, play_one(task))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("play", "tell"))
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--games", type=int, default=402, help="of each player, a third with each model")
    parser.add_argument("--maia", type=Path)
    parser.add_argument("--folder", type=Path, default=Path("docs/data"), help="folder of the parts' files")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    if options.games % 6:
        parser.error("--games must be a multiple of 6: three people, both colours")
    if options.what == "play":
        if not options.folder.is_dir():
            parser.error(f"--folder: {options.folder} is no folder")
        play(options.part, options.games, options.maia, options.folder, options.processes)
    else:
        path = options.folder / f"{options.part}.csv"
        try:
            print(told(read_rows(path), tuple(PLAYERS), options.games // 3))
        except (OSError, ValueError) as error:
            parser.error(f"{path}: {error}")


if __name__ == "__main__":
    main()
