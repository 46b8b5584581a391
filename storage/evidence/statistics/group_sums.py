"""The statistics of groups of games, from sums over their replies (`storage.evidence.statistics.reply_sums`).

Everything that `GroupStatistics` says of replies follows from sums by group and person.  With n_c values of
person c that add up to S_c, mean M = sum S_c / n, and Q the sum of the squares of all values:

    sum d^2                 Q - n M^2                     d = v - M, over all values
    sum_c (sum d)^2         sum_c (S_c - n_c M)^2         over persons

and an interval by person needs no more (`storage.evidence.inference.any_time`).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from storage.evidence.inference.any_time import AnyTimeEstimate, PlannedN, SequenceDesign, estimates_of_sums
from storage.evidence.inference.defaults import CAP_GAMES
from storage.evidence.inference.persons import Codes, codes_of, first_and_codes
from storage.evidence.intervals import Performance, performances
from storage.evidence.statistics.facts import GameFact, ReplyFact
from storage.evidence.statistics.groups import (
    OF_GAME,
    OF_REPLY,
    By,
    Expected,
    GroupStatistics,
    complete_keys,
    phase_name,
)
from storage.evidence.statistics.reply_sums import (
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
from storage.records import GameStatus

_PLANNED_N = {ERRORS: PlannedN.REPLIES, COST: PlannedN.REPLIES, BAITS: PlannedN.TRAPS, FALLS: PlannedN.TRAPS}
_NOISE = 1e-13
"""Of a sum of squares, what subtracting the mean leaves by rounding alone, at most."""


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """What a key of games says of each."""

    codes: Codes
    """Numbers of texts."""
    texts: Sequence[str]
    """Different ones."""

    @classmethod
    def of(cls, codes: Codes, texts: Sequence[str]) -> "KeyColumn":
        """The column with these numbers of texts, of which some may be equal."""
        return cls(codes_of(texts)[codes] if len(texts) else codes, tuple(dict.fromkeys(texts)))


@dataclass(frozen=True, slots=True, kw_only=True)
class GameTable:
    """Games, by column; each has n of them in the same order."""

    keys: Mapping[By, KeyColumn]
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
    """Cells of these games (`storage.evidence.statistics.reply_sums`): by phase if groups are."""

    rows: Floats
    """Shape (cells, columns); the columns `phase` and `model` are not used."""
    games: Codes
    """Number of each cell's game in the table of games."""
    phases: Codes
    """Number of each cell's phase, 0 for the first."""
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
        keys={
            key: KeyColumn.of(np.arange(len(games)), [OF_GAME[key](game) for game in games])
            for key in keys
            if key in OF_GAME
        },
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
    names, found = numbered_models(rows[:, AT["model"]].astype(np.intp), models_of_game[games], models)
    phases = rows[:, AT["phase"]].astype(np.intp)
    return CellTable(rows=rows, games=games, phases=phases, models=found, model_names=names)


def numbered_models(
    numbers: Codes, lists: Codes, models: Sequence[Sequence[str]]
) -> tuple[tuple[str, ...], Codes]:
    """The names of all models, and for each row the number of its model among them.

    Args:
        numbers: Of each row's model in its list, shape (rows,).
        lists: Number of that list, shape (rows,).
        models: The lists.

    Raises:
        IndexError: A row's model is not in its list.
    """
    known = {
        name: number for number, name in enumerate(dict.fromkeys(name for some in models for name in some))
    }
    most = max(map(len, models), default=0)
    table = np.full((len(models), most + 1), len(known), np.intp)
    for at, some in enumerate(models):
        table[at, : len(some)] = [known[name] for name in some]
    found = table[lists, numbers]
    if (found == len(known)).any():
        raise IndexError("a row is of a model that is not named")
    return tuple(known), found


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
    groups = GroupIndex(keys, games, cells, only_with_cells=only_with_cells or bool(OF_REPLY & set(keys)))
    sums = _Sums(groups, games, cells)
    met = _performances(groups, games)
    members = groups.members

    def count(which: NDArray[np.bool_]) -> Codes:
        return np.bincount(groups.of_member[which[members]], minlength=len(groups.names))

    columns = {
        "games": np.bincount(groups.of_member, minlength=len(groups.names)),
        "wins": count(games.scores == 1),
        "draws": count(games.scores == 0.5),
        "losses": count(games.scores == 0),
        "unfinished": count(games.is_open),
        "persons": _distinct(groups.of_member, games.persons[members], len(groups.names)),
        **{field: sums.total(field).astype(np.int64) for field in COUNTS if field not in _TOLD},
    }
    fields = [key.value for key in keys]
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    return [
        GroupStatistics(
            group=dict(zip(fields, name, strict=True)),
            performance=performance,
            models=models,
            errors=errors,
            cost=cost,
            baits=baits,
            falls=falls,
            **dict(zip(columns, row, strict=True)),
        )
        for name, performance, models, errors, cost, baits, falls, row in zip(
            groups.names,
            met,
            sums.models,
            *(sums.expected(measure) for measure in MEASURES),
            rows,
            strict=True,
        )
    ]


_TOLD = ("errors", "baits_taken")
"""Counts that `Expected` tells."""


