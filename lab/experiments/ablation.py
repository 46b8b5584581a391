"""Ablation of the trap arithmetic, in recorded replies and in games with one part replaced.

In recorded games, each part is a covariate of the replies (`lab.experiments.ablation_replies`). In play, one
part of the paper's strategy is replaced at a time: the assessment of shallow scores, the quality of a trap,
the limit on the bonus, or the margin in the trappiness.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from bot.match.conditions import Terms
from bot.match.human_players import HumanPlayer
from bot.match.openings import Opening, read_openings
from bot.match.participants import OurPlayer
from bot.match.play import play_game
from bot.match.player_specs import HumanSpec, OurSpec, parse_spec
from engine.bait_rule import forecast, rank_probabilities, with_costs
from engine.decision import Candidate
from engine.expected import expected_score
from engine.game import continued_position
from engine.judge import JUDGE_VERSION, ReplyCost, ReplyCosts
from engine.params import TrapParams
from engine.protocols.settings import Allowance, ChosenMove
from engine.search.profiles import Profiler
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.trappy import bonus, is_swindle, reply_quality, reply_trappiness, standing, utility
from lab.experiments.ablation_replies import KNOWN, PARTS, PRIMARY, PartGains, gains, replies
from lab.experiments.estimates_text import (
    MeanEstimate,
    above_zero,
    in_points,
    mean_of,
    percent,
    tally,
    with_interval,
)
from lab.experiments.experiment import FOLDER, Experiment, Job, Result, Size
from lab.experiments.experiment_report import Chart, ClaimVerdict, Line, PaperClaim, Report, Table
from lab.experiments.given_games import NEEDED, jobs_of_sample
from lab.experiments.matches import discs, paired_jobs

GAMES = ("chess", "othello")
MIN_USEFUL_GAIN_NATS = 0.005
"""Minimum useful gain in nats per reply; a smaller gain may be measurable but does not matter."""
_REPLIES = {"chess": 3000, "othello": 9000}
_BATCH = 100
CONTROL, PAPER = "standard", "paper"
TEMPTATION, COST = "temptation for assessment", "expected cost for profit"
ARMS = {
    CONTROL: "standard",
    PAPER: "trappy",
    "assessment: best": "trappy:assessment=best",
    "assessment: last": "trappy:assessment=last",
    TEMPTATION: "trappy",
    COST: "trappy",
    "flat budget for scale": "trappy:scale=expected,risk_share_percent=100",
    "margin: a disc": "trappy:margin_centi=100",
}
"""Player specification of each arm; `TEMPTATION` and `COST` use the arithmetic in this module instead."""
PLAY_GAME = "othello"
PEOPLE = (1.5, 1.0, 0.5)
"""Temperatures of the human-move model, from careless to careful play."""
CORNERS = """\
w7/8/8/3wb3/3bw3/8/8/8 b | b7/8/8/3wb3/3bw3/8/8/8 b
w7/8/8/3wb3/3bw3/8/8/7w b | b7/8/8/3wb3/3bw3/8/8/7b b
w6w/8/8/3wb3/3bw3/8/8/7w b | b6b/8/8/3wb3/3bw3/8/8/7b b
"""
"""Start positions in which we give one to three corners; without a handicap, every arm would win every
game."""
_DEPTH = {Size.SMALL: 3, Size.FULL: 4}
_PAIRS = {Size.SMALL: 1, Size.FULL: 67}
_PAIRS_A_JOB = 10


class Ablation(Experiment):
    """Measures what each part contributes in recorded games and in play."""

    name: ClassVar = "ablation"
    title: ClassVar = "Which parts of the trap arithmetic help?"
    source: ClassVar = "Gordon & Reda 2006, Figures 2, 3 and 5; and this program's temptation rule"
    version: ClassVar = "2"
    needs: ClassVar = f"{NEEDED}; Maia networks in a subfolder named maia"

    def jobs(self, size: Size) -> Sequence[Job]:
        """See `Experiment.jobs`; the arms' games are interleaved, so that a partial run covers every arm."""
        recorded = [
            job
            for game, most in _REPLIES.items()
            if size is Size.FULL
            for job in jobs_of_sample("replies", game, most, _BATCH)
        ]
        played = [
            Job(
                _name(arm, heat, first),
                {
                    "arm": arm,
                    "heat": heat,
                    "first": first,
                    "pairs": min(_PAIRS_A_JOB, _PAIRS[size] - first),
                    "depth": _DEPTH[size],
                },
            )
            for first in range(0, _PAIRS[size], _PAIRS_A_JOB)
            for heat in (PEOPLE if size is Size.FULL else PEOPLE[:1])
            for arm in ARMS
        ]
        return [*recorded, *played]

    def run(self, arguments: Mapping[str, Any], seed: int) -> Result:
        """Return covariates of recorded replies or, as ``games``, our points and disc margin in each game."""
        if "arm" not in arguments:
            return replies(
                arguments["game"],
                arguments[FOLDER],
                seed,
                arguments["first"],
                arguments["count"],
                arguments["most"],
            )
        first = arguments["first"]
        numbers = range(2 * first, 2 * (first + arguments["pairs"]))
        return {
            "games": [
                played(arguments["arm"], arguments["heat"], arguments["depth"], seed, at) for at in numbers
            ]
        }

    def report(self, results: Mapping[str, Result], size: Size) -> Report:
        """See `Experiment.report`."""
        recorded = {
            game: found
            for game in GAMES
            if (parts := [each for name, each in results.items() if name.startswith(f"replies: {game} ")])
            and (found := gains(parts, 1, 0.05 / len(GAMES))) is not None
        }
        games = _games(results, size)
        claims = [*_recorded_claims(recorded), *_played_claims(games)]
        tables = [
            *(_recorded_table(game, found) for game, found in recorded.items()),
            *([_played_table(games)] if games else []),
        ]
        return Report(tuple(claims), tuple(tables), _charts(games))


