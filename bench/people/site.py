"""How soon a site's people are known: `python -m bench.people.site`.

Simulated people reply in made-up positions with tilts drawn from the model's prior. The people of a careless
site see less of what replies cost (k is lower); at another site ratings are too high. Games of different
people, every other one with a rating, are folded one by one (`engine.person.site`). After some numbers of
games the benchmark prints, for other people of the site, the errors expected for each that happened, and the
nats gained per reply over the model's people.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.human.person_prior import PersonPrior, card_path, read_card, tilted_rows
from engine.person.error_rate import MIN_ERROR_COST
from engine.person.site import SiteGame, SiteModel, SiteReply
from engine.person.site_state import SiteState

Floats = NDArray[np.float64]
REPLIES = 25
"""Of each game."""
AFTER = (0, 1, 2, 5, 10, 20, 50, 200)
"""Numbers of games after which the site is measured."""
OTHERS = 300
"""Number of games on which it is measured."""
RATING_SPREAD = (1600.0, 200.0)
"""Mean and standard deviation of people's ratings on the model's scale."""


@dataclass(frozen=True, slots=True)
class Site:
    """How a site's people differ from the model's."""

    name: str
    careless: float = 0.0
    """What is taken from each person's k."""
    inflation: float = 0.0
    """What the site's ratings add to those of the model's scale."""


SITES = (
    Site("the model's people"),
    Site("twice as careless", careless=9.0),
    Site("ratings 400 too high", inflation=400.0),
)


class People:
    """Simulated people of a site."""

    def __init__(self, seed: int, site: Site = SITES[0], prior: PersonPrior | None = None) -> None:
        self._rng = np.random.default_rng(seed)
        self._site = site
        self.prior = prior or read_card(card_path("othello"))
        self.base = next(iter(self.prior.bases))

    def unrated_game(self) -> SiteGame:
        """A game of a person without a rating."""
        return self.game(None, None)

    def rated_game(self) -> SiteGame:
        """A game of a person with a rating."""
        rating = float(self._rng.normal(*RATING_SPREAD))
        return self.game(rating, rating + self._site.inflation)

    def game(self, rating: float | None, shown: float | None) -> SiteGame:
        """A game of a new person.

        Args:
            rating: The rating on the model's scale; None to draw from people without one.
            shown: The rating at the site.
        """
        weights = self.prior.prior_weights(self.base, rating, None)
        grid = self.prior.bases[self.base].grid
        x, k = grid.points[self._rng.choice(len(weights), p=weights)]
        point = np.array([[x, k - self._site.careless]])
        return SiteGame(tuple(self._reply(point) for _ in range(REPLIES)), shown)

    def _reply(self, point: Floats) -> SiteReply:
        count = int(self._rng.integers(3, 12))
        base = self._rng.dirichlet(np.full(count, 0.6))
        costs = self._rng.exponential(0.08, count).clip(0, 1)
        costs -= costs.min()
        found = self.probabilities(point, base, costs)[:, 0]
        index = int(self._rng.choice(count, p=found / found.sum()))
        return SiteReply(tuple(base.tolist()), tuple(costs.tolist()), index)

    def probabilities(self, points: Floats, base: Floats, costs: Floats) -> Floats:
        """The probability of each reply at each point."""
        least = self.prior.bases[self.base].least
        return tilted_rows(points, base, costs, np.zeros(1, np.int64), least, self.prior.uniform)


@dataclass(frozen=True, slots=True)
class Fit:
    """How well a prior fits people's replies."""

    errors: float
    """Errors expected for each that happened."""
    nats: float
    """Mean of -ln p(reply)."""


class Others:
    """Games of people from whom nothing is learned.

    Args:
        people: The people.
        games: Their games.
    """

    def __init__(self, people: People, games: Sequence[SiteGame]) -> None:
        self._games = games
        self._played, self._errors = [], []
        self._happened = 0
        points = people.prior.bases[people.base].grid.points
        for game in games:
            played, errors = [], np.zeros(len(points))
            for reply in game.replies:
                costs = np.array(reply.costs)
                found = people.probabilities(points, np.array(reply.base), costs)
                played.append(found[reply.index])
                errors += found[costs >= MIN_ERROR_COST].sum(axis=0)
                self._happened += int(costs[reply.index] >= MIN_ERROR_COST)
            self._played.append(np.array(played))
            self._errors.append(errors)

    def fit(self, model: SiteModel, state: SiteState) -> Fit:
        """How well the prior at a site fits."""
        expected = nats = 0.0
        for game, played, errors in zip(self._games, self._played, self._errors, strict=True):
            weights = model.prior_weights(state, game.rating, game.seconds)
            expected += float(errors @ weights)
            nats -= float(np.log(played @ weights).sum())
        return Fit(expected / max(1, self._happened), nats / (REPLIES * len(self._games)))


def measure(site: Site, seed: int) -> list[tuple[Fit, Fit]]:
    """After each number of games in `AFTER`: the fit to people without a rating, and to people with one."""
    people = People(seed, site)
    model = SiteModel(people.prior, people.base)
    unrated = Others(people, [people.unrated_game() for _ in range(OTHERS)])
    rated = Others(people, [people.rated_game() for _ in range(OTHERS)])
    state, found = model.new_state(), []
    for games in range(max(AFTER) + 1):
        if games:
            state = model.fold(state, people.rated_game() if games % 2 else people.unrated_game())
        if games in AFTER:
            found.append((unrated.fit(model, state), rated.fit(model, state)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=10, help="number of sites of each kind")
    options = parser.parse_args()
    for site in SITES:
        print(f"\n{site.name}; means of {options.seeds} sites\n")
        print(
            "| games | no rating: errors expected/happened | nats gained | rating: expected/happened | nats |"
        )
        print("|---|---|---|---|---|")
        runs = [measure(site, seed) for seed in range(options.seeds)]
        for at, games in enumerate(AFTER):
            cells = []
            for who in (0, 1):
                errors = [run[at][who].errors for run in runs]
                gains = [run[0][who].nats - run[at][who].nats for run in runs]
                cells += [f"{np.mean(errors):.2f} ({min(errors):.2f}-{max(errors):.2f})"]
                cells += [f"{np.mean(gains):+.4f} ({min(gains):+.4f}-{max(gains):+.4f})"]
            print(f"| {games} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
