"""Gordon & Reda 2006, Figure 9: people's replies to traps, with the base rates that the paper lacks.

The data come from two sources: recorded human games, in which each reply is judged as if the bot had made the
move before it; and games of trappy and standard minimax against models of people, from the same openings. The
bot's own games are not read here: they change from day to day, while a job's result must depend only on its
arguments and the seed, so that a resumed run gives the same numbers anywhere. They are also monitored
continuously, which requires another kind of interval. `desdemona stats --by strategy` reports those games;
its rows "Figure 9" hold the same counts, made by the same function (`engine.figure_9.classify_by_figure_9`).
A test checks that both counts agree.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bot.base.rounding import plural
from bot.match.conditions import Terms
from bot.match.player_specs import parse_spec
from engine.decision import OutcomeKind
from engine.strategies.standard import STANDARD
from engine.strategies.trappy import TRAPPY
from lab.analysis.measures import PersonShare
from lab.experiments.estimates_text import (
    MeanEstimate,
    above_zero,
    at_level,
    in_points,
    mean_of,
    share_percent,
)
from lab.experiments.experiment import FOLDER, Experiment, Job, Result, Size
from lab.experiments.experiment_report import Chart, ClaimVerdict, Line, PaperClaim, Report, Table
from lab.experiments.given_games import DEPTHS, NEEDED, jobs_of_sample
from lab.experiments.gordon_reda.trap_replies import (
    BAND_MIN_COSTS,
    TrapReplies,
    by_band,
    equal_cost,
    of_pairs,
    ratios_apart,
    recorded,
)
from lab.experiments.matches import paired_jobs
from storage.evidence.inference.student import t_quantile
from storage.evidence.intervals import share

_FELL = OutcomeKind.FELL_FOR_PAPER_TRAP
PAPER = {OutcomeKind.OPTIMAL: 34, _FELL: 61, OutcomeKind.ERRED_ELSEWHERE: 103}
PAPER_GAMES, PAPER_SET = 50, 198
PAPER_RESULTS = {STANDARD.name: (39, 2, 9), TRAPPY.name: (40, 1, 9)}
"""Each strategy's wins, draws and losses against people, as printed in the paper."""
PLAYERS = (STANDARD.name, TRAPPY.name)
PEOPLE = {"othello": ("temperature=1", "temperature=0.5"), "chess": ("maia-1100", "maia-1500", "maia-1900")}
"""The models of people: the Othello model is bundled; the chess models are in the given folder."""
GAMES = tuple(PEOPLE)
ALPHA = 0.05 / len(GAMES)
"""Significance level of each game's primary endpoint."""
_RECORDED = {"othello": 10_000, "chess": 5_000}
_BATCH = 250
_PLAY_DEPTHS = {Size.SMALL: {"othello": 3}, Size.FULL: {"othello": 6, "chess": 4}}
_PAIRS = {Size.SMALL: {"othello": 1}, Size.FULL: {"othello": 100, "chess": 50}}
_PAIRS_A_JOB = 5

Floats = NDArray[np.float64]