# --- Games ----------------------------------------------------------------------------------------------


class AblatedPlayer(OurPlayer):
    """Plays the paper's strategy with one part replaced; computes the full table; records no decisions."""

    def __init__(self, spec: OurSpec, game_name: str, seed: str, arm: str, depth: int) -> None:
        super().__init__(spec, game_name, seed)
        self._arm, self._depth, self._params = arm, depth, spec.params
        self._table = make_searcher(game_name, spec.table_mb)

    def choose(self, moves: Sequence[str], allowance: Allowance, stop: StopFlag) -> ChosenMove:  # noqa: ARG002
        """See `OurPlayer.choose`."""
        position = continued_position(self._game, self._line.positions(moves)[-1])
        root = self._game.for_search(position)
        profiler = Profiler(self._game, self._table, position, self._params, stop)
        depth = min(self._depth, self._game.most_plies_left(root))
        scale_centi = self._game.expected_scale_centi(root)
        move = chosen(profiler.naive_candidates(max(2, depth)), self._params, self._arm, scale_centi)
        return ChosenMove(move, evaluation_centi=None, variation=(move,), depth=depth, time_s=0.0)


def chosen(table: Sequence[Candidate], params: TrapParams, arm: str, scale_centi: float) -> str:
    """The move with the highest adjusted value, with one part of the paper's arithmetic replaced.

    Args:
        table: Every move with its complete profile.
        arm: `TEMPTATION`: a trap's trappiness is 1 if the reply is a bait, else 0. `COST`: the profit is
            weighted by the reply's probability. Any other value: the paper's arithmetic.
        scale_centi: The parameter s of the logistic function that converts scores to expected scores.
    """
    swindle = is_swindle(table, params)
    if swindle:
        return max(table, key=lambda each: standing(each, params, swindle)).move

    def adjusted(each: Candidate) -> tuple[float, int]:
        best = max(_qualities(each, params, arm, scale_centi), default=0.0)
        return utility(each.raw_centi, params) + bonus(best, each.raw_centi, params), each.raw_centi

    return max(table, key=adjusted).move


