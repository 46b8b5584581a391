"""The statistics of groups of games, from sums over their replies (`storage.statistics.reply_sums`).

Everything that `GroupStatistics` says of replies follows from sums by group and person.  With n_c values of
person c that add up to S_c, mean M = sum S_c / n, and Q the sum of the squares of all values:

    sum d^2                 Q - n M^2                     d = v - M, over all values
    sum_c (sum d)^2         sum_c (S_c - n_c M)^2         over persons

and an interval by person needs no more (`storage.inference.any_time`).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from storage.inference.any_time import AnyTimeEstimate, Opt, SequenceDesign, estimate_of_sums
from storage.inference.defaults import CAP_GAMES
from storage.inference.persons import Codes, codes_of
from storage.intervals import OpponentGames, Performance, performances
from storage.records import GameStatus
from storage.statistics.facts import GameFact, ReplyFact
from storage.statistics.groups import (
    OF_GAME,
    OF_REPLY,
    By,
    Expected,
    GroupStatistics,
    complete_keys,
    phase_name,
)
from storage.statistics.reply_sums import (
    AT,
    BAITS,
    COLUMNS,
    COST,
    COUNTS,
    ERRORS,
    FALLS,
    MEASURES,
    Floats,
    Measure,
    reply_sums,
)

_OPT = {ERRORS: Opt.REPLIES, COST: Opt.REPLIES, BAITS: Opt.TRAPS, FALLS: Opt.TRAPS}
_NOISE = 1e-13
"""Of a sum of squares, what subtracting the mean leaves by rounding alone, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameTable:
    """Games, by column; each has n of them in the same order."""

    keys: Mapping[By, Sequence[str]]
    """What they are grouped by, as far as it is asked for."""
    persons: NDArray[Any]
    """Key of the opponent's account."""
    ratings: Floats
    """The opponents'; NaN: unknown."""
    scores: Floats
    """Ours: 1, 1/2 or 0; NaN: no result."""
    is_open: NDArray[np.bool_]
    is_first: NDArray[np.bool_]
    """Among the first `CAP_GAMES` games of the person, whose replies count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellTable:
    """Cells of these games (`storage.statistics.reply_sums`): by phase if groups are."""

    rows: Floats
    """Shape (cells, columns); the column `model` is not used."""
    games: Codes
    """Number of each cell's game in the table of games."""
    models: Codes
    """Number of each cell's model in `model_names`."""
    model_names: Sequence[str]


def group_statistics(
    games: Sequence[GameFact], replies: Sequence[ReplyFact], by: Sequence[By] = (By.PLAYER,)
) -> list[GroupStatistics]:
    """The statistics of each group, in the order of the groups' names.

    Args:
        games: All games.
        replies: Replies in these games; those of other games are ignored.
        by: What to group by; the game is added, and the site for rating bands.
    """
    keys = complete_keys(by)
    table = GameTable(
        keys={key: [OF_GAME[key](game) for game in games] for key in keys if key in OF_GAME},
        persons=np.array([game.person for game in games], np.int64),
        ratings=np.array([game.opponent_rating for game in games], np.float64),
        scores=np.array([game.score for game in games], np.float64),
        is_open=np.array([game.state is GameStatus.OPEN for game in games], bool),
        is_first=np.array([game.games_before < CAP_GAMES for game in games], bool),
    )
    by_game: dict[int, list[ReplyFact]] = defaultdict(list)
    for reply in replies:
        by_game[reply.game_id].append(reply)
    sums = [reply_sums(by_game[game.id]) for game in games]
    rows = [each.phase_rows if By.PHASE in keys else each.rows for each in sums]
    cells = cell_table(
        np.concatenate([np.zeros((0, len(COLUMNS))), *rows]),
        np.repeat(np.arange(len(rows)), [len(each) for each in rows]),
        [each.models for each in sums],
        np.arange(len(sums)),
    )
    return grouped_sums(table, cells, by)


def cell_table(
    rows: Floats, games: Codes, models: Sequence[Sequence[str]], models_of_game: Codes
) -> CellTable:
    """The cells of all games.

    Args:
        rows: Of all games.
        games: Number of each row's game.
        models: Lists of models.
        models_of_game: Number of the list to which the column `model` of each game's rows refers.

    Raises:
        IndexError: It refers to a model that is not in the list.
    """
    names = {
        name: number for number, name in enumerate(dict.fromkeys(name for some in models for name in some))
    }
    most = max(map(len, models), default=0)
    numbers = np.full((len(models), most + 1), len(names), np.intp)
    for at, some in enumerate(models):
        numbers[at, : len(some)] = [names[name] for name in some]
    found = numbers[models_of_game[games], rows[:, AT["model"]].astype(np.intp)]
    if (found == len(names)).any():
        raise IndexError("a row is of a model that is not named")
    return CellTable(rows=rows, games=games, models=found, model_names=tuple(names))