class GroupIndex:
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
        columns = [games.keys[key] for key in keys if key in OF_GAME]
        first, of_game = first_and_codes(_combined([column.codes for column in columns]))
        numbers = ([column.texts[number] for number in column.codes[first].tolist()] for column in columns)
        known = [*zip(*numbers, strict=True)]
        if only_with_cells:
            parts = [(of_game[cells.games], None), (cells.phases, By.PHASE), (cells.models, By.MODEL)]
            used = [values for values, key in parts if key is None or key in keys]
            first, of_cell = first_and_codes(_combined(used))
            named = zip(*(values[first].tolist() for values in used), strict=True)
            names = [_name(keys, known[each[0]], each[1:], cells.model_names) for each in named]
            first, _ = first_and_codes(_combined([of_cell, cells.games]))
            of_member, members = of_cell[first], cells.games[first]
        else:
            members, of_member, of_cell, names = np.arange(len(of_game)), of_game, of_game[cells.games], known
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

    def __init__(self, groups: GroupIndex, games: GameTable, cells: CellTable) -> None:
        size = len(groups.names)
        counted = np.flatnonzero(games.is_first[cells.games])
        of_cell, models = groups.of_cell[counted], cells.models[counted]
        pairs = _combined([of_cell, codes_of(games.persons)[cells.games[counted]]])
        first, number = first_and_codes(pairs)
        # Column by column, which takes half the time of adding up sorted rows.
        self._by_person: dict[str, Floats] = {
            name: np.bincount(number, cells.rows[counted, AT[name]], len(first)).astype(np.float64)
            for name in (*COUNTS, *_SUMMED)
        }
        self._of_pair = of_cell[first]
        self._size = size
        self._totals = {name: self._grouped(values) for name, values in self._by_person.items()}
        has_model = np.zeros((size, len(cells.model_names)), bool)
        told = cells.rows[counted, AT["replies"]] > 0
        has_model[of_cell[told], models[told]] = True
        kinds, kind = np.unique(has_model, axis=0, return_inverse=True)
        lists = [tuple(sorted(compress(cells.model_names, has))) for has in kinds.tolist()]
        self.models = [lists[number] for number in kind.ravel().tolist()]
        """The models of each group."""

    def total(self, name: str) -> Floats:
        """A column's sum in each group."""
        return self._totals[name]

    def expected(self, measure: Measure) -> list[Expected]:
        """What happened in each group, beside what was expected."""
        n = self._totals[measure.seen_in]

        def means(name: str) -> list[float]:
            found: list[float] = (self._totals[name] / np.maximum(n, 1)).tolist()
            return found

        return [
            Expected(
                n=int(count),
                happened=None if not count else seen,
                chance=None if not count else by_chance,
                model=None if not count else by_model,
                beyond_chance=beyond_chance,
                beyond_model=beyond_model,
            )
            for count, seen, by_chance, by_model, beyond_chance, beyond_model in zip(
                n.tolist(),
                means(measure.happened),
                means(measure.chance),
                means(measure.model),
                self._beyond(measure, measure.chance, measure.chance_squares),
                self._beyond(measure, measure.model, measure.model_squares),
                strict=True,
            )
        ]

    def _beyond(self, measure: Measure, other: str, squares: str) -> list[AnyTimeEstimate]:
        """For each group the estimate of what happened less something else."""
        counts = self._by_person[measure.seen_in]
        sums = self._by_person[measure.happened] - self._by_person[other]
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
        design = SequenceDesign(_PLANNED_N[measure])
        return estimates_of_sums(n, persons, effective, mean, np.maximum(spread, by_person), design)

    def _grouped(self, values: Floats) -> Floats:
        return np.bincount(self._of_pair, values, minlength=self._size).astype(np.float64)


def _cleaned(spread: Floats, whole: Floats) -> Floats:
    """Sums of squares around means, 0 where there is nothing but the rounding of the sums around 0."""
    return np.where(spread < _NOISE * whole, 0.0, spread)


_SUMMED = ("cost", *(name for measure in MEASURES for name in measure[2:]))


def _performances(groups: GroupIndex, games: GameTable) -> list[Performance]:
    ratings, scores = games.ratings[groups.members], games.scores[groups.members]
    known = np.flatnonzero(np.isfinite(ratings) & np.isfinite(scores))
    least = int(ratings[known].min(initial=0))
    above = (ratings[known] - least).astype(np.intp)
    code = _combined([groups.of_member[known], above])
    first, number = first_and_codes(code)
    count, points = (
        np.bincount(number, each, len(first)).astype(np.float64)
        for each in (np.ones(len(known)), scores[known])
    )
    rated = (above[first] + least).astype(np.float64)
    whose = groups.of_member[known][first]
    return performances(whose, rated, count, points, len(groups.names))


def _distinct(groups: Codes, values: NDArray[Any], size: int) -> Codes:
    """For each group the number of different values."""
    first, _ = first_and_codes(_combined([groups, codes_of(values)]))
    return np.bincount(groups[first], minlength=size)


def _combined(parts: Sequence[Codes]) -> Codes:
    """One number for each combination of numbers >= 0, in their order.

    Those of games, phases, models and persons together stay far below 2^63.
    """
    found = np.zeros(len(parts[0]), np.intp)
    for part in parts:
        found = found * (int(part.max(initial=0)) + 1) + part
    return found
