"""Compares rules for baits, and ways to judge replies, on an analysis that `desdemona lab study` has judged.

    python -m bench.bait_rules --game chess --database sqlite:///chess.sqlite --half 1
    python -m bench.bait_rules --game othello --database sqlite:///othello.sqlite --person-half 1 --elo

For each rule: the share of moves that set a bait, how often the bait was played, how often the bundled models
expected it, and predicted / played. The first version's rule took the cost from the analysis itself, and a
look better than the best at any shallower depth. Then the mean cost of the same replies of people, by the
depth of the scores that judge them, by the depth that each strategy reaches with the same nodes, and by the
judge.
"""

import argparse
import asyncio
import math
from collections.abc import Callable, Sequence

import numpy as np

from bench.suites import native_searcher
from engine.bait_rule import shallow_score, with_costs
from engine.decision import ReplyProfile
from engine.expected import WHOLE, expected_score
from engine.figure_9 import LIKELIEST, MIN_BAIT_P, MIN_ERROR_COST
from engine.game import WIN_CENTI
from engine.human.person_prior import card_path, read_card
from engine.human.reply_forecast import ReplyForecast
from engine.judge import ReplyCosts, ReplyWord
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from lab.analysis.analysed_games import StoredPosition, costs_of_analysis, count_analyses, list_models
from lab.analysis.baits import Forecaster, forecasters
from lab.analysis.elo import RatedResult, rated_result, standings, with_ratings
from lab.analysis.measures import Estimate, PersonShare, estimate_of, mean_of, person_share
from lab.analysis.population import Population, Portion, load, population
from lab.cli.study_data import calibrated_of
from storage.database import Database
from storage.evidence.inference.fixed import fixed_ratio
from storage.research.archive import each_game

Rule = Callable[[StoredPosition, ReplyForecast, ReplyCosts], list[str]]
STRATEGIES = ("standard", "trappy", "tempting")


def own_costs(found: StoredPosition) -> dict[str, int]:
    """What the replies cost by the analysis's own scores, at its depth."""
    return costs_at(found, -1)


def costs_at(stored: StoredPosition, column: int) -> dict[str, int]:
    scale = stored.found.logistic_centi
    scores = {each.reply: expected_score(-each.scores_centi[column], scale) for each in stored.found.replies}
    best = max(scores.values())
    return {reply: best - score for reply, score in scores.items()}


def likely(made: ReplyForecast, count: int) -> list[str]:
    ordered = sorted(zip(made.replies, made.probabilities, strict=True), key=lambda each: -each[1])
    return [reply for reply, p in ordered[:count] if p >= MIN_BAIT_P]


def looks(stored: StoredPosition, best: set[str], value: Callable[[ReplyProfile], int]) -> set[str]:
    """The replies that look at least as good as each of the best ones."""
    found = {each.reply: value(each) for each in stored.found.replies}
    least = max(found[reply] for reply in best if reply in found)
    return {reply for reply, look in found.items() if look >= least}


def deceptive_anywhere(stored: StoredPosition, best: set[str]) -> set[str]:
    scale = stored.found.logistic_centi
    depths = len(stored.found.replies[0].scores_centi) - 1
    return {
        reply
        for depth in range(depths)
        for reply in looks(stored, best, lambda each: expected_score(-each.scores_centi[depth], scale))  # noqa: B023
    }


def first_rule(count: int) -> Rule:
    def baits(stored: StoredPosition, made: ReplyForecast, _: ReplyCosts) -> list[str]:
        costs = own_costs(stored)
        deceptive = deceptive_anywhere(stored, {reply for reply, cost in costs.items() if cost == 0})
        return [r for r in likely(made, count) if costs[r] >= MIN_ERROR_COST and r in deceptive]

    return baits


def own_cost_second_look(stored: StoredPosition, made: ReplyForecast, _: ReplyCosts) -> list[str]:
    costs = own_costs(stored)
    best = {reply for reply, cost in costs.items() if cost == 0}
    scale = stored.found.logistic_centi
    deceptive = looks(stored, best, lambda each: shallow_score(each, scale))
    return [r for r in made.likeliest if costs[r] >= MIN_ERROR_COST and r in deceptive]


def judged_first_look(stored: StoredPosition, made: ReplyForecast, costs: ReplyCosts) -> list[str]:
    judged = {reply: costs.of(reply) for reply in made.likeliest}
    best = {costs.best.reply} | {reply for reply, each in judged.items() if each.is_best}
    deceptive = deceptive_anywhere(stored, best)
    return [r for r, each in judged.items() if each.word is ReplyWord.ERROR and r in deceptive]


def second_rule(stored: StoredPosition, made: ReplyForecast, costs: ReplyCosts) -> list[str]:
    return [*with_costs(made, stored.found.candidate, stored.found.logistic_centi, costs).bait_replies]


RULES: dict[str, Rule] = {
    "1: own cost, looks better at any depth": first_rule(1000),
    "1, of the two likeliest": first_rule(LIKELIEST),
    "own cost, looks better after 2 + 3 plies, of the two likeliest": own_cost_second_look,
    "judge's cost, looks better at any depth, of the two likeliest": judged_first_look,
    "2: judge's cost, looks better after 2 + 3 plies, of the two likeliest": second_rule,
}


def text(each: Estimate | PersonShare, scale: float = 1.0, digits: int = 2) -> str:
    value = each.value if isinstance(each, Estimate) else (each.share or 0.0)
    if each.low is None or each.high is None or math.isnan(each.low):
        return f"{scale * value:.{digits}f} (-)"
    return f"{scale * value:.{digits}f} ({scale * each.low:.{digits}f} to {scale * each.high:.{digits}f})"