def grouped_sums(
    games: GameTable, cells: CellTable, by: Sequence[By], *, only_with_cells: bool = False
) -> list[GroupStatistics]:
    """The statistics of each group, in the order of the groups' names.

    Args:
        games: All of them.
        cells: All of them.
        by: As for `group_statistics`.
        only_with_cells: Games without a cell do not count, as where cells are grouped.
    """
    keys = complete_keys(by)
    groups = _Groups(keys, games, cells, only_with_cells=only_with_cells or bool(OF_REPLY & set(keys)))
    sums = _Sums(groups, games, cells)
    met = _performances(groups, games)
    members = groups.members

    def count(which: NDArray[np.bool_]) -> Codes:
        return np.bincount(groups.of_member[which[members]], minlength=len(groups.names))

    of_groups = {
        "games": np.bincount(groups.of_member, minlength=len(groups.names)),
        "wins": count(games.scores == 1),
        "draws": count(games.scores == 0.5),
        "losses": count(games.scores == 0),
        "unfinished": count(games.is_open),
        "persons": _distinct(groups.of_member, games.persons[members], len(groups.names)),
    }
    return [
        GroupStatistics(
            group=dict(zip((key.value for key in keys), name, strict=True)),
            **{field: int(values[number]) for field, values in of_groups.items()},
            performance=met[number],
            models=sums.models[number],
            **{field: int(sums.total(field)[number]) for field in COUNTS if field not in _TOLD},
            errors=sums.expected(ERRORS, number),
            cost=sums.expected(COST, number),
            baits=sums.expected(BAITS, number),
            falls=sums.expected(FALLS, number),
        )
        for number, name in enumerate(groups.names)
    ]


_TOLD = ("errors", "baits_taken")
"""Counts that `Expected` tells."""


class _Groups:
    """Which games and cells belong to which group.

    Args:
        keys: What to group by, complete.
        games: All of them.
        cells: All of them.
        only_with_cells: A game belongs to each group that has one of its cells; else to that of its own keys.
    """

    def __init__(
        self, keys: Sequence[By], games: GameTable, cells: CellTable, *, only_with_cells: bool
    ) -> None:
        texts = list(zip(*(games.keys[key] for key in keys if key in OF_GAME), strict=True))
        of_game = codes_of(texts)
        known = list(dict.fromkeys(texts))
        if only_with_cells:
            phases = cells.rows[:, AT["phase"]].astype(np.intp)
            parts = [(of_game[cells.games], None), (phases, By.PHASE), (cells.models, By.MODEL)]
            used = [values for values, key in parts if key is None or key in keys]
            _, first, of_cell = np.unique(_combined(used), return_index=True, return_inverse=True)
            named = zip(*(values[first].tolist() for values in used), strict=True)
            names = [_name(keys, known[each[0]], each[1:], cells.model_names) for each in named]
            _, first = np.unique(_combined([of_cell, cells.games]), return_index=True)
            of_member, members = of_cell[first], cells.games[first]
        else:
            members, of_member, of_cell, names = np.arange(len(texts)), of_game, of_game[cells.games], known
        order = sorted(range(len(names)), key=names.__getitem__)
        rank = np.empty(len(names), np.intp)
        rank[order] = np.arange(len(names))
        self.names: list[tuple[str, ...]] = [names[number] for number in order]
        self.members: Codes = members
        """Numbers of the games, each as often as it has groups."""
        self.of_member: Codes = rank[of_member]
        """The group of each of these."""
        self.of_cell: Codes = rank[of_cell]


def _name(
    keys: Sequence[By], of_game: Sequence[str], of_reply: Sequence[int], models: Sequence[str]
) -> tuple[str, ...]:
    """A group's name: the parts that games have, and those that replies have, in the order of the keys."""
    numbers = iter(of_reply)
    told = {}
    if By.PHASE in keys:
        told[By.PHASE] = phase_name(next(numbers))
    if By.MODEL in keys:
        told[By.MODEL] = models[next(numbers)]
    games = iter(of_game)
    return tuple(told[key] if key in told else next(games) for key in keys)


