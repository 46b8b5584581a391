"""What `exploit` brings against people at odds, and what its mistakes cost it against a program.

Against models of people, `exploit`, `opponent_model` and `strong` play the same openings at odds, each with
nodes that take about the same processor time. `exploit` begins with the trust that it has in a stranger, and
takes itself for a player of 2300. It never knows these people: in chess it believes that they are Maia 1500,
and they are Maia 1100, 1500 and 1900 at another temperature; in Othello they are the bundled network at
another rating and temperature, and a shallow search with noise.

Against people of other kinds (other temperatures, shallow searches with noise, the strategy `like`, Stockfish
of limited skill) `trappy_strong` plays, too.

Against `strong` it plays from balanced openings. The model is right about people, or wrong: *uniform* (every
reply alike), *unrelated* (the probabilities of people in random order, as if for another game) or *inverted*
(the rating of a beginner for a strong opponent).
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bot.base.errors import DesdemonaError
from bot.match.conditions import AdjudicationRule, Terms
from bot.match.openings import odds_opening, random_opening
from bot.match.participants import OurPlayer, make_player, open_models
from bot.match.play import play_game
from bot.match.player_specs import OurSpec, parse_spec
from bot.match.score import elo_estimate, score_from_elo
from engine.decision import ModelInfo
from engine.games import get_rules
from engine.human.model import HumanModel, PredictionQuery
from lab.experiments.estimates_text import above_zero, in_points, mean_of, percent, tally, verdict_above
from lab.experiments.experiment import FOLDER, Experiment, Job, Result, Size
from lab.experiments.experiment_report import ClaimVerdict, PaperClaim, Report, Table
from lab.experiments.matches import discs

STRONG = "strong"
EXPLOIT = "exploit"
OPPONENT_MODEL = "opponent_model"
TRAPPY_STRONG = "trappy_strong"
RIGHT, UNIFORM, UNRELATED, INVERTED = "right", "uniform", "unrelated", "inverted"
_WRONG = (UNIFORM, UNRELATED, INVERTED)
_PAIRS_A_JOB = 5
_SMALL_NODES = 3_000_000
_BEGINNER = 800
_MAIA = "model={folder}/maia-1500.onnx"
_LEAST_ELO = -30


@dataclass(frozen=True, slots=True)
class Setting:
    """Games of several players of ours from the same openings against the same opponents."""

    name: str
    game: str
    arms: Mapping[str, str]
    """Our players, as for `desdemona match`; a brace stands for the folder with networks."""
    opponents: tuple[str, ...]
    """They take turns, pair by pair."""
    pairs: int
    odds: str = ""
    """See `engine.opponents.odds`; empty for balanced openings."""
    mistake: str = RIGHT
    """How the model of people is wrong."""
    first_opening: int = 0
    """Number of the first balanced opening: settings that count together have different ones."""
    fewer_pairs: int = 50
    """The number of pairs that `opponent_model` and `trappy_strong` play."""

    def pairs_of(self, arm: str) -> int:
        """The number of pairs that one of the players plays."""
        return min(self.pairs, self.fewer_pairs) if arm in (OPPONENT_MODEL, TRAPPY_STRONG) else self.pairs


def _small() -> Iterator[Setting]:
    arms = {EXPLOIT: f"exploit:nodes={_SMALL_NODES}", STRONG: "strong:nodes=20000"}
    yield Setting("othello, two corners", "othello", arms, ("human:temperature=0.5",), 1, "2-corners")
    arms = {EXPLOIT: f"exploit:nodes={_SMALL_NODES},trust=0.5"}
    yield Setting("othello v strong, uniform", "othello", arms, ("strong:nodes=20000",), 1, "", UNIFORM)


_PLAYERS: Mapping[str, Mapping[str, str]] = {
    "chess": {
        EXPLOIT: f"exploit:nodes=600000,rating=1500,our_rating=2300,trust=0.5,{_MAIA}",
        STRONG: "strong:nodes=520000",
        OPPONENT_MODEL: f"opponent_model:nodes=2600000,rating=1500,{_MAIA}",
        TRAPPY_STRONG: "trappy_strong:nodes=520000",
    },
    "othello": {
        EXPLOIT: "exploit:nodes=4000000,rating=2000,our_rating=2300,trust=0.5",
        STRONG: "strong:nodes=4000000",
        OPPONENT_MODEL: "opponent_model:nodes=5300000,rating=2000",
        TRAPPY_STRONG: "trappy_strong:nodes=4000000",
    },
}
"""Our players against people, with nodes that take about the same processor time."""


def _people() -> Iterator[Setting]:
    """Games of the reach against people."""
    people: tuple[str, ...] = tuple(
        f"human:model={{folder}}/maia-{level}.onnx,temperature=0.5" for level in (1100, 1500, 1900)
    )
    yield Setting("chess, queen and knight", "chess", _PLAYERS["chess"], people, 200, "queen+knight")
    people = ("human:temperature=0.5,rating=2300", "human:plies=4,percent=3")
    yield Setting("othello, three corners", "othello", _PLAYERS["othello"], people, 200, "3-corners")


def _programs() -> Iterator[Setting]:
    """Games of the reach against a program."""
    arms = {EXPLOIT: f"exploit:nodes=500000,rating=1500,our_rating=2300,trust=0.5,{_MAIA}"}
    yield Setting("chess v strong, right", "chess", arms, ("strong:nodes=500000",), 100)
    for at, (mistake, pairs) in enumerate(((RIGHT, 100), *((each, 67) for each in _WRONG))):
        arms = {EXPLOIT: "exploit:nodes=3000000,rating=2000,our_rating=2300,trust=0.5"}
        name = f"othello v strong, {mistake}"
        yield Setting(name, "othello", arms, ("strong:nodes=3000000",), pairs, "", mistake, 1000 * at)


def _others() -> Iterator[Setting]:
    """Games against people of other kinds."""
    for game, odds, people in (
        (
            "chess",
            "queen+knight",
            (
                "human:model={folder}/maia-1900.onnx",
                "human:plies=4,percent=1",
                "like:model={folder}/maia-1900.onnx,rating=1900",
                "uci:stockfish; option.Threads=1; option.Skill Level=6; nodes=20000",
            ),
        ),
        ("othello", "3-corners", ("human:rating=1900", "human:plies=2,percent=3", "like:rating=1900")),
    ):
        arms = {name: spec for name, spec in _PLAYERS[game].items() if name != OPPONENT_MODEL}
        pairs = 50 * len(people)
        yield Setting(f"{game}, other people", game, arms, people, pairs, odds, fewer_pairs=pairs)


def _settings(size: Size) -> list[Setting]:
    """All settings, the most important ones first."""
    return [*_small()] if size is Size.SMALL else [*_people(), *_programs(), *_others()]


class FullStrengthReach(Experiment):
    """Games at odds against people, and even games against a program."""

    name: ClassVar = "full-strength"
    title: ClassVar = "Traps at full strength: what exploit brings and what it may cost"
    source: ClassVar = "this program's strategy exploit"
    version: ClassVar = "5"
    needs: ClassVar = (
        "the Maia networks maia-1100.onnx to maia-1900.onnx (`desdemona lab import-model`); and Stockfish"
    )

    def jobs(self, size: Size) -> Sequence[Job]:
        """See `Experiment.jobs`; each setting is played before the next."""
        return [
            Job(
                _job(setting, arm, first),
                {"setting": setting.name, "size": size.value, "arm": arm, "first": first},
            )
            for setting in _settings(size)
            for first in range(0, setting.pairs, _PAIRS_A_JOB)
            for arm in setting.arms
            if first < setting.pairs_of(arm)
        ]

    def run(self, arguments: Mapping[str, Any], seed: int) -> Result:
        """Play a few pairs of games.

        Returns:
            ``games``: of each our points and our margin in discs (or null).
        """
        setting = next(
            each for each in _settings(Size(arguments["size"])) if each.name == arguments["setting"]
        )
        first, folder = arguments["first"], arguments.get(FOLDER, "")
        last = min(first + _PAIRS_A_JOB, setting.pairs)
        games = [_played(setting, arguments["arm"], at, seed, folder) for at in range(2 * first, 2 * last)]
        return {"games": games}

    def report(self, results: Mapping[str, Result], size: Size) -> Report:
        """See `Experiment.report`."""
        found = {each.name: _Found.of(each, results) for each in _settings(size)}
        settings = [each for each in _settings(size) if found[each.name].games]
        claims = [claim for each in settings for claim in _claims_at_odds(each, found[each.name])]
        for says, mistakes in (
            ("a right model (Othello, chess)", (RIGHT,)),
            ("a wrong model (Othello, three kinds)", _WRONG),
        ):
            even = [each for each in _settings(size) if not each.odds and each.mistake in mistakes]
            played = [found[each.name].of_pairs(EXPLOIT, 0) for each in even if each in settings]
            if played:
                planned = sum(each.pairs for each in even)
                claims.append(_cost_claim(says, np.concatenate(played), planned))
        return Report(tuple(claims), tuple(_tables(settings, found)), ())


# --- Games ----------------------------------------------------------------------------------------------


class MistakenModel:
    """A model of people that is wrong.

    Args:
        model: The right one.
        mistake: How it is wrong.
    """

    def __init__(self, model: HumanModel, mistake: str) -> None:
        self._model, self._mistake = model, mistake
        self.game, self.max_history_positions = model.game, model.max_history_positions
        self.info = ModelInfo(model.info.kind, f"{model.info.name}, {mistake}", model.info.sha256)

    def predict(self, asks: Sequence[PredictionQuery]) -> list[tuple[float, ...]]:
        """See `HumanModel.predict`."""
        if self._mistake == INVERTED:
            asks = [replace(each, person=replace(each.person, rating=_BEGINNER)) for each in asks]
        found = self._model.predict(asks)
        if self._mistake == UNIFORM:
            return [(1 / len(each),) * len(each) for each in found]
        if self._mistake == UNRELATED:
            rules = get_rules(self.game)
            return [
                _shuffled(each, rules.position_text(ask.positions[-1]))
                for ask, each in zip(asks, found, strict=True)
            ]
        return found


def _shuffled(probabilities: Sequence[float], seed: str) -> tuple[float, ...]:
    mixed = list(probabilities)
    random.Random(seed).shuffle(mixed)  # noqa: S311 - needs no secrecy
    return tuple(mixed)


def _played(setting: Setting, arm: str, number: int, seed: int, folder: str) -> list[float | None]:
    def spec_of(text: str) -> Any:
        return parse_spec(text.replace("{folder}", str(Path(folder))))

    ours = spec_of(setting.arms[arm])
    opponent = setting.opponents[number // 2 % len(setting.opponents)]
    terms = Terms(
        game=setting.game,
        a=ours,
        b=spec_of(opponent),
        depth=1000,  # the players set their own limits
        openings=f"seed {seed}",
        odds=setting.odds,
        adjudication=AdjudicationRule(900, 6) if setting.game == "chess" and not setting.odds else None,
    )
    opening = (
        odds_opening(setting.game, setting.odds, seed, number)
        if setting.odds
        else random_opening(setting.game, seed, setting.first_opening + number // 2)
    )
    models = open_models(ours, setting.game) if isinstance(ours, OurSpec) else None
    if models is not None and setting.mistake != RIGHT:
        models = replace(models, human=MistakenModel(models.human, setting.mistake))
    players = (
        OurPlayer(ours, setting.game, f"{seed} {number} 0", models=models),
        make_player(terms, 1, f"{seed} {number} 1"),
    )
    try:
        game = play_game(terms, number, opening, players, keeps_decisions=False).finished
    finally:
        for player in players:
            player.close()
    # Whoever fails is no weaker at the game; without its model, exploit is another player.
    if game.is_forfeit or (models is not None and models.health.failures[0]):
        raise DesdemonaError(f"game {number}: {game.reason or 'the model of people failed'}")
    return [game.points, game.margin]


# --- The report -----------------------------------------------------------------------------------------


def _job(setting: Setting, arm: str, first: int) -> str:
    return f"{setting.name}: {arm}, pairs {first}"


@dataclass(frozen=True, slots=True)
class _Found:
    """The games of a setting so far."""

    games: Mapping[str, Mapping[int, NDArray[np.float64]]]
    """By player and pair: of both games the two numbers of `FullStrengthReach.run`."""

    @classmethod
    def of(cls, setting: Setting, results: Mapping[str, Result]) -> "_Found":
        games = {}
        for arm in setting.arms:
            pairs: dict[int, NDArray[np.float64]] = {}
            for first in range(0, setting.pairs, _PAIRS_A_JOB):
                part = results.get(_job(setting, arm, first), {"games": []})["games"]
                for at in range(len(part) // 2):
                    pairs[first + at] = np.array(part[2 * at : 2 * at + 2], float)
            if pairs:
                games[arm] = pairs
        return cls(games)

    def against(self, setting: Setting, kind: int) -> "_Found":
        """The games against one of the opponents."""
        count = len(setting.opponents)
        return _Found(
            {
                arm: some
                for arm, pairs in self.games.items()
                if (some := {at: each for at, each in pairs.items() if at % count == kind})
            }
        )

    def of_pairs(self, arm: str, what: int) -> NDArray[np.float64]:
        """The mean of one of the numbers in each pair."""
        return np.array([each[:, what].mean() for each in self.games[arm].values()])

    def beyond(self, arm: str, other: str, what: int) -> NDArray[np.float64]:
        """The difference of two players in each pair that both have played."""
        both = sorted(self.games[arm].keys() & self.games.get(other, {}).keys())
        return np.array([(self.games[arm][at] - self.games[other][at])[:, what].mean() for at in both], float)


def _claims_at_odds(setting: Setting, found: _Found) -> Iterator[PaperClaim]:
    for other in (STRONG, OPPONENT_MODEL):
        if EXPLOIT in found.games and len(gain := found.beyond(EXPLOIT, other, 0)):
            planned = min(setting.pairs_of(EXPLOIT), setting.pairs_of(other))
            yield PaperClaim(
                f"{setting.name}: exploit scores more than {other}",
                _of_all(above_zero(mean_of(gain)), len(gain), planned),
                f"{in_points(mean_of(gain))} percentage points, {2 * len(gain)} of {2 * planned} games each",
            )


def _of_all(verdict: ClaimVerdict, pairs: int, planned: int) -> ClaimVerdict:
    """The verdict, once all games were played: whoever looks earlier, and again, finds too much."""
    return verdict if pairs >= planned else ClaimVerdict.INCONCLUSIVE


def _cost_claim(says: str, points: NDArray[np.float64], planned: int) -> PaperClaim:
    return PaperClaim(
        f"against strong, with {says}: it costs at most {-_LEAST_ELO} Elo",
        _of_all(verdict_above((mean_of(points),), score_from_elo(_LEAST_ELO)), len(points), planned),
        f"{_elo(points)} Elo, {2 * len(points)} of {2 * planned} games",
    )


def _elo(points: NDArray[np.float64]) -> str:
    elo = elo_estimate(points.tolist())
    if elo.value is None:
        return "-"
    low, high = ("-" if each is None else f"{each:+.0f}" for each in (elo.low, elo.high))
    return f"{elo.value:+.0f} ({low} to {high})"


def _tables(settings: Sequence[Setting], found: Mapping[str, _Found]) -> Iterator[Table]:
    yield _table("Games", [(each, each.name, found[each.name]) for each in settings])
    several = [each for each in settings if len(each.opponents) > 1]
    kinds = [
        (each, f"{each.name}: {opponent.replace('{folder}/', '')}", found[each.name].against(each, kind))
        for each in several
        for kind, opponent in enumerate(each.opponents)
    ]
    if kinds:
        yield _table("The same games by opponent", kinds)


def _table(title: str, parts: Sequence[tuple[Setting, str, _Found]]) -> Table:
    rows = []
    for setting, name, known in parts:
        for arm, pairs in known.games.items():
            games = np.concatenate(list(pairs.values()))
            beyond = known.beyond(arm, STRONG, 0) if arm != STRONG else np.array([])
            rows.append(
                (
                    name,
                    arm,
                    tally(games[:, 0]),
                    percent(mean_of(known.of_pairs(arm, 0))),
                    in_points(mean_of(beyond)) if len(beyond) else "",
                    _elo(known.of_pairs(arm, 0)),
                    discs(mean_of(known.of_pairs(arm, 1))) if setting.game == "othello" else "",
                )
            )
    return Table(
        title,
        ("setting", "player", "games", "score, %", "minus strong, points", "Elo", "discs"),
        tuple(rows),
        "Every opening is played with both colours; intervals by opening.",
    )