def _qualities(candidate: Candidate, params: TrapParams, arm: str, scale_centi: float) -> Iterator[float]:
    known = [reply for reply in candidate.replies if reply.scores_centi]
    probabilities = (
        rank_probabilities([reply.scores_centi for reply in known], scale_centi) if arm == COST else ()
    )
    baits = _baits(candidate, scale_centi) if arm == TEMPTATION else ()
    for at, reply in enumerate(known):
        scores = reply.scores_centi
        profit = max(0, utility(scores[-1], params) - utility(candidate.raw_centi, params))
        if arm == TEMPTATION:
            yield float(profit) if reply.reply in baits else 0.0
        elif arm == COST:
            yield profit * probabilities[at] * reply_trappiness(scores, params)
        else:
            yield reply_quality(scores, candidate.raw_centi, params)


def _baits(candidate: Candidate, scale_centi: float) -> Sequence[str]:
    """A move's baits, with costs by its own scores, because the judge would take minutes for each game."""
    made = forecast(candidate, scale_centi)
    scores = {each.reply: -each.final_centi for each in candidate.replies}
    whole = expected_score(max(scores.values()), scale_centi)

    def own_cost(reply: str) -> ReplyCost:
        cost = whole - expected_score(scores[reply], scale_centi)
        depth = len(candidate.replies[0].scores_centi)
        return ReplyCost(reply, scores[reply], cost, depth, is_solved=False)

    likeliest = tuple(own_cost(reply) for reply in made.likeliest)
    costs = ReplyCosts(JUDGE_VERSION, own_cost(max(scores, key=scores.__getitem__)), likeliest)
    return with_costs(made, candidate, scale_centi, costs).bait_replies


def played(arm: str, heat: float, depth: int, seed: int, at: int) -> list[float]:
    """Play one game; return our points and our margin in discs."""
    text = ARMS[arm]
    ours = parse_spec(f"{text}{',' if ':' in text else ':'}depth={depth}")
    people = parse_spec(f"human:temperature={heat:g}")
    assert isinstance(ours, OurSpec)  # noqa: S101 - as `ARMS` has it
    assert isinstance(people, HumanSpec)  # noqa: S101
    terms = Terms(game=PLAY_GAME, a=ours, b=people, depth=depth, openings=f"seed {seed}")
    keys = [f"{seed} {heat} {at} {which}" for which in (0, 1)]
    player = (
        AblatedPlayer(ours, PLAY_GAME, keys[0], arm, depth)
        if arm in (TEMPTATION, COST)
        else OurPlayer(ours, PLAY_GAME, keys[0])
    )
    both = (player, HumanPlayer(people, PLAY_GAME, keys[1]))
    game = play_game(terms, at, opening(at), both, keeps_decisions=False)
    return [game.finished.points, game.finished.margin or 0]


