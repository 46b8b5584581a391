"""People of known susceptibility play the bot: does `stats` find the effect of a trap that they have?

    python -m bench.statistics.played [--trials 100] [--persons 40] [--games 10] [--depth 4]
        [--people random greedy shallow network] [--seed 1]

Each trial is of single decisions: the player `randomised` plays games of Othello, each until it is as good as
decided, against persons who draw every reply from known probabilities, and
`storage.evidence.inference.decisions`
reports.  As a person's probabilities after both moves of every draw are known, so is the true mean effect on
each outcome: on the cost, on the cost beyond what the position's difficulty explains, and on what the trap
earned.  Printed is in how many trials the intervals held the truth: the confidence sequence at the trial's
end, and the one for a single planned look.

*random*: every reply alike, so the second effect is 0 by definition.  *greedy*: the best reply at one ply.
*shallow*: two plies with noise (`engine.human.shallow`).  *network*: the program's own human-move network.
A low threshold and a wide budget make for several draws in ten games; the arithmetic is the same.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from engine.decision import Decision, Person
from engine.expected import WHOLE, expected_score
from engine.game import Game
from engine.games import get_game
from engine.human.model import HumanModel, PredictionQuery, predicted
from engine.human.registry import ModelRegistry, ModelSettings
from engine.human.shallow import ShallowModel, ShallowOptions
from engine.judgement import expected_scale_centi, judge
from engine.move_chooser import MoveChooser
from engine.params import RandomisedParams, TrapParams
from engine.randomised import LEAST_VALUE, MOST_VALUE, SEED_BITS
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from storage.evidence.inference.decisions import DecisionsReport, TrialDecision, decisions_report
from storage.evidence.inference.trial import Exclusion, TrialTerms
from storage.evidence.statistics.trial_rows import trial_decision

GAME = "othello"
OUTCOMES = ("cost", "beyond_difficulty", "earned")
"""Fields of `DecisionsReport`."""
PARAMS, LOT = TrapParams(threshold_percent=1), RandomisedParams(budget_percent=5)
KINDS = ("random", "greedy", "shallow", "network")
_OPENING_PLIES = 6
_TABLE_MB = 4
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Answered:
    """A decision by lot, with the person's reply."""

    decision: Decision
    reply: str
    effects: tuple[float, float, float]
    """The true effect of the trap on each of `OUTCOMES`, for this person in this position."""


@dataclass(frozen=True, slots=True)
class TrialResult:
    """What a trial found, and the truth."""

    report: DecisionsReport
    truth: tuple[float, float, float]
    """Mean effects over the decisions that counted."""


def people(kind: str) -> HumanModel:
    """The model by which persons of a kind reply.

    Raises:
        ValueError: There is no such kind.
    """
    match kind:
        case "random":
            return ShallowModel(GAME, ShallowOptions(plies=0))
        case "greedy":
            return ShallowModel(GAME, ShallowOptions(plies=1, percent=0.01, share_percent=0))
        case "shallow":
            return ShallowModel(GAME)
        case "network":
            return ModelRegistry(ModelSettings()).models(GAME).human
    raise ValueError(f"{kind} are no people; there are {', '.join(KINDS)}")


def play_trial(model: HumanModel, persons: int, games: int, depth: int, seed: int) -> TrialResult:
    """Play the games of one trial and report on them.

    Args:
        model: How the persons reply.
        persons: Number of persons.
        games: Number of games of each person.
        depth: Plies of our searches.
        seed: Of everything that is drawn.
    """
    rng = random.Random(seed)
    game = get_game(GAME)
    player = MoveChooser(
        strategy_named("randomised"),
        game,
        PARAMS,
        make_searcher(GAME, _TABLE_MB),
        rng=rng,
        randomised=LOT,
    )
    rows: list[TrialDecision] = []
    effects = []
    for number in range(persons * games):
        for answered in play_game(player, model, game, depth, number % 2, rng):
            rows.append(_row(answered, number, games, len(rows)))
            effects.append(answered.effects)
    report = decisions_report(rows, TrialTerms(), _BEGIN + timedelta(days=365))
    means = [sum(each) / max(1, len(effects)) for each in zip(*effects, strict=True)] or [0.0] * 3
    return TrialResult(report, (means[0], means[1], means[2]))


