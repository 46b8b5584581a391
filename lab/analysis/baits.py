"""Finds baits in analysed games by the program's own rule, and counts how often people take them.

The forecasts are made as in play (`engine.forecasts`): by the calibrated model if there is one, otherwise by
the human-move model, tilted to the person by rating and speed. Further forecasts use the scores alone (R,
`engine.bait_rule.rank_probabilities`). Stored predictions replace the human-move network. The judge values
the likeliest replies of all forecasters, and the reply that was played, once in each position. For each move,
only the bait with the highest probability times cost counts.

Decided positions are excluded: after a move to a forced win or loss, score differences are meaningless.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.bait_rule import ExpectedReplies, forecast, with_costs
from engine.decision import ModelInfo
from engine.expected import WHOLE
from engine.game import WIN_CENTI
from engine.human.calibrated import CalibratedModel
from engine.human.model import SHALLOW, PredictionQuery
from engine.human.opponent_model_search import GameModels
from engine.human.person_prior import PersonPrior
from engine.human.reply_forecast import ReplyForecast
from engine.human.reply_probabilities import predict_replies
from engine.judge import JUDGE_VERSION, ReplyCosts, ReplyWord
from engine.params import TrapParams
from lab.analysis.analysed_games import StoredPosition
from lab.analysis.measures import Estimate, PersonShare, estimate_of, mean_of, person_share
from lab.analysis.persons import rating_bands, seconds_of
from lab.analysis.population import Population
from lab.analysis.reply_profiles import JudgeTask
from lab.analysis.trap_counts import decision_of
from lab.training.judge_tilt import FittedTilt, fit_judge_tilt
from storage.evidence.inference.fixed import fixed_ratio

RANK_MODEL_NAME = "R"
"""Name of the forecasts from the scores alone."""


@dataclass(frozen=True, slots=True)
class Forecaster:
    """A forecasting method and its forecasts."""

    name: str
    forecasts: tuple[ReplyForecast | None, ...]
    """The forecast for each position; None where the models give no forecast."""

    @property
    def is_tilted(self) -> bool:
        """Whether the forecasts were tilted to the person."""
        return any(forecast is not None and forecast.prior for forecast in self.forecasts)

    @property
    def probabilities(self) -> NDArray[np.float64] | None:
        """The probabilities of all replies in all positions; None if any position lacks a forecast."""
        known = [forecast.probabilities for forecast in self.forecasts if forecast is not None]
        return np.concatenate(known) if len(known) == len(self.forecasts) else None


@dataclass(frozen=True, slots=True)
class BaitRow:
    """How often a group of people took the baits offered to them."""

    model: str
    people: str
    """``all`` for all people, or the name of a rating band."""
    offered: PersonShare
    """Share of moves that set a bait."""
    played: PersonShare
    """Among replies to moves that set a bait, the share that were the bait with the highest probability times
    cost."""
    predicted: float | None
    """Mean forecast probability of the bait; None if no move set a bait."""
    ratio: Estimate
    """Expected number of baits played, divided by the actual number."""
    fell: PersonShare
    """Among replies to moves that set a bait, the share that were any bait."""


@dataclass(frozen=True, slots=True)
class BaitTable:
    """How often people took the baits in a population."""

    primary: BaitRow
    """The study's primary endpoint: the first model's ratio for all people. Other rows are exploratory."""
    rows: tuple[BaitRow, ...]
    decided: int
    """Number of positions excluded because our move leads to a forced win or loss."""
    judge_version: int
    """The judge that found the baits (`engine.judge.JUDGE_VERSION`)."""
    errors: PersonShare
    """Share of the replies played that are errors by the judge; decided positions are excluded."""
    mean_cost: Estimate
    """Mean cost of the replies played by the judge, in expected score; decided positions are excluded."""
    likely_errors: PersonShare
    """Of the likeliest replies (`ReplyForecast.likeliest`, first model) that are errors by the judge, the
    share that was played, whether or not they look good."""
    likely_errors_predicted: float | None
    """Their mean probability; None if there are none."""
    tilt: FittedTilt | None
    """The judge's costs beyond the first model's forecasts (`lab.training.judge_tilt`); None with too few
    moves."""


class _StoredPredictions:
    """A human-move model that returns stored predictions."""

    max_history_positions = 1

    def __init__(self, game: str, info: ModelInfo) -> None:
        self.game, self.info = game, info
        self.answer: tuple[float, ...] = ()

    def predict(self, asks: Sequence[PredictionQuery]) -> list[tuple[float, ...]]:
        """See `engine.human.model.HumanModel.predict`."""
        return [self.answer for _ in asks]


_NO_NETWORK = ModelInfo(SHALLOW, "none", "")


def forecasters(
    people: Population,
    calibrated: CalibratedModel | None,
    human: ModelInfo | None,
    prior: PersonPrior | None,
    on_count: Callable[[int], None] = lambda _: None,
) -> tuple[Forecaster, ...]:
    """Forecast the replies in all positions with all available forecasters; their baits are not known yet.

    Args:
        calibrated: A calibrated model that was not fitted to these games, or None.
        human: The model that made the predictions stored with the positions; None if none are stored.
        prior: The prior that tilts predictions to the person; None for no tilt.
        on_count: Called with the number of positions just done.

    Returns:
        In this order: the program's forecaster (with the calibrated model if there is one), the human-move
        model alone, both without the tilt if the tilt changes them, and the scores alone.
    """
    network = _StoredPredictions(people.game.name, human or _NO_NETWORK)
    ways: list[tuple[str, GameModels]] = []
    for tilt in (prior, None):
        if calibrated is not None:
            ways.append(("calibrated model", GameModels(network, calibrated, person_prior=tilt)))
        if human is not None:
            ways.append((human.name, GameModels(network, person_prior=tilt)))
    found: list[list[ReplyForecast | None]] = [[] for _ in range(len(ways) + 1)]
    for stored in people.positions:
        candidate, scale = stored.found.candidate, stored.found.logistic_centi
        for at, (_, models) in enumerate(ways):
            expected = _expected(people, stored, network, models)
            found[at].append(None if expected is None else forecast(candidate, scale, expected))
        found[-1].append(forecast(candidate, scale))
        on_count(1)
    named: dict[str, Forecaster] = {}
    for name, forecasts in zip([*(name for name, _ in ways), RANK_MODEL_NAME], found, strict=True):
        each = Forecaster(name, tuple(forecasts))
        if each.is_tilted:
            each = replace(each, name=f"{name}, tilted")
        named.setdefault(each.name, each)  # the same name once if there is no tilt
    return tuple(named.values())


def _expected(
    people: Population, stored: StoredPosition, network: _StoredPredictions, models: GameModels
) -> ExpectedReplies | None:
    """Each reply's probability, in the profile's order, which in old records may differ from the game's."""
    game, found = people.game, stored.found
    root = game.parse_position(found.position)
    after = game.play(root, game.parse_move(root, found.move))
    legal = [game.move_text(move) for move in game.legal_moves(after)]
    at = {reply.reply: number for number, reply in enumerate(found.replies)}
    if at.keys() != set(legal):
        return None  # recorded by rules that have changed since
    order = [at[text] for text in legal]
    candidate = replace(found.candidate, replies=tuple(found.replies[number] for number in order))
    network.answer = () if stored.human is None else tuple(stored.human[number] for number in order)
    seconds = seconds_of(stored.time_control)
    prediction = predict_replies(game, (root, after), candidate, models, found.person, seconds)
    if prediction is None:
        return None
    number_of = {text: number for number, text in enumerate(legal)}
    back = [number_of[reply.reply] for reply in found.replies]
    probabilities, base = (
        tuple(each[number] for number in back) for each in (prediction.probabilities, prediction.base)
    )
    return ExpectedReplies(
        probabilities,
        prediction.model,
        base if prediction.version else (),
        prediction.version,
        judge_tilt=prediction.judge_tilt,
    )


