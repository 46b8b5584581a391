"""Do traps pay against people?  Games of every player against people as models know them.

    python -m bench.proof_in_play play chess-odds --maia data/maia [--games 402] [--folder docs/data]
    python -m bench.proof_in_play tell chess-odds [--games 402] [--folder docs/data]
    python -m bench.proof_in_play play othello-corners --people shallow --players standard tempting ...

The parts are `PARTS`: chess and Othello, from normal starts and at odds.  In each, every player meets the
same people in the same openings, in batches, so that all have played about the same number of games whenever
it is stopped; the same command continues.  People draw their moves from a human-move model
(`bot.match.human_players`): Maia's networks for ratings of 1100, 1500 and 1900 at chess (at odds with a
temperature of 0.5; otherwise even a queen is too little), and at Othello the program's own network, once more
careless than it is, once as it is, and once surer of itself (temperature 1.5, 1, 0.5).  Our players search to
a fixed depth; at chess those with an opponent model use the network for 1500 against all opponents, and do
not get the rating.

`--people` chooses other people, `--players` fewer players: *shallow* people see one or two plies and choose
with noise (`engine.human.shallow`, sharper and duller than it was fitted), at any game; *stockfish* is that
program (`--stockfish`) with its option Skill Level, at chess.  `--depth` searches
to another depth.  A folder of their own keeps such games apart.

Games are those of `desdemona match`.  The part's file has one line a game (`bench.proof_told.Row`), which
suffices for all tables.
"""

import argparse
from collections.abc import Iterator, Sequence
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
from bot.workers.pools import LocalWorkers

PLAYERS = {
    "standard": "standard",
    "median": "trappy:assessment=median",
    "best": "trappy:assessment=best",
    "last": "trappy:assessment=last",
    "flat risk": "trappy:assessment=median,scale=expected,risk_share_percent=100",
    "expected scale": "trappy:assessment=median,scale=expected",
    "opponent_model": "opponent_model",
    "calibrated": "calibrated",
    "tempting": "tempting",
}
"""The players by their names in the files; the first is the control."""

SHALLOW = {
    "shallow 1": "plies=1,percent=8,share_percent=5",
    "shallow 2": "plies=2,percent=4,share_percent=3",
    "shallow 2 sure": "plies=2,percent=1.5,share_percent=1",
}
"""People who see so few plies, by their names in the files: from careless to careful."""
SKILLS = {"stockfish 0": 0, "stockfish 3": 3, "stockfish 6": 6}
"""Stockfish's levels of skill, of 0 to 20, by their names in the files."""
_STOCKFISH_DEPTH = 8
GROUPS = ("models", "shallow", "stockfish")
"""The groups of people to choose; the first is that of docs/research/played-out.md."""

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


@dataclass(frozen=True)
class Who:
    """Who plays."""

    players: tuple[str, ...] = tuple(PLAYERS)
    groups: tuple[str, ...] = GROUPS[:1]
    """Of people: some of `GROUPS`."""
    maia: Path | None = None
    """Folder of Maia's networks, for chess."""
    stockfish: str = "stockfish"
    """Command of that program."""

    def people(self, part: Part) -> dict[str, str]:
        """The specifications of the people, by their names in the files.

        Raises:
            SystemExit: The part has no such people, or a file of theirs is not named.
        """
        found: dict[str, str] = {}
        for group in self.groups:
            match group:
                case "models":
                    found |= _models(part, self.maia)
                case "shallow":
                    found |= {name: f"human:{numbers},name={name}" for name, numbers in SHALLOW.items()}
                case _:
                    if part.game != "chess":
                        raise SystemExit(f"--people: stockfish plays chess, not {part.game}")
                    found |= {name: self._stockfish(name, skill) for name, skill in SKILLS.items()}
        return found

    def _stockfish(self, name: str, skill: int) -> str:
        return f"uci:{self.stockfish}; option.Skill Level={skill}; depth={_STOCKFISH_DEPTH}; name={name}"


