"""Do traps pay against people?  Matches of every player against people as models know them.

    python -m bench.proof_in_play play chess-odds --maia data/maia [--games 402] [--database sqlite:///data/proof.db]
    python -m bench.proof_in_play tell chess-odds [--games 402] [--database sqlite:///data/proof.db]

The parts are `PARTS`: chess and Othello, from normal starts and at odds.  In each, every player meets the
same people in the same openings, in batches, so that all have played about the same number of games whenever
it is stopped; the same command goes on.  People draw their moves from a human-move model
(`bot.match.people`): Maia's networks for ratings of 1100, 1500 and 1900 at chess (at odds with a temperature
of 0.5: else even a queen is too little), and at Othello the program's own network, once more careless than it
is, once as it is, and once surer of itself (temperature 1.5, 1, 0.5).  Our players search to a fixed depth;
those that reckon with people take at chess the network for 1500, whoever is there, and are not told the
rating.
"""

import argparse
import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path

from bench.proof_told import tell
from bot.match.openings import Opening, read_openings
from bot.match.play import Finished
from bot.match.runner import Match, Standing, run_match
from bot.match.specs import parse_spec
from bot.match.terms import Terms
from bot.match.workers import LocalWorkers
from storage.database import Database

PLAYERS = {
    "standard": "standard",
    "median": "trappy:assessment=median",
    "best": "trappy:assessment=best",
    "last": "trappy:assessment=last",
    "opponent_model": "opponent_model",
    "calibrated": "calibrated",
}
"""Arms by their names in matches' ids; the first is the control."""

_RECKONING = ("opponent_model", "calibrated")
_RATINGS = (1100, 1500, 1900)
_OUR_RATING = 1500
_TEMPERATURES = (1.5, 1.0, 0.5)
_BATCH = 10  # games with each of the people before the next player has its turn
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
    """Where we give odds; none: nearly balanced ones by the seed."""
    temperature: float = 1.0
    """Of the people at chess: the lower, the surer they choose what is likely, and the stronger they are."""


PARTS = {
    "othello-normal": Part("othello", 6),
    "othello-corners": Part("othello", 4, _CORNERS),
    "chess-normal": Part("chess", 4),
    "chess-odds": Part("chess", 4, (_QUEEN, _ROOK), 0.5),
}


def matches(name: str, player: str, games: int, maia: Path | None) -> dict[str, Match]:
    """The matches of a player in a part, by the people it meets.

    Args:
        name: One of `PARTS`.
        player: One of `PLAYERS`.
        games: With each of the people.
        maia: Folder of Maia's networks, for chess.
    """
    part = PARTS[name]
    text, people = PLAYERS[player], _people(part, maia)
    if maia is not None and part.game == "chess" and player in _RECKONING:
        text += f":model={maia / f'maia-{_OUR_RATING}.onnx'}"
    openings: list[Opening] | None = None
    if part.openings:
        openings = read_openings("\n".join(part.openings).encode(), part.game, name)
    found = {}
    for short, spec in people.items():
        terms = Terms(
            game=part.game,
            a=parse_spec(text),
            b=parse_spec(spec),
            depth=part.depth,
            openings=f"{name} seed {_SEED}",
        )
        found[short] = Match(
            id=match_id(name, player, short), terms=terms, games=games, seed=_SEED, openings=openings
        )
    return found


def match_id(name: str, player: str, people: str) -> str:
    """The name of a match in the database."""
    return f"{name}.{player.replace('_', '-')}.{people}"


def _people(part: Part, maia: Path | None) -> dict[str, str]:
    if part.game != "chess":
        return {f"t{heat:g}": f"human:temperature={heat:g},name=people t{heat:g}" for heat in _TEMPERATURES}
    if maia is None:
        raise SystemExit("--maia says where Maia's networks are (desdemona model import)")
    return {
        name: f"human:model={maia / name}.onnx,temperature={part.temperature:g},name={name}"
        for name in (f"maia-{rating}" for rating in _RATINGS)
    }


async def play(name: str, games: int, maia: Path | None, url: str, processes: int) -> None:
    """Play what is still to be played of a part."""
    database, workers = await Database.open(url), LocalWorkers(processes)
    each = games // 3
    try:
        for batch in range(_BATCH, each + _BATCH, _BATCH):
            for player in PLAYERS:
                for match in matches(name, player, min(batch, each), maia).values():
                    await run_match(match, database, workers, _silent, asyncio.Event())
            print(f"{name}: {3 * min(batch, each)} games of each player", file=sys.stderr, flush=True)
    finally:
        workers.close()
        await database.close()


def _silent(game: Finished | None, now: Standing) -> None:
    """Nothing: batches are told."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("play", "tell"))
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--games", type=int, default=402, help="of each player, a third with each people")
    parser.add_argument("--maia", type=Path)
    parser.add_argument("--database", default="sqlite:///data/proof.db")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    if options.games % 6:
        parser.error("--games must be a multiple of 6: three people, both colours")
    if options.what == "play":
        asyncio.run(play(options.part, options.games, options.maia, options.database, options.processes))
    else:
        asyncio.run(tell(options.part, tuple(PLAYERS), options.games // 3, options.database))


if __name__ == "__main__":
    main()
