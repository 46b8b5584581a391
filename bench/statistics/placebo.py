"""Simulated trials with a known effect: how often intervals exclude it, under monitoring and at one analysis.

    python -m bench.statistics.placebo [--runs 200] [--games 5000] [--part games ...] [--seed 1]

Parts: `games` (trappy minus standard), `peeking` (no effect, and an analysis after each of 2,000 games, as in
the program; at most 5 % may exclude 0), `decisions` (single decisions), `kinds` (persons who reply at random,
greedily, by a shallow score, or by the people model with a known susceptibility), `falls` (falls beyond the
people model), `fixed` (coverage at one analysis of 50, 200 and 2,000 games), `widths` (mean half-widths). The
probability that a person returns is proportional to their number of games. The column "nominal" is the
nominal error rate of the intervals.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from bench.statistics.simulated import (
    DecisionPlan,
    FallPlan,
    Falls,
    GamePlan,
    Kind,
    Values,
    decide,
    falls,
    make_pairs,
    play_games,
)
from bench.statistics.verdicts import Rates, rates, verdict
from storage.evidence.inference.any_time import PlannedN, SequenceDesign, interim_analyses
from storage.evidence.inference.fixed import fixed_mean
from storage.evidence.intervals import Z_95, share

GAMES_DESIGN = SequenceDesign(PlannedN.GAMES)


@dataclass(frozen=True, slots=True)
class GameCase:
    """A simulated trial, which the part `games` prints as one row."""

    name: str
    plan: GamePlan
    design: SequenceDesign = GAMES_DESIGN


AS_IN_THE_PROGRAM = GameCase(
    "as in the program, effect sd .3", GamePlan(effect_sd=0.3, probabilities=(0.6, 0.4))
)
GAME_CASES = (
    GameCase(
        "one game each, coin .75", GamePlan(new_share=1, probabilities=(0.75,), skill_sd=0, adjusted=False)
    ),
    GameCase("one game each, fair coin", GamePlan(new_share=1, skill_sd=0, adjusted=False)),
    GameCase("return, skill sd .7", GamePlan(cap=None, adjusted=False)),
    GameCase(
        "and effect sd .3, any P, no cap",
        GamePlan(effect_sd=0.3, cap=None, adjusted=False),
        SequenceDesign(PlannedN.GAMES, least_persons=0),
    ),
    AS_IN_THE_PROGRAM,
    GameCase("as in the program, effect sd .5", GamePlan(effect_sd=0.5, probabilities=(0.6, 0.4))),
    GameCase("the same, score 95 %", GamePlan(score=0.95, effect_sd=0.5, probabilities=(0.6, 0.4))),
    GameCase(
        "the same, 250 persons only", GamePlan(most_persons=250, effect_sd=0.5, probabilities=(0.6, 0.4))
    ),
)


def game_rates(case: GameCase, runs: int, games: int, seed: int) -> Rates:
    """Proportion of runs in which an interval excludes the true value, 0, at any analysis."""
    rng = np.random.default_rng(seed)
    return rates([verdict(play_games(case.plan, games, rng), case.design) for _ in range(runs)])


def decision_rates(plan: DecisionPlan, runs: int, games: int, seed: int) -> dict[str, tuple[float, Rates]]:
    """For each outcome, the true effect and how often any analysis excludes it."""
    rng = np.random.default_rng(seed)
    pairs = make_pairs(np.random.default_rng(seed))
    found: dict[str, list[Values]] = {}
    for _ in range(runs):
        decisions = decide(plan, pairs, games, rng)
        for name in ("cost", "beyond_difficulty", "earned", "fell_beyond_chance"):
            found.setdefault(name, []).append(getattr(decisions, name))
    designs = {name: SequenceDesign(PlannedN.DECISIONS) for name in found}
    designs["fell_beyond_chance"] = SequenceDesign(PlannedN.TRAPS)
    return {
        name: (values[0].truth, rates([verdict(each, designs[name]) for each in values]))
        for name, values in found.items()
    }


def fall_rates(plan: FallPlan, runs: int, games: int, seed: int) -> Rates:
    """How often any analysis excludes the true proportion of falls beyond the model."""
    rng, design = np.random.default_rng(seed), SequenceDesign(PlannedN.TRAPS)

    def values(found: Falls) -> Values:
        return Values(found.fell - found.model, found.persons, found.beyond)

    return rates([verdict(values(falls(plan, games, rng)), design) for _ in range(runs)])


@dataclass(frozen=True, slots=True)
class Coverage:
    """Coverage, from 0 to 1, of three kinds of intervals for the proportion of falls at a single analysis."""

    persons: float
    """Mean P."""
    wilson: float
    sandwich: float
    """Coverage of normal intervals whose variance is computed from the sums per person."""
    leave_one_out: float
    """`storage.evidence.inference.fixed`."""


def fixed_coverage(plan: FallPlan, runs: int, games: int, seed: int) -> Coverage:
    """Estimate the intervals' coverage after the given number of games."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(runs):
        seen = falls(plan, games, rng)
        wilson = share(int(seen.fell.sum()), len(seen.fell))
        fixed = fixed_mean(seen.fell.astype(np.float64), seen.persons)
        off = seen.fell - seen.fell.mean()
        error = float(np.sqrt((np.bincount(seen.persons, off) ** 2).sum())) / len(off)
        found.append(
            (
                fixed.effective_persons,
                _holds(wilson.low, wilson.high, seen.share),
                abs(seen.fell.mean() - seen.share) <= Z_95 * error,
                _holds(fixed.low, fixed.high, seen.share),
            )
        )
    return Coverage(*np.array(found, np.float64).mean(axis=0).tolist())


