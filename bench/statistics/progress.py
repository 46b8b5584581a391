"""How often the intervals of `storage.evidence.statistics.reply_progress` cover the truth: a made-up
person's games.

Each game has a chance of an error of its own, drawn around the person's, so that replies of one game are
alike; an error costs 10 to 60 % of the game, another reply 0 or a little.

    .venv/bin/python -m bench.statistics.progress
"""

import argparse

import numpy as np

from storage.evidence.statistics.reply_progress import BLOCK_GAMES, GameReplies, reply_quality

ALIKE = 10.0
"""Errors of one game are as alike as with a beta distribution of this many observations."""


def covered(share: float, replies: float, games: int, trials: int, rng: np.random.Generator) -> list[float]:
    """Shares of blocks that are shown, and of these the shares whose intervals hold the truth.

    Args:
        share: Of errors, from 0 to 1.
        replies: In the mean of a game.
        games: Of a block.
        trials: Blocks.
        rng: Random numbers.
    """
    mean_cost = share * 0.35 + (1 - share) * 0.5 * 0.01
    shown = errors = costs = with_cost = 0
    for _ in range(trials):
        counts = rng.poisson(replies, games)
        chances = rng.beta(share * ALIKE, (1 - share) * ALIKE, games)
        wrong = rng.binomial(counts, chances)
        made = []
        for count, bad in zip(counts.tolist(), wrong.tolist(), strict=True):
            small = 0.01 * (rng.random(count - bad) < 0.5)
            made.append(GameReplies(count, bad, float(rng.uniform(0.1, 0.6, bad).sum() + small.sum())))
        found = reply_quality(made)
        if found.error_low is None or found.error_high is None:
            continue
        shown += 1
        errors += found.error_low <= share <= found.error_high
        if found.cost_low is not None and found.cost_high is not None:
            with_cost += 1
            costs += found.cost_low <= mean_cost <= found.cost_high
    return [shown / trials, errors / max(shown, 1), costs / max(with_cost, 1)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    print("errors  replies a game  games   shown  errors covered  cost covered")
    for share in (0.05, 0.15, 0.4):
        for replies in (1.5, 8.0, 25.0):
            for games in (BLOCK_GAMES, 100):
                shown, errors, costs = covered(share, replies, games, given.trials, rng)
                print(f"{share:6.0%} {replies:15.1f} {games:6d} {shown:7.1%} {errors:15.1%} {costs:13.1%}")


if __name__ == "__main__":
    main()