class TrapsAndPeople(Experiment):
    """Figure 9 from recorded games and from games against models of people."""

    name: ClassVar = "figure-9"
    title: ClassVar = "Trappy minimax versus people"
    source: ClassVar = "Gordon & Reda 2006, Figure 9"
    version: ClassVar = "1"
    needs: ClassVar = f"{NEEDED}; maia-1100.onnx, maia-1500.onnx and maia-1900.onnx in a subfolder named maia"

    def jobs(self, size: Size) -> Sequence[Job]:
        """See `Experiment.jobs`; the sources are interleaved, so that a partial run covers all of them."""
        found: list[tuple[float, Job]] = []
        if size is Size.FULL:
            for game, most in _RECORDED.items():
                its = jobs_of_sample("recorded", game, most, _BATCH)
                found += [(job.arguments["first"] / most, job) for job in its]
        for game, pairs in _PAIRS[size].items():
            for first in range(0, pairs, _PAIRS_A_JOB):
                for people in PEOPLE[game] if size is Size.FULL else PEOPLE[game][:1]:
                    for player in PLAYERS:
                        played = {
                            "game": game,
                            "player": player,
                            "people": people,
                            "depth": _PLAY_DEPTHS[size][game],
                            "first": first,
                            "pairs": min(_PAIRS_A_JOB, pairs - first),
                        }
                        found.append((first / pairs, Job(_name(game, player, people, first), played)))
        return [job for _, job in sorted(found, key=lambda each: each[0])]

    def run(self, arguments: Mapping[str, Any], seed: int) -> Result:
        """Judge some recorded replies (`trap_replies.recorded`), or play a few pairs of games.

        Returns:
            For games, see `trap_replies.of_pairs`.
        """
        if "player" not in arguments:
            return recorded(
                arguments["game"],
                arguments[FOLDER],
                seed,
                arguments["first"],
                arguments["count"],
                arguments["most"],
            )
        game, depth, people = arguments["game"], arguments["depth"], arguments["people"]
        if people.startswith("maia"):
            people = f"model={Path(arguments[FOLDER]) / 'maia' / people}.onnx"
        terms = Terms(
            game=game,
            a=parse_spec(f"{arguments['player']}:depth={depth}"),
            b=parse_spec(f"human:{people}"),
            depth=depth,
            openings=f"seed {seed}",
        )
        return of_pairs(terms, seed, arguments["first"], arguments["pairs"])

    def report(self, results: Mapping[str, Result], size: Size) -> Report:
        """See `Experiment.report`."""
        of_people = {
            game: TrapReplies.of_results(parts)
            for game in GAMES
            if (parts := [each for name, each in results.items() if name.startswith(f"recorded: {game} ")])
        }
        matches = {game: found for game in GAMES if (found := _both(game, results, size)) is not None}
        sources = {f"recorded {game}": found for game, found in of_people.items()}
        for game, match in matches.items():
            sources |= {f"{player} v models, {game}": match.replies[at] for at, player in enumerate(PLAYERS)}
        claims = [
            _ratings(),
            _wording(),
            *_recorded_claims(of_people),
            *_played_claims(matches),
            *_random_claims(sources),
        ]
        tables = [
            _papers_table(sources),
            _base_rates(sources),
            _equal_cost_table(sources),
            *(_bands_table(game, found) for game, found in of_people.items()),
            *([_played_table(matches)] if matches else []),
        ]
        return Report(tuple(claims), tuple(tables), _charts(of_people))


def _name(game: str, player: str, people: str, first: int) -> str:
    return f"{game}: {player} v {people}: pairs {first}"


# --- Games against models -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Match:
    """The games of both strategies against the same models from the same openings."""

    replies: tuple[TrapReplies, TrapReplies]
    """Replies to the standard player's moves, and to the trappy player's moves."""
    sums: Mapping[str, Floats]
    """Sums of each quantity by opening and player, shape (openings, 2)."""

    def each(self, above: str, below: str, player: int) -> float:
        """The ratio of two sums for one player."""
        return float(self.sums[above][:, player].sum() / max(1.0, self.sums[below][:, player].sum()))

    def apart(self, above: str, below: str, alpha: float = 0.05) -> MeanEstimate:
        """The trappy player's ratio minus the standard player's."""
        return ratios_apart(self.sums[above], self.sums[below], alpha)

    @property
    def score(self) -> MeanEstimate:
        """The trappy player's points per game minus the standard player's."""
        games = self.sums["games"]
        return mean_of((self.sums["points"] / games)[:, 1] - (self.sums["points"] / games)[:, 0])


