"""Replays people's games in order, and measures what is learned of each person (`engine.person`).

    python -m bench.people.person_replay --data FOLDER

The data are made by `python -m bench.people.person_data`. For each person, every reply is predicted from
the games before it, and then folded. The benchmark prints the nats gained per reply over the network that
knows the rating, by the number of games before, for the memory, the vector, the tilt and all together; how
often an error is repeated, predicted and happened; and how errors happened / expected differ between
persons. The prior of the tilt is learned from the other half of the persons.
"""

import argparse
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.human.person_prior import BasePrior, Gaussian, PersonPrior, PriorGrid, RatingScale
from engine.person.card import PersonModel, person_model
from engine.person.memory import Memory
from engine.person.prediction import predict_person
from engine.person.state import (
    FoldedGame,
    FoldedReply,
    PersonState,
    fold_game,
    shifted_base,
    shifts_of,
    tilts_at_start,
)
from engine.person.symmetry import position_keys
from engine.person.tilt import evidence, with_evidence
from lab.analysis.person_fitting import FORGETTING, TILTS, UNIFORM
from lab.analysis.recorded_games import half_of_person
from lab.training.person_prior import JudgedReplies, fit_gaussian, log_likelihoods

BANDS = ((0, 0), (1, 1), (2, 4), (5, 19), (20, 49), (50, 10**6))
COSTS = ((0.0, 0.02), (0.02, 0.10), (0.10, 0.20), (0.20, 1.01))
ERROR = 0.10
BASE = "0" * 64