def judge_tasks(people: Population, given: Sequence[Forecaster]) -> list[JudgeTask | None]:
    """What the judge has to value in each position: the reply played and all forecasters' likeliest replies.

    Returns:
        One task for each position, numbered by `StoredPosition.id`; None for a decided position.
    """
    tasks: list[JudgeTask | None] = []
    for at, (stored, is_decided) in enumerate(zip(people.positions, _decided(people), strict=True)):
        found = stored.found
        likeliest = [
            reply
            for each in given
            if (forecast := each.forecasts[at]) is not None
            for reply in forecast.likeliest
        ]
        decision = decision_of(people.game.name, found.position, found.candidate, TrapParams())
        replies = tuple(dict.fromkeys([found.reply, *likeliest]))
        tasks.append(None if is_decided else JudgeTask(stored.id, decision, replies))
    return tasks


def judged(
    people: Population, given: Sequence[Forecaster], costs: Sequence[ReplyCosts | None]
) -> tuple[Forecaster, ...]:
    """Return the forecasters with the baits of their forecasts.

    Args:
        costs: What the replies of `judge_tasks` cost in each position; None where there was no task.
    """
    return tuple(
        replace(
            each,
            forecasts=tuple(
                made
                if made is None or known is None
                else with_costs(made, stored.found.candidate, stored.found.logistic_centi, known)
                for made, stored, known in zip(each.forecasts, people.positions, costs, strict=True)
            ),
        )
        for each in given
    )