def _both(game: str, results: Mapping[str, Result], size: Size) -> _Match | None:
    parts: tuple[list[Result], list[Result]] = ([], [])
    openings: list[int] = []
    for first in range(0, _PAIRS[size].get(game, 0), _PAIRS_A_JOB):
        for people in PEOPLE[game]:
            both = paired_jobs(results, {each: _name(game, each, people, first) for each in PLAYERS})
            for which, part in zip(parts, both.values(), strict=False):
                which.append(part)
            if both:
                openings += [first + at // 2 for at in range(len(both[STANDARD.name]["points"]))]
    if not openings:
        return None
    numbers = {opening: at for at, opening in enumerate(dict.fromkeys(openings))}
    of_games = np.array([numbers[opening] for opening in openings])
    sums: dict[str, list[Floats]] = {}
    replies = []
    for some in parts:
        groups = [each for part in some for each in part["groups"]]
        found = TrapReplies([each for part in some for each in part["replies"]], groups, len(openings))
        of_replies = np.array([numbers[groups[at]] for at in found.kept], np.int64)
        scores = np.array([each for part in some for each in part["points"]])
        for name, at, values in (
            ("games", of_games, np.ones(len(openings))),
            ("points", of_games, scores),
            ("replies", of_replies, found.is_answered),
            ("traps", of_replies, found.is_trap),
            ("falls", of_replies, found.is_kind(_FELL)),
            ("errors", of_replies, found.erred * found.is_answered),
            ("beyond", of_replies, (found.erred - found.random_erred) * found.is_answered),
        ):
            summed = np.bincount(at, np.asarray(values, np.float64), len(numbers))
            sums.setdefault(name, []).append(np.asarray(summed, np.float64))
        replies.append(found)
    return _Match((replies[0], replies[1]), {name: np.stack(each, axis=1) for name, each in sums.items()})


# --- The report -----------------------------------------------------------------------------------------


def _ratings() -> PaperClaim:
    """The paper's main claim about people, tested on the game results that it prints."""
    standard, trappy = (
        np.repeat([1.0, 0.5, 0.0], counts)
        for counts in (PAPER_RESULTS[STANDARD.name], PAPER_RESULTS[TRAPPY.name])
    )
    value = float(trappy.mean() - standard.mean())
    variance = float(trappy.var(ddof=1) / len(trappy) + standard.var(ddof=1) / len(standard))
    half = t_quantile(1 - 0.05 / 2, len(trappy) + len(standard) - 2) * variance**0.5
    found = MeanEstimate(value, value - half, value + half, len(trappy))
    return PaperClaim(
        "Against people on Yahoo, trappy minimax got a higher rating (1702) than standard minimax (1680)",
        above_zero(found),
        f"not repeated; by the paper's own counts {trappy.sum():g} and {standard.sum():g} points in "
        f"{len(trappy)} games: {in_points(found)} percentage points, if the opponents were equally strong",
    )


def _wording() -> PaperClaim:
    erred = PAPER_SET - PAPER[OutcomeKind.OPTIMAL]
    fell = PAPER[_FELL]
    return PaperClaim(
        "When people did not play the move that minimax predicted, they fell for the trap in 30 % of cases",
        ClaimVerdict.FAILS,
        f"by the paper's own counts {fell} of {erred}, {100 * fell / erred:.1f} %; only as a fraction of "
        f"all {PAPER_SET} traps is it {100 * fell / PAPER_SET:.1f} %",
    )


def _recorded_claims(of_people: Mapping[str, TrapReplies]) -> Iterator[PaperClaim]:
    for game, replies in of_people.items():
        found = equal_cost(replies, ALPHA)
        yield PaperClaim(
            f"Primary: people fall for traps ({game}): among replies of equal cost in the same position, "
            "they play a trap more often than by chance",
            above_zero(found.beyond),
            f"{in_points(found.beyond)} percentage points{at_level(found.beyond, ALPHA)}, "
            f"{plural(found.fell.of, 'error')} by {plural(found.fell.persons, 'person')}",
        )


def _played_claims(matches: Mapping[str, _Match]) -> Iterator[PaperClaim]:
    for game, match in matches.items():
        found = match.apart("falls", "replies", ALPHA)
        yield PaperClaim(
            f"Primary: setting traps makes opponents fall for traps ({game}, models of people): more falls "
            "than against standard minimax",
            above_zero(found),
            f"{in_points(found)} per 100 replies{at_level(found, ALPHA)}, "
            f"{plural(len(match.sums['games']), 'opening')}",
        )


def _random_claims(sources: Mapping[str, TrapReplies]) -> Iterator[PaperClaim]:
    for name, replies in sources.items():
        beyond = _beyond_random(replies)
        yield PaperClaim(
            f"People fall frequently ({name}): more often than a random mover would",
            above_zero(beyond),
            f"{share_percent(replies.share(replies.is_kind(_FELL), replies.is_trap))} % of traps, "
            f"{in_points(beyond)} percentage points beyond chance",
        )


def _beyond_random(replies: TrapReplies) -> MeanEstimate:
    falls = replies.is_kind(_FELL)
    return replies.mean(falls - replies.column(lambda each: each.random_fell), replies.is_trap)


def _papers_table(sources: Mapping[str, TrapReplies]) -> Table:
    columns = ["", "paper", *sources]
    rows = [
        ["Number of games", str(PAPER_GAMES), *(f"{each.games:,}" for each in sources.values())],
        ["Traps set", str(PAPER_SET), *(f"{int(each.is_trap.sum()):,}" for each in sources.values())],
    ]
    for words, kind in (
        ("Humans played optimally", OutcomeKind.OPTIMAL),
        ("Humans fell for traps", _FELL),
        ("Humans made non-optimal move but did not fall into trap", OutcomeKind.ERRED_ELSEWHERE),
    ):
        shares = [share(PAPER[kind], PAPER_SET)]
        rows.append(
            [
                words,
                *(f"{each.count:,} = {share_percent(each)} %" for each in shares),
                *(_counted(each.share(each.is_kind(kind), each.is_trap)) for each in sources.values()),
            ]
        )
    rows.append(
        [
            "(fell for the best trap)",
            "-",
            *(
                _counted(each.share(each.column(lambda one: one.fell_for_best) > 0, each.is_trap))
                for each in sources.values()
            ),
        ]
    )
    rows.append(["(no reply)", "-", *(f"{each.unanswered:,}" for each in sources.values())])
    return Table(
        "Figure 9, in the paper's form",
        tuple(columns),
        tuple(tuple(row) for row in rows),
        "As in the paper, a reply is a trap if trappiness times cost is at least 5 points of expected score. "
        "In recorded games, a sample of all players' moves was judged "
        f"(Othello at {DEPTHS['othello']} plies, chess at {DEPTHS['chess']}). Intervals are clustered by "
        "person, or for games against models by opening; the paper's interval treats replies as independent. "
        "Decided positions are excluded. "
        'For the bot\'s own games: `desdemona stats --by strategy`, rows "Figure 9".',
    )


def _base_rates(sources: Mapping[str, TrapReplies]) -> Table:
    rows = []
    for name, each in sources.items():
        optimal = each.is_kind(OutcomeKind.OPTIMAL)
        random = each.column(lambda one: one.random_optimal)
        rows.append(
            (
                name,
                f"{int(each.is_answered.sum()):,}",
                share_percent(each.share(each.is_trap, each.is_answered)),
                share_percent(each.share(each.is_kind(_FELL), each.is_trap)),
                _percent(each.column(lambda one: one.random_fell), each.is_trap),
                *(
                    text
                    for among in (each.is_trap, each.is_plain)
                    for text in (
                        share_percent(each.share(each.erred > 0, among)),
                        _percent(each.random_erred, among),
                    )
                ),
                share_percent(each.share(optimal, each.is_trap)),
                _percent(random, each.is_trap),
                share_percent(each.share(optimal, each.is_plain)),
                _percent(random, each.is_plain),
            )
        )
    return Table(
        "The base rates that the paper lacks",
        (
            "source",
            "replies",
            "moves that set a trap, %",
            "fell, % of traps",
            "at random",
            "errors after a trap, %",
            "at random",
            "after no trap, %",
            "at random",
            "optimal after a trap, %",
            "at random",
            "after no trap, %",
            "at random",
        ),
        tuple(rows),
        "At random: the rate of a player who chooses replies at random in the same positions. An error "
        "costs a tenth of expected score or more.",
    )


def _equal_cost_table(sources: Mapping[str, TrapReplies]) -> Table:
    rows = []
    for name, each in sources.items():
        found = equal_cost(each, 0.05)
        rows.append(
            (
                name,
                f"{found.fell.of:,}",
                share_percent(found.fell),
                f"{100 * found.random:.1f}" if found.fell.of else "-",
                in_points(found.beyond),
                f"{100 * found.costlier:+.2f}" if found.fell.of else "-",
            )
        )
    return Table(
        "Traps compared with equally bad replies in the same position",
        (
            "source",
            "errors",
            "fell, %",
            "by chance, %",
            "beyond chance, points",
            "extra cost of traps, points",
        ),
        tuple(rows),
        "Errors of five points or more in positions with both a trap and another reply in the same cost "
        "band (each band begins at 1.41 times the previous one). By chance: all replies in the band are "
        "equally likely.",
    )


def _bands_table(game: str, replies: TrapReplies) -> Table:
    rows = []
    for at, (trap, other) in enumerate(by_band(replies)):
        rows.append((f"{100 * BAND_MIN_COSTS[at]:.1f}", _of(trap), _of(other)))
    return Table(
        f"How often replies were played, by cost band, recorded {game}",
        ("cost from, points", "traps, %", "other replies, %"),
        tuple(rows),
        "Over all positions; positions with and without traps also differ in other ways.",
    )


def _played_table(matches: Mapping[str, _Match]) -> Table:
    rows = []
    for game, match in matches.items():
        for words, above, below in (
            ("score, %", "points", "games"),
            ("traps set, per 100 games", "traps", "games"),
            ("traps set, per 100 replies", "traps", "replies"),
            ("falls, per 100 games", "falls", "games"),
            ("falls, per 100 replies (primary)", "falls", "replies"),
            ("falls, per 100 traps", "falls", "traps"),
            ("errors, per 100 replies", "errors", "replies"),
            ("errors beyond chance, per 100 replies", "beyond", "replies"),
        ):
            both = [f"{100 * match.each(above, below, player):.1f}" for player in (0, 1)]
            apart = match.score if above == "points" else match.apart(above, below)
            rows.append((game, words, *both, in_points(apart)))
    return Table(
        "Trappy and standard minimax against the same models of people, in the same openings",
        ("game", "", *PLAYERS, "difference"),
        tuple(rows),
        "Each opening counts once, with all models and both colours (95 % each). Replies in decided "
        "positions are excluded.",
    )


def _counted(found: PersonShare) -> str:
    return "-" if found.share is None else f"{found.count:,} = {share_percent(found)} %"


def _of(found: PersonShare) -> str:
    return "-" if found.share is None else f"{share_percent(found)} of {found.of:,}"


def _percent(values: Floats, among: NDArray[np.bool_]) -> str:
    return f"{100 * float(values[among].mean()):.1f}" if among.any() else "-"


def _charts(of_people: Mapping[str, TrapReplies]) -> tuple[Chart, ...]:
    lines = []
    for game, replies in of_people.items():
        rates = by_band(replies)
        for which, words in enumerate(("traps", "other replies")):
            marks = [
                (100 * step, 100 * each.share, 100 * each.low, 100 * each.high)
                for step, each in zip(BAND_MIN_COSTS, (pair[which] for pair in rates), strict=True)
                if each.share is not None and each.low is not None and each.high is not None
            ]
            if marks:
                lines.append(Line(f"{words}, {game}", tuple(marks)))
    if not lines:
        return ()
    return (
        Chart(
            "equal-cost",
            "How often a reply was played, by its cost",
            "points of expected score",
            "% of such replies",
            tuple(lines),
        ),
    )