def report_rules(people: Population, maker: Forecaster, costs: Sequence[ReplyCosts | None]) -> None:
    persons = people.persons
    for name, rule in RULES.items():
        offers, sets, hits, expected = [], [], [], []
        for at, (stored, made, known) in enumerate(
            zip(people.positions, maker.forecasts, costs, strict=True)
        ):
            if made is None or known is None:
                continue
            own = own_costs(stored)
            baits = {
                r: made.probability_of(r) * (known.of(r).cost if "judge" in name else own[r])
                for r in rule(stored, made, known)
            }
            offers.append((at, bool(baits)))
            if baits:
                bait = max(baits, key=lambda r: baits[r])
                sets.append(at)
                hits.append(bait == stored.found.reply)
                expected.append(made.probability_of(bait))
        of = persons[np.array(sets, np.intp)]
        share = person_share(
            np.array([hit for _, hit in offers]), persons[np.array([at for at, _ in offers])]
        )
        print(
            f"  {name}: set by {text(share, 100, 1)} % of {len(offers)} moves;"
            f" played {text(person_share(np.array(hits, np.bool_), of), 100, 1)} % of {len(sets)};"
            f" predicted {100 * float(np.mean(expected)):.1f} %; predicted / played"
            f" {text(estimate_of(fixed_ratio(expected, np.array(hits, np.float64), of)))}"
        )


def report_costs(people: Population, costs: Sequence[ReplyCosts | None], nodes: int, most: int) -> None:
    some = [(each, known) for each, known in zip(people.positions, costs, strict=True) if known is not None]
    persons = people.persons[[at for at, known in enumerate(costs) if known is not None]]
    columns = len(some[0][0].found.replies[0].scores_centi)
    for column in range(columns):
        values = [
            costs_at(stored, min(column, len(stored.found.replies[0].scores_centi) - 1))[stored.found.reply]
            for stored, _ in some
        ]
        mean = mean_of(np.array(values) / WHOLE, persons)
        print(f"  by the scores after {column + 2} plies: {text(mean, 100)} % of {len(some)}")
    judge = np.array([known.of(stored.found.reply).cost / WHOLE for stored, known in some])
    print(f"  by the judge: {text(mean_of(judge, persons), 100)} %")
    game = people.game
    for name in STRATEGIES:
        chooser = MoveChooser(strategy_named(name), game, TrapParams(), native_searcher(game.name, 16))
        depths, own, judged = [], [], []
        for stored, known in some[:most]:
            position = game.parse_position(stored.found.position)
            deepest = len(stored.found.replies[0].scores_centi) + 1
            depth = chooser.choose(position, Limits(deepest, nodes=nodes), StopFlag()).depth
            depths.append(depth)
            own.append(costs_at(stored, max(0, min(depth, deepest) - 2))[stored.found.reply])
            judged.append(known.of(stored.found.reply).cost)
        print(
            f"  {name}, {nodes:,} nodes a move: {np.mean(depths):.2f} plies; the same {len(own)} replies cost"
            f" {np.mean(own) / 100:.2f} % by its depth, {np.mean(judged) / 100:.2f} % by the judge"
        )


async def read(arguments: argparse.Namespace) -> tuple[Population, Forecaster, list[ReplyCosts | None]]:
    database = await Database.open(arguments.database, upgrade=False)
    try:
        async with database.read() as session:
            way = (await count_analyses(session, arguments.game))[0]
            costs = await costs_of_analysis(session, way.id)
            known = await list_models(session, way.id)
            results: list[RatedResult] = []
            if arguments.elo:
                found = [rated_result(record) async for record in each_game(session, game=arguments.game)]
                results = [each for each in found if each is not None]
        portion = Portion(half=arguments.half, person_half=arguments.person_half)
        positions = await load(database, way.id, known[0][0], portion)
    finally:
        await database.close()
    if arguments.elo:
        positions = with_ratings(positions, standings(results))
    people = population(arguments.game, positions, known[0][1].name)
    path = card_path(arguments.game)
    prior = read_card(path) if path.exists() else None
    maker = forecasters(people, calibrated_of(None, arguments.game), known[0][1], prior)[0]
    is_decided = [abs(each.found.candidate.raw_centi) >= WIN_CENTI for each in people.positions]
    return (
        people,
        maker,
        [
            None if decided else costs.get(each.id)
            for each, decided in zip(people.positions, is_decided, strict=True)
        ],
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--game", default="chess")
    parser.add_argument("--database", required=True)
    parser.add_argument("--half", type=int)
    parser.add_argument("--person-half", type=int)
    parser.add_argument("--elo", action="store_true")
    parser.add_argument("--nodes", type=int, default=20_000, help="for each move of a strategy")
    parser.add_argument("--moves", type=int, default=1000, help="moves of each strategy")
    arguments = parser.parse_args()
    people, maker, costs = asyncio.run(read(arguments))
    judged = sum(each is not None for each in costs)
    print(f"{arguments.game}: {len(costs)} positions, {judged} judged; forecasts: {maker.name}")
    print("Baits, by rule (95 % by person):")
    report_rules(people, maker, costs)
    print("Mean cost of the same replies of people:")
    report_costs(people, costs, arguments.nodes, arguments.moves)


if __name__ == "__main__":
    main()