class _Sums:
    """Sums of the cells that count, by group, and by group and person."""

    def __init__(self, groups: _Groups, games: GameTable, cells: CellTable) -> None:
        size = len(groups.names)
        counted = np.flatnonzero(games.is_first[cells.games])
        of_cell, models = groups.of_cell[counted], cells.models[counted]
        pairs = _combined([of_cell, codes_of(games.persons)[cells.games[counted]]])
        order = np.argsort(pairs, kind="stable")  # sums then depend on nothing but the games
        starts = np.flatnonzero(np.diff(pairs[order], prepend=-1))
        rows = cells.rows.take(counted[order], axis=0)
        self._by_person = np.add.reduceat(rows, starts, axis=0) if len(rows) else rows
        self._of_pair = of_cell[order][starts]
        self._size = size
        self._totals = {name: self._grouped(self._by_person[:, AT[name]]) for name in (*COUNTS, *_SUMMED)}
        has_model = np.zeros((size, len(cells.model_names)), bool)
        told = cells.rows[counted, AT["replies"]] > 0
        has_model[of_cell[told], models[told]] = True
        self.models = [
            tuple(sorted(cells.model_names[number] for number in np.flatnonzero(has).tolist()))
            for has in has_model
        ]
        """The models of each group."""
        self._estimates = {
            (measure, other, squares): self._beyond(measure, other, squares)
            for measure in MEASURES
            for other, squares in (
                (measure.chance, measure.chance_squares),
                (measure.model, measure.model_squares),
            )
        }

    def total(self, name: str) -> Floats:
        """A column's sum in each group."""
        return self._totals[name]

    def expected(self, measure: Measure, group: int) -> Expected:
        """What happened in a group, beside what was expected."""
        n = int(self._totals[measure.seen_in][group])

        def mean(name: str) -> float | None:
            return float(self._totals[name][group]) / n if n else None

        return Expected(
            n,
            mean(measure.happened),
            mean(measure.chance),
            mean(measure.model),
            self._estimates[measure, measure.chance, measure.chance_squares][group],
            self._estimates[measure, measure.model, measure.model_squares][group],
        )

    def _beyond(self, measure: Measure, other: str, squares: str) -> list[AnyTimeEstimate]:
        """For each group the estimate of what happened less something else."""
        counts = self._by_person[:, AT[measure.seen_in]]
        sums = self._by_person[:, AT[measure.happened]] - self._by_person[:, AT[other]]
        n = self._totals[measure.seen_in]
        mean = self._grouped(sums) / np.maximum(n, 1)
        whole = self._totals[squares]
        spread = _cleaned(whole - n * mean**2, whole)
        by_person = _cleaned(
            self._grouped((sums - counts * mean[self._of_pair]) ** 2), self._grouped(sums**2)
        )
        persons = self._grouped((counts > 0).astype(np.float64))
        squared = self._grouped(counts**2)
        effective = np.divide(n * n, squared, out=np.zeros(self._size), where=squared > 0)
        design = SequenceDesign(_OPT[measure])
        numbers = (n, persons, effective, mean, np.maximum(spread, by_person))
        return [
            estimate_of_sums(int(values), int(people), worth, middle, widest, design)
            for values, people, worth, middle, widest in zip(
                *(each.tolist() for each in numbers), strict=True
            )
        ]

    def _grouped(self, values: Floats) -> Floats:
        return np.bincount(self._of_pair, values, minlength=self._size).astype(np.float64)


def _cleaned(spread: Floats, whole: Floats) -> Floats:
    """Sums of squares around means, 0 where there is nothing but the rounding of the sums around 0."""
    return np.where(spread < _NOISE * whole, 0.0, spread)


_SUMMED = ("cost", *(name for measure in MEASURES for name in measure[2:]))


def _performances(groups: _Groups, games: GameTable) -> list[Performance]:
    ratings, scores = games.ratings[groups.members], games.scores[groups.members]
    known = np.flatnonzero(np.isfinite(ratings) & np.isfinite(scores))
    least = int(ratings[known].min(initial=0))
    above = (ratings[known] - least).astype(np.intp)
    code = _combined([groups.of_member[known], above])
    _, first, number = np.unique(code, return_index=True, return_inverse=True)
    count = np.bincount(number, minlength=len(first)).tolist()
    points = np.bincount(number, scores[known], minlength=len(first)).tolist()
    met: list[list[OpponentGames]] = [[] for _ in groups.names]
    whose, rated = groups.of_member[known][first].tolist(), (above[first] + least).tolist()
    for group, rating, games_met, scored in zip(whose, rated, count, points, strict=True):
        met[group].append(OpponentGames(rating, games_met, scored))
    return performances(met)


def _distinct(groups: Codes, values: NDArray[Any], size: int) -> Codes:
    """For each group the number of different values."""
    _, first = np.unique(_combined([groups, codes_of(values)]), return_index=True)
    return np.bincount(groups[first], minlength=size)


def _combined(parts: Sequence[Codes]) -> Codes:
    """One number for each combination of numbers >= 0, in their order.

    Those of games, phases, models and persons together stay far below 2^63.
    """
    found = np.zeros(len(parts[0]), np.intp)
    for part in parts:
        found = found * (int(part.max(initial=0)) + 1) + part
    return found