def bait_table(
    people: Population, given: Sequence[Forecaster], costs: Sequence[ReplyCosts | None]
) -> BaitTable:
    """Count the baits offered and played.

    Args:
        given: The forecasters with their baits (`judged`); the primary endpoint uses the first one.
        costs: See `judged`.
    """
    decided, persons = _decided(people), people.persons
    bands = rating_bands([each.found.rating for each in people.positions])
    masks = {"all": np.ones(len(decided), bool)} | {
        name: inside for name, inside in bands.items() if inside.any() and not inside.all()
    }
    rows = [_row(people, each, name, inside & ~decided) for each in given for name, inside in masks.items()]
    played = [
        (at, known.of(stored.found.reply))
        for at, (stored, known) in enumerate(zip(people.positions, costs, strict=True))
        if known is not None
    ]
    of = persons[np.array([at for at, _ in played], np.intp)]
    likely = _likely_errors(people, given[0], costs)
    errors = np.array([cost.word is ReplyWord.ERROR for _, cost in played], np.bool_)
    values = np.array([cost.cost / WHOLE for _, cost in played], np.float64)
    return BaitTable(
        rows[0],
        tuple(rows),
        int(decided.sum()),
        JUDGE_VERSION,
        person_share(errors, of),
        mean_of(values, of),
        person_share(
            np.array([hit for _, hit, _ in likely], np.bool_),
            persons[np.array([at for at, _, _ in likely], np.intp)],
        ),
        float(np.mean([p for _, _, p in likely])) if likely else None,
        fit_judge_tilt(given[0].forecasts, costs, [each.found.reply for each in people.positions]),
    )


def _likely_errors(
    people: Population, forecaster: Forecaster, costs: Sequence[ReplyCosts | None]
) -> list[tuple[int, bool, float]]:
    """Each likely reply that is an error: its position, whether it was played, its probability."""
    return [
        (at, reply == stored.found.reply, made.probability_of(reply))
        for at, (stored, made, known) in enumerate(
            zip(people.positions, forecaster.forecasts, costs, strict=True)
        )
        if made is not None and known is not None
        for reply in made.likeliest
        if known.of(reply).word is ReplyWord.ERROR
    ]


def _decided(people: Population) -> NDArray[np.bool_]:
    return np.array([abs(each.found.candidate.raw_centi) >= WIN_CENTI for each in people.positions], np.bool_)


def _row(people: Population, forecaster: Forecaster, name: str, inside: NDArray[Any]) -> BaitRow:
    known = [
        (at, forecast) for at in np.flatnonzero(inside) if (forecast := forecaster.forecasts[at]) is not None
    ]
    offers, hits, falls, probabilities, with_bait = [], [], [], [], []
    for at, forecast in known:
        bait = forecast.bait
        offers.append(bait is not None)
        if bait is not None:
            played = people.positions[at].found.reply
            with_bait.append(at)
            hits.append(bait.reply == played)
            falls.append(forecast.takes_bait(played))
            probabilities.append(bait.p_reply)
    persons = people.persons
    offered = person_share(np.array(offers, np.bool_), persons[np.array([at for at, _ in known], np.intp)])
    of = persons[np.array(with_bait, np.intp)]
    return BaitRow(
        forecaster.name,
        name,
        offered,
        person_share(np.array(hits, np.bool_), of),
        float(np.mean(probabilities)) if probabilities else None,
        estimate_of(fixed_ratio(probabilities, np.array(hits, np.float64), of)),
        person_share(np.array(falls, np.bool_), of),
    )