def opening(at: int) -> Opening:
    """The opening of the game with this number."""
    known = read_openings(CORNERS.encode(), PLAY_GAME, "corners")
    return known[at // 2 % len(known)].of_game(at)


def _name(arm: str, heat: float, first: int) -> str:
    return f"{arm} v people at {heat:g}: pairs {first}"


# --- The report -----------------------------------------------------------------------------------------


def _games(results: Mapping[str, Result], size: Size) -> dict[str, np.ndarray[Any, Any]]:
    """Results of the pairs that all arms have played, as arrays (pair, game, points or margin)."""
    found: dict[str, list[Any]] = {arm: [] for arm in ARMS}
    for heat in PEOPLE:
        for first in range(0, _PAIRS[size], _PAIRS_A_JOB):
            for arm, part in paired_jobs(results, {arm: _name(arm, heat, first) for arm in ARMS}).items():
                found[arm] += part["games"]
    if not found[PAPER]:
        return {}
    return {arm: np.array(games, float).reshape(-1, 2, 2) for arm, games in found.items()}


def _less(
    games: Mapping[str, np.ndarray[Any, Any]], one: str, other: str, what: int, comparisons: int
) -> MeanEstimate:
    """Difference of two arms' points (``what`` = 0) or discs (``what`` = 1) per game, paired by opening."""
    return mean_of((games[one] - games[other])[..., what].mean(axis=1), comparisons)


def _recorded_claims(recorded: Mapping[str, PartGains]) -> Iterator[PaperClaim]:
    for game, found in recorded.items():
        gain = found.of[PRIMARY]
        verdict, words = usefulness_verdict(gain)
        yield PaperClaim(
            f"Primary: trappiness predicts which reply people play ({game}) by {MIN_USEFUL_GAIN_NATS:g} nats "
            f"or more beyond {', '.join(KNOWN)}",
            verdict,
            f"{with_interval(gain, 1, 4, '+')} nats per reply (97.5 %): {words}; {found.positions:,} "
            f"replies by {found.persons:,} persons",
        )


def usefulness_verdict(gain: MeanEstimate) -> tuple[ClaimVerdict, str]:
    """Judge from a gain's interval whether the gain reaches `MIN_USEFUL_GAIN_NATS`; return the verdict, and
    its wording for the report.
    """
    if gain.low >= MIN_USEFUL_GAIN_NATS:
        return ClaimVerdict.HOLDS, "worth having"
    is_measurable = gain.low > 0
    if gain.high < MIN_USEFUL_GAIN_NATS:
        return (
            ClaimVerdict.FAILS,
            "measurable, but not worth having" if is_measurable else "not measurable, and not worth having",
        )
    return (
        ClaimVerdict.INCONCLUSIVE,
        f"{'' if is_measurable else 'not '}measurable; unclear whether it is worth having",
    )


def _played_claims(games: Mapping[str, np.ndarray[Any, Any]]) -> Iterator[PaperClaim]:
    if not games:
        return
    whole = _less(games, PAPER, CONTROL, 0, 1)
    yield PaperClaim(
        "Primary: the paper's player scores more against people than minimax does",
        above_zero(whole),
        f"{in_points(whole)} percentage points, {2 * whole.n} games each",
    )
    others = [arm for arm in ARMS if arm not in (CONTROL, PAPER)]
    for arm in others:
        less = _less(games, PAPER, arm, 0, len(others))
        yield PaperClaim(
            f"The part helps: the paper's player scores more than with {arm}",
            above_zero(less),
            f"{in_points(less)} percentage points (95 % jointly for all {len(others)})",
        )


def _recorded_table(game: str, found: PartGains) -> Table:
    return Table(
        f"Recorded replies, {game}: gain from each part, added one at a time",
        ("part", "gain, nats per reply"),
        tuple((name, with_interval(found.of[name], 1, 4, "+")) for name in PARTS),
        f"{found.positions:,} replies by {found.persons:,} persons; {found.nats:.4f} nats per reply without "
        "any part. Each logit is evaluated on persons that it was not fitted on. Only the first row is an "
        "endpoint (97.5 %); the others are exploratory (95 %).",
    )


def _played_table(games: Mapping[str, np.ndarray[Any, Any]]) -> Table:
    rows = []
    for arm, found in games.items():
        cells = [
            tally(found[..., 0]),
            percent(mean_of(found[..., 0].mean(axis=1))),
            discs(mean_of(found[..., 1].mean(axis=1))),
        ]
        for other in (CONTROL, PAPER):
            for what, words in ((0, in_points), (1, discs)):
                cells.append("" if arm == other else words(_less(games, arm, other, what, 1)))
        rows.append((arm, *cells))
    return Table(
        "In play: Othello with a handicap of one to three corners",
        (
            "player", "games", "score, %", "discs", "minus standard, points", "discs", "minus paper, points",
            "discs",
        ),
        tuple(rows),
        "All players face the same models of people in the same openings; differences are paired (95 % "
        "each).",
    )  # fmt: skip


def _charts(games: Mapping[str, np.ndarray[Any, Any]]) -> tuple[Chart, ...]:
    if not games:
        return ()
    marks = []
    for at, arm in enumerate(ARMS):
        each = mean_of(games[arm][..., 0].mean(axis=1))
        marks.append((float(at), each.value, each.low, each.high))
    names = ", ".join(f"{at} {arm}" for at, arm in enumerate(ARMS))
    return (
        Chart("score", "Score against people, by player", names, "score", (Line("score", tuple(marks)),)),
    )