def play_game(
    player: MoveChooser, model: HumanModel, game: Game[Any], depth: int, our_side: int, rng: random.Random
) -> Iterator[Answered]:
    """Play one game until it is as good as decided; yields its decisions by lot that were answered."""
    position = game.initial()
    drawn: Decision | None = None
    for ply in range(1000):
        legal = game.legal_moves(position)
        if not legal:
            return
        if ply < _OPENING_PLIES:
            position = game.play(position, rng.choice(legal))
        elif game.side_to_move(position) == our_side:
            decision = player.choose(position, Limits(depth), StopFlag(), seed=rng.getrandbits(SEED_BITS))
            drawn = decision if decision.trial_draw is not None else None
            worth = expected_score(decision.chosen.raw_centi, expected_scale_centi(decision))
            if not LEAST_VALUE <= worth <= MOST_VALUE:
                return  # nothing more can be drawn while the game is as good as decided
            position = game.play(position, game.parse_move(position, decision.move))
        else:
            move = rng.choices(legal, _odds(model, game, position))[0]
            if drawn is not None:
                yield Answered(drawn, game.move_text(move), _effects(drawn, model, game))
            drawn = None
            position = game.play(position, move)


def _effects(decision: Decision, model: HumanModel, game: Game[Any]) -> tuple[float, float, float]:
    """What the trap changes for a person who replies by the model, as shares of a game."""
    draw = decision.trial_draw
    assert draw is not None
    root, scale_centi = game.parse_position(decision.position), expected_scale_centi(decision)
    expected, mean = [], []
    for move in (draw.trap, draw.control):
        after = game.play(root, game.parse_move(root, move))
        judgement = judge(replace(decision, move=move).chosen, decision.params, scale_centi)
        costs = [judgement.of(game.move_text(reply)).cost / WHOLE for reply in game.legal_moves(after)]
        odds = _odds(model, game, after)
        expected.append(sum(p * cost for p, cost in zip(odds, costs, strict=True)))
        mean.append(sum(costs) / len(costs))
    effect = expected[0] - expected[1]
    gap = (draw.control_value - draw.trap_value) / WHOLE
    return effect, effect - (mean[0] - mean[1]), effect - gap


def _odds(model: HumanModel, game: Game[Any], position: Any) -> Sequence[float]:
    [odds] = predicted(model, game, [PredictionQuery((position,), Person(None, None))])
    total = sum(odds)
    return [p / total for p in odds]


def _row(answered: Answered, game_number: int, games: int, number: int) -> TrialDecision:
    at, (person, before) = _BEGIN + timedelta(minutes=number), divmod(game_number, games)
    return trial_decision(
        number, game_number, person, before, at, at, answered.decision, None, answered.reply, Exclusion.NONE
    )


def holds(found: TrialResult, outcome: str, *, any_time: bool) -> bool | None:
    """Whether an interval holds the truth; None: it is too early for an interval."""
    result = getattr(found.report, outcome)
    interval = result.any_time.estimate if any_time else result.fixed
    if interval.low is None or interval.high is None:
        return None
    truth = found.truth[OUTCOMES.index(outcome)]
    return bool(interval.low <= truth <= interval.high)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--persons", type=int, default=40)
    parser.add_argument("--games", type=int, default=10, help="of each person")
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--people", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for kind in options.people:
        model = people(kind)
        found = [
            play_trial(model, options.persons, options.games, options.depth, options.seed + trial)
            for trial in range(options.trials)
        ]
        decisions = sum(each.report.counted for each in found) / len(found)
        games = options.persons * options.games
        print(f"{kind}: {len(found)} trials of {games} games, {decisions:.0f} draws each")
        for outcome in OUTCOMES:
            print(f"  {outcome}: {_told(found, outcome)}", flush=True)


def _told(found: Sequence[TrialResult], outcome: str) -> str:
    truth = sum(each.truth[OUTCOMES.index(outcome)] for each in found) / len(found)
    means = [getattr(each.report, outcome).any_time.estimate.mean for each in found]
    known = [mean for mean in means if mean is not None]
    mean = sum(known) / len(known) if known else 0.0
    held = []
    for any_time in (True, False):
        each_held = [holds(each, outcome, any_time=any_time) for each in found]
        held.append(f"{each_held.count(True)} of {len(found) - each_held.count(None)}")
    return (
        f"true effect {100 * truth:+.2f} %, found {100 * mean:+.2f} %; "
        f"held at any time {held[0]}, at one look {held[1]}"
    )


if __name__ == "__main__":
    main()