def tasks(name: str, each: int, who: Who, depth: int | None = None) -> Iterator[tuple[str, str, GameTask]]:
    """Every game of a part in the order of playing, with the names of the player and the people.

    Args:
        name: One of `PARTS`.
        each: Games of each player with each of the people.
        who: The players and the people.
        depth: Plies of our players' searches; None: the part's.
    """
    part = PARTS[name]
    openings: list[Opening] | None = None
    if part.openings:
        openings = read_openings("\n".join(part.openings).encode(), part.game, name)
    matches = {}
    for player in who.players:
        text = PLAYERS[player]
        model, ours = "", parse_spec(text)
        models_opponent = isinstance(ours, OurSpec) and ours.kind.models_opponent
        if who.maia is not None and part.game == "chess" and models_opponent:
            model = f":model={who.maia / f'maia-{_OUR_RATING}.onnx'}"
        for people, spec in who.people(part).items():
            terms = Terms(
                game=part.game,
                a=parse_spec(text + model),
                b=parse_spec(spec),
                depth=depth or part.depth,
                openings=f"{name} seed {_SEED}",
            )
            matches[player, people] = Match(id=name, terms=terms, games=each, seed=_SEED, openings=openings)
    for first in range(0, each, _BATCH):
        for (player, people), match in matches.items():
            for number in range(first, min(first + _BATCH, each)):
                yield player, people, match.task(number)


def _models(part: Part, maia: Path | None) -> dict[str, str]:
    if part.game != "chess":
        return {f"t{heat:g}": f"human:temperature={heat:g},name=people t{heat:g}" for heat in _TEMPERATURES}
    if maia is None:
        raise SystemExit("--maia must name the folder of Maia's networks (desdemona model import)")
    return {
        name: f"human:model={maia / name}.onnx,temperature={part.temperature:g},name={name}"
        for name in (f"maia-{rating}" for rating in _RATINGS)
    }


def names_of_people(part: Part, groups: Sequence[str]) -> set[str]:
    """The names in the files of these groups of people."""
    names = {"shallow": set(SHALLOW), "stockfish": set(SKILLS)}
    models = {f"t{heat:g}" for heat in _TEMPERATURES}
    names["models"] = {f"maia-{rating}" for rating in _RATINGS} if part.game == "chess" else models
    return set().union(*(names[group] for group in groups))


def play(name: str, each: int, who: Who, folder: Path, processes: int, depth: int | None = None) -> None:
    """Play the remaining games of a part; see `tasks`."""
    path = folder / f"{name}.csv"
    known = {(row.player, row.people, row.number) for row in (read_rows(path) if path.exists() else ())}
    todo = (game for game in tasks(name, each, who, depth) if (*game[:2], game[2].number) not in known)
    workers = LocalWorkers(processes)
    running: set[Future[Row]] = set()
    try:
        with path.open("a", newline="") as file:
            while True:
                for game in islice(todo, 2 * processes - len(running)):
                    running.add(workers.run(played, game))
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
    parser.add_argument("--games", type=int, default=402, help="of each player, with all the people together")
    parser.add_argument("--players", nargs="+", choices=PLAYERS, default=list(PLAYERS), metavar="PLAYER")
    parser.add_argument("--people", nargs="+", choices=GROUPS, default=list(GROUPS[:1]))
    parser.add_argument("--depth", type=int, help="plies of our searches; by default the part's")
    parser.add_argument("--maia", type=Path)
    parser.add_argument("--stockfish", default="stockfish", help="command of Stockfish")
    parser.add_argument("--folder", type=Path, default=Path("docs/data"), help="folder of the parts' files")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    control = next(iter(PLAYERS))
    chosen = tuple(name for name in PLAYERS if name in (control, *options.players))
    who = Who(chosen, tuple(dict.fromkeys(options.people)), options.maia, options.stockfish)
    if options.games % 6:
        parser.error("--games must be a multiple of 6: three people of each kind, both colours")
    each = options.games // (3 * len(who.groups))
    if each % 2:
        parser.error(f"--games must be a multiple of {6 * len(who.groups)} with so many people")
    if options.what == "play":
        if not options.folder.is_dir():
            parser.error(f"--folder: {options.folder} is not a folder")
        play(options.part, each, who, options.folder, options.processes, options.depth)
    else:
        path = options.folder / f"{options.part}.csv"
        try:
            people = names_of_people(PARTS[options.part], who.groups)
            rows = [row for row in read_rows(path) if row.people in people]
            print(told(rows, who.players, each))
        except (OSError, ValueError) as error:
            parser.error(f"{path}: {error}")


if __name__ == "__main__":
    main()