def _holds(low: float | None, high: float | None, truth: float) -> bool:
    return low is not None and high is not None and low <= truth <= high


def _print_games(runs: int, games: int, seed: int) -> Iterator[str]:
    yield f"Score, {games} games, {runs} runs: per cent of runs in which an interval ever excluded the truth"
    yield _head()
    for case in GAME_CASES:
        yield _line(case.name, game_rates(case, runs, games, seed))


def _print_peeking(runs: int, games: int, seed: int) -> Iterator[str]:
    games = min(games, 2000)
    yield f"False alarms in trials without an effect, analysed after each of {games} games, {runs} runs"
    yield _head()
    yield _line(AS_IN_THE_PROGRAM.name, game_rates(AS_IN_THE_PROGRAM, runs, games, seed))


def _print_decisions(runs: int, games: int, seed: int) -> Iterator[str]:
    games = min(games, 2000)
    yield f"Cost of the next reply, {games} games of 6 decisions, {runs} runs"
    yield _head()
    for sd in (0.0, 0.1, 0.2):
        rates = decision_rates(DecisionPlan(susceptibility_sd=sd), runs, games, seed)
        yield _line(f"susceptibility sd {sd:g}, effect {rates['cost'][0]:+.3f}", rates["cost"][1])


def _print_kinds(runs: int, games: int, seed: int) -> Iterator[str]:
    games = min(games, 1000)
    yield f"Kinds of persons, {games} games of 6 decisions, {runs} runs"
    yield _head()
    for kind in Kind:
        rates = decision_rates(DecisionPlan(kind=kind), runs, games, seed)
        for name, (truth, measured) in rates.items():
            yield _line(f"{kind}: {name.replace('_', ' ')} {truth:+.3f}", measured)


def _print_falls(runs: int, games: int, seed: int) -> Iterator[str]:
    games = min(games, 1500)
    yield f"Falls beyond the model, {games} games, {runs} runs"
    yield _head()
    for sd in (0.4, 0.7, 1.0):
        yield _line(f"person sd {sd:g}", fall_rates(FallPlan(person_sd=sd), runs, games, seed))


def _print_fixed(runs: int, games: int, seed: int) -> Iterator[str]:
    yield f"Share of falls at one analysis, {runs} runs: coverage in per cent (nominal: 95)"
    yield f"{'':34}{'P':>6} {'Wilson':>9} {'sandwich':>9} {'ours':>9}"
    for count in (50, 200, 2000):
        if count > games:
            continue
        for sd in (0.7, 1.0):
            coverage = fixed_coverage(FallPlan(person_sd=sd), runs, count, seed)
            case = f"{count} games, person sd {sd:g}"
            yield (
                f"{case:34}{coverage.persons:6.0f} {100 * coverage.wilson:9.0f} "
                f"{100 * coverage.sandwich:9.0f} {100 * coverage.leave_one_out:9.0f}"
            )


def _print_widths(runs: int, games: int, seed: int) -> Iterator[str]:
    yield f"Half-width of the score's interval, fair coin, one game each, mean of {runs} runs"
    yield f"{'games':>8} {'fixed':>8} {'ours':>8}"
    rng, plan = np.random.default_rng(seed), GamePlan(new_share=1)
    seen = []
    for _ in range(runs):
        values = play_games(plan, games, rng)
        seen.append(interim_analyses(values.psi, values.persons, GAMES_DESIGN))
    for count in (500, 2000, 5000):
        if count > games:
            continue
        sds = [float(np.sqrt(each.spread[count - 1] / (count - 1))) for each in seen]
        fixed = Z_95 * float(np.mean(sds)) / count**0.5
        ours = float(np.mean([each.half_width[count - 1] for each in seen]))
        yield f"{count:8} {fixed:8.3f} {ours:8.3f}"


PARTS: dict[str, Callable[[int, int, int], Iterator[str]]] = {
    "games": _print_games,
    "peeking": _print_peeking,
    "decisions": _print_decisions,
    "kinds": _print_kinds,
    "falls": _print_falls,
    "fixed": _print_fixed,
    "widths": _print_widths,
}


def _head() -> str:
    return f"{'':44}{'ordinary':>9} {'first var.':>10} {'ours':>6}  (up to) nominal"


def _line(name: str, found: Rates) -> str:
    return (
        f"{name:44}{100 * found.ordinary:9.1f} {100 * found.first_variance:10.1f} {100 * found.ours:6.1f}"
        f"  ({100 * found.ours_high:.1f})  <= 5"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--games", type=int, default=5000)
    parser.add_argument("--part", choices=PARTS, nargs="+", default=list(PARTS))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.runs < 1 or options.games < 100:
        parser.error("--runs must be 1 or more, --games 100 or more")
    for part in options.part:
        for line in PARTS[part](options.runs, options.games, options.seed):
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