@dataclass(frozen=True, slots=True)
class ReplayedPerson:
    """One person's games, in order."""

    name: str
    game: str
    games: tuple[FoldedGame, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """One way to predict."""

    name: str
    has_memory: bool = False
    has_vector: bool = False
    has_tilt: bool = False
    is_learned: bool = True
    """False to keep the state of a person of whom nothing is known."""


WAYS = (
    Way("costs (prior of the tilt)", has_tilt=True, is_learned=False),
    Way("tilt", has_tilt=True),
    Way("memory", has_memory=True),
    Way("vector", has_vector=True),
    Way("vector, memory", has_vector=True, has_memory=True),
    Way("tilt, vector", has_vector=True, has_tilt=True),
    Way("tilt, memory", has_memory=True, has_tilt=True),
    Way("all", has_memory=True, has_vector=True, has_tilt=True),
)


@dataclass(frozen=True, slots=True)
class Predicted:
    """One reply, as one way predicted it."""

    person: int
    games: int
    nats: float
    is_error: bool
    expected_error: float
    repeat: tuple[float, float, bool] | None
    """In a position that the person has faced before: the cost of their latest reply there, the probability
    that they play it again, and whether they did."""


def read_person(path: Path) -> ReplayedPerson:
    """Read a person's file."""
    with np.load(path) as file:
        data: dict[str, Any] = {name: file[name] for name in file.files}
    ends = np.append(data["start"], len(data["cost"]))
    games: dict[int, list[FoldedReply]] = {}
    facts: dict[int, tuple[bool, float]] = {}
    for at, game in enumerate(data["game"].tolist()):
        part = slice(ends[at], ends[at + 1])
        replies = tuple(data["reply"][part].tolist())
        index = int(data["played"][at])
        planes = tuple(map(tuple, data["planes"][part].round(4).tolist())) if "planes" in data else None
        games.setdefault(game, []).append(
            FoldedReply(
                position=str(data["position"][at]),
                ply=int(data["ply"][at]),
                replies=replies,
                base=tuple(data["p0"][part].round(6).tolist()),
                costs=tuple(data["cost"][part].tolist()),
                planes=planes,
                reply=replies[index],
                judged_cost=float(data["cost"][part][index]),
            )
        )
        facts[game] = bool(data["lost"][at]), float(data["rating"][at])
    return ReplayedPerson(
        str(data["name"]),
        str(data["rules"]),
        tuple(
            FoldedGame(is_lost=facts[game][0], rating=facts[game][1], replies=tuple(games[game]))
            for game in sorted(games)
        ),
    )


def prior_of(game: str, persons: Sequence[ReplayedPerson], forgetting: float) -> PersonPrior:
    """The prior of the tilt, learned from these persons, whose ratings the network knows."""
    replies = [
        (at, each) for at, person in enumerate(persons) for game in person.games for each in game.replies
    ]
    counts = np.array([len(each.replies) for _, each in replies])
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    judged = JudgedReplies(
        np.concatenate([each.base for _, each in replies]),
        np.concatenate([each.costs for _, each in replies]),
        starts,
        starts + np.array([each.index for _, each in replies]),
    )
    blank = Gaussian(("constant",), np.zeros((1, 2)), np.eye(2))
    base = BasePrior(BASE, 6, 1e-5, TILTS, RatingScale("WTHOR", 1600.0, 200.0, 4.0, 0), None, blank)
    owners = np.array([at for at, _ in replies])
    likely = log_likelihoods(judged, owners, len(persons), TILTS, base.least, UNIFORM)
    ratings = [np.mean([game.rating or 0.0 for game in person.games]) for person in persons]
    names, features = ("constant", "rating"), np.ones((len(persons), 2))
    features[:, 1] = ((np.array(ratings) - 1600.0) / 200.0).clip(-4.0, 4.0)
    found = fit_gaussian(names, features, likely, TILTS)
    return PersonPrior(game, "2" * 64, UNIFORM, forgetting, {BASE: replace(base, rated=found, unrated=found)})


NO_TILT = PersonPrior(
    "othello",
    "0" * 64,
    0.0,
    0.0,
    {
        BASE: BasePrior(
            BASE,
            6,
            1e-5,
            PriorGrid((0.0,), (0.0, 1e-9)),
            RatingScale("none", 1500.0, 400.0, 0.0, 0),
            None,
            Gaussian(("constant",), np.zeros((1, 2)), np.eye(2)),
        )
    },
)
"""Leaves the network's probabilities as they are."""


def replayed(person: int, games: Sequence[FoldedGame], way: Way, model: PersonModel) -> Iterator[Predicted]:
    """Predict and fold one person's games."""
    card = model.card if way.has_vector else replace(model.card, vector=None)
    model = replace(model, card=card, prior=model.prior if way.has_tilt else NO_TILT)
    state = PersonState(model.version)
    latest: dict[int, tuple[int, float]] = {}
    for number, game in enumerate(games):
        start = weights = tilts_at_start(state, model, game.rating, None)
        total = np.zeros(len(model.tilt.grid.points), np.int64)
        keys = [position_keys(model.game, each.position, each.replies) for each in game.replies]
        for each, key in zip(game.replies, keys, strict=True):
            made = predict_person(model, state, each, weights)
            if way.is_learned and way.has_tilt:
                # One reply at a time, as `engine.person.state.tilts_after` adds them all up.
                shifted = shifted_base(model, each.base, shifts_of(state, model, each))
                total += evidence(model.tilt, model.uniform, [(shifted, each.costs, each.index)])
                weights = with_evidence(start, total)
            repeat = None
            if key.position in latest:
                reply, cost = latest[key.position]
                p = math.fsum(
                    p for p, other in zip(made.probabilities, key.replies, strict=True) if other == reply
                )
                repeat = cost, p, key.replies[each.index] == reply
            yield Predicted(
                person,
                number,
                -math.log(max(made.probabilities[each.index], 1e-9)),
                each.costs[each.index] >= ERROR,
                math.fsum(p for p, cost in zip(made.probabilities, each.costs, strict=True) if cost >= ERROR),
                repeat,
            )
        for each, key in zip(game.replies, keys, strict=True):
            latest[key.position] = key.replies[each.index], each.judged_cost
        if way.is_learned:
            state = fold_game(state, game, model)
            if not way.has_memory:
                state = replace(state, memory=Memory())


def network_alone(person: int, games: Sequence[FoldedGame]) -> Iterator[Predicted]:
    """The network's own predictions, without costs."""
    for number, game in enumerate(games):
        for each in game.replies:
            errors = (p for p, cost in zip(each.base, each.costs, strict=True) if cost >= ERROR)
            nats = -math.log(max(each.base[each.index], 1e-9))
            yield Predicted(person, number, nats, each.costs[each.index] >= ERROR, math.fsum(errors), None)


def spread(found: Sequence[Predicted]) -> float:
    """The standard deviation over persons of ln (errors happened / expected), beyond chance.

    The method of moments: the variance of the logarithms less the mean of their variances by chance.
    """
    logs, chances = [], []
    for person in {each.person for each in found}:
        own = [each for each in found if each.person == person]
        expected = math.fsum(each.expected_error for each in own)
        happened = sum(each.is_error for each in own)
        if happened:
            logs.append(math.log(happened / expected))
            chances.append(
                math.fsum(each.expected_error * (1 - each.expected_error) for each in own) / expected**2
            )
    return math.sqrt(max(0.0, float(np.var(logs, ddof=1) - np.mean(chances))))


def print_way(name: str, found: Sequence[Predicted], network: Sequence[Predicted]) -> None:
    gains = np.array([base.nats - each.nats for base, each in zip(network, found, strict=True)])
    games, persons = np.array([each.games for each in found]), np.array([each.person for each in found])
    cells = []
    for least, most in BANDS:
        inside = (games >= least) & (games <= most)
        cells.append(f"{least}+: {gains[inside].mean():+.4f}" if inside.any() else f"{least}+: -")
    expected = math.fsum(each.expected_error for each in found)
    happened = sum(each.is_error for each in found)
    print(
        f"{name}: {np.mean([each.nats for each in found]):.4f} nats, gain {_interval(gains, persons)};"
        f" {'; '.join(cells)}; errors expected / happened {expected / happened:.3f},"
        f" spread {spread(found):.3f}",
        flush=True,
    )
    repeats = [each.repeat for each in found if each.repeat is not None]
    told = []
    for low, high in (*COSTS, (ERROR, 1.01)):
        some = [(p, same) for cost, p, same in repeats if low <= cost < high]
        if some:
            said, done = (float(np.mean(column)) for column in zip(*some, strict=True))
            told.append(f"{low:.0%}-{min(high, 1):.0%}: {said:.3f} / {done:.3f} ({len(some)})")
    if told:
        print(f"  played again, predicted / happened, by cost: {'; '.join(told)}", flush=True)


def _interval(values: Any, persons: Any, resamples: int = 500) -> str:
    """The mean with its 95 % interval, from resampling persons."""
    sums, counts = np.bincount(persons, values), np.bincount(persons)
    drawn = np.random.default_rng(1).integers(len(sums), size=(resamples, len(sums)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.percentile(means, (2.5, 97.5))
    return f"{values.mean():.4f} ({low:.4f}-{high:.4f})"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of `bench.people.person_data`")
    parser.add_argument("--persons", type=int, default=10_000, help="use only the first")
    parser.add_argument("--forgetting", type=float, default=FORGETTING, help="of the tilt")
    parser.add_argument("--ways", type=int, nargs="*", default=range(len(WAYS)), help="numbers from 0")
    arguments = parser.parse_args()
    persons = [read_person(path) for path in sorted(arguments.data.glob("*.npz"))[: arguments.persons]]
    halves = [half_of_person(person.name, 1) for person in persons]
    game = persons[0].game
    priors = [
        prior_of(
            game,
            [each for each, own in zip(persons, halves, strict=True) if own != half],
            arguments.forgetting,
        )
        for half in (0, 1)
    ]
    models = [person_model(game, prior, BASE) for prior in priors]
    network = [each for at, person in enumerate(persons) for each in network_alone(at, person.games)]
    print(f"{len(persons)} persons, {sum(len(each.games) for each in persons)} games, {len(network)} replies")
    print_way("network with the rating", network, network)
    for number in arguments.ways:
        way = WAYS[number]
        if way.has_vector and models[0].card.vector is None:
            continue
        found = [
            each
            for at, (person, half) in enumerate(zip(persons, halves, strict=True))
            for each in replayed(at, person.games, way, models[half])
        ]
        print_way(way.name, found, network)


if __name__ == "__main__":
    main()
