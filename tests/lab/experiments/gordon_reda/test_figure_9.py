"""Figure 9: judged replies, what is compared with what, and that `desdemona stats` counts the same."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bot.match.conditions import Terms
from bot.match.game_storage import store_game
from bot.match.openings import random_opening
from bot.match.play import GameTask, play
from bot.match.player_specs import parse_spec
from engine.decision import Candidate, Decision, OutcomeKind, ReplyProfile
from engine.params import TrapParams
from lab.experiments import given_games
from lab.experiments.estimates_text import in_points
from lab.experiments.experiment import FOLDER, Size
from lab.experiments.experiment_report import ClaimVerdict
from lab.experiments.gordon_reda import figure_9, trap_replies
from lab.experiments.gordon_reda.figure_9 import ALPHA, PLAYERS, TrapsAndPeople, _beyond_random
from lab.experiments.gordon_reda.trap_replies import (
    BAND_MIN_COSTS,
    KINDS,
    TrapReplies,
    TrapReply,
    by_band,
    equal_cost,
    of_game,
    ratios_apart,
    trap_reply,
)
from storage.database import Database
from storage.evidence.statistics.group_rows import read_groups
from storage.filters import Filters
from storage.records import MATCH_SITE

FELL, OPTIMAL = KINDS.index(OutcomeKind.FELL_FOR_PAPER_TRAP), KINDS.index(OutcomeKind.OPTIMAL)
ELSEWHERE, UNANSWERED = KINDS.index(OutcomeKind.ERRED_ELSEWHERE), KINDS.index(OutcomeKind.UNANSWERED)


def decision(*replies: tuple[int, ...], complete: bool = True) -> Decision:
    """Our move at Othello, with the scores of the replies a, b, c and so on."""
    profiles = tuple(ReplyProfile("abcdefgh"[at], scores) for at, scores in enumerate(replies))
    raw = min(scores[-1] for scores in replies)
    return Decision(
        game="othello",
        position="8/8/8/3wb3/3bw3/8/8/8 b",
        strategy="standard",
        params=TrapParams(),
        move="d3",
        candidates=(Candidate("d3", raw, False, 0.0, replies=profiles, complete=complete),),
        depth=4,
        principal_variation=("d3",),
        nodes=0,
        time_s=0.0,
        profile_source="",
        engine_version="",
    )


A_TRAP = decision((0, 0, 0), (-2000, -2000, 3000), (3000, 3000, 3000), (40, 40, 40))
"""a is best; b and c cost the same, but only b looks good; d costs little."""


@pytest.mark.parametrize(
    ("reply", "kind", "is_best", "in_band"),
    [
        ("a", OPTIMAL, 0, (0, 0)),
        ("b", FELL, 1, (1, 1)),
        ("c", ELSEWHERE, 0, (1, 1)),
        ("d", ELSEWHERE, 0, (0, 0)),
    ],
)
def test_a_reply_is_judged_beside_what_costs_the_same(
    reply: str, kind: int, is_best: int, in_band: tuple[int, int]
) -> None:
    found = trap_reply(A_TRAP, reply)
    assert found is not None
    assert (found.kind, found.fell_for_best, (found.traps, found.others)) == (kind, is_best, in_band)
    assert (found.is_trap, found.is_decided) == (1, 0)
    assert (found.random_optimal, found.random_fell, found.random_erred) == (0.25, 0.25, 0.5)
    assert found.erred == (reply in "bc")
    assert (found.band >= 0) == (reply in "bc")
    if found.band >= 0:
        assert (found.traps_by_band[found.band], found.others_by_band[found.band]) == (1, 1)
        assert found.traps_cost == found.others_cost >= BAND_MIN_COSTS[found.band]
    assert (sum(found.traps_by_band), sum(found.others_by_band)) == (1, 1)


def test_what_cannot_be_judged_does_not_count() -> None:
    assert trap_reply(decision((0, 0, 0)), "a") is None  # no choice
    assert trap_reply(decision((0, 0), (9, 9), complete=False), "a") is None
    unanswered = trap_reply(A_TRAP, None)
    assert unanswered is not None
    assert unanswered.kind == UNANSWERED
    sums = TrapReplies([unanswered, trap_reply(A_TRAP, "b") or ()], ["x", "y"], 2)
    assert (sums.unanswered, int(sums.is_trap.sum()), int(sums.is_answered.sum())) == (1, 1, 1)
    assert by_band(sums)[trap_reply(A_TRAP, "b").band][0].of == 1  # type: ignore[union-attr]
    lost = trap_reply(decision((100_000, 100_000), (100_100, 100_100)), "a")
    assert lost is not None
    assert TrapReplies([lost], ["x"], 1).rows == []


def people(likes: float, count: int = 600) -> TrapReplies:
    """Sixty persons who like a trap so many times as much as each of three replies that cost the same."""
    rng = np.random.default_rng(5)
    fell = rng.random(count) < likes / (likes + 3)
    rows = [(trap_reply(A_TRAP, "b" if each else "c") or A_NONE)._replace(others=3) for each in fell]
    return TrapReplies(rows, [f"person {at % 60}" for at in range(count)], 9)


A_NONE = TrapReply(0, 0, 0, 0, 0, 0.0, 0.0, 0.0, -1, 0, 0, 0.0, 0.0, [], [])


@pytest.mark.parametrize(
    ("likes", "verdict"),
    [(3.0, ClaimVerdict.HOLDS), (1.0, ClaimVerdict.INCONCLUSIVE), (0.3, ClaimVerdict.FAILS)],
)
def test_the_endpoint_asks_whether_traps_are_liked_beyond_their_cost(
    likes: float, verdict: ClaimVerdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TrapReplies, "of_results", lambda _: people(likes))
    report = TrapsAndPeople().report({"recorded: chess 0": {}}, Size.FULL)
    claim = next(each for each in report.claims if each.says.startswith("Primary"))
    assert claim.verdict is verdict
    assert report.claims[0].verdict is ClaimVerdict.INCONCLUSIVE
    assert "40.5 and 40 points in 50 games: +1.0 (-14." in report.claims[0].found
    assert "600 errors by 60 persons" in claim.found
    assert claim.found.startswith(in_points(equal_cost(people(likes), 0.025).beyond))
    assert equal_cost(people(likes), 0.05).random == 0.25
    wide, narrow = equal_cost(people(likes), 0.025).beyond, equal_cost(people(likes), 0.05).beyond
    assert wide.low < narrow.low
    paper = report.tables[0]
    assert paper.columns == ("", "paper", "recorded chess")
    assert [row[1] for row in paper.rows[:5]] == [
        "50",
        "198",
        "34 = 17.2 (12.6 to 23.0) %",
        "61 = 30.8 (24.8 to 37.6) %",
        "103 = 52.0 (45.1 to 58.9) %",
    ]
    assert [row[2] for row in paper.rows[:2]] == ["9", "600"]
    [rates] = report.tables[1].rows
    assert (rates[1], rates[4], rates[6:9], rates[10:]) == (
        "600",
        "25.0",
        ("50.0", "-", "-"),
        ("25.0", "-", "-"),
    )
    [equal] = report.tables[2].rows
    assert (equal[1], equal[3], equal[5]) == ("600", "25.0", "+0.00")
    bands = {row[0]: row[1:] for row in report.tables[3].rows}
    assert bands["5.0"] == ("-", "-")
    assert [len(line.marks) for line in report.charts[0].lines] == [1, 1]


def test_chance_is_a_random_fall_and_not_a_random_error() -> None:
    found = people(1.0)
    fell = float(found.is_kind(OutcomeKind.FELL_FOR_PAPER_TRAP).mean())
    assert _beyond_random(found).value == pytest.approx(fell - 0.25)  # one of four replies is the trap


def test_the_endpoint_needs_a_choice_between_traps_and_others() -> None:
    found = people(1.0)
    some = found.rows[:300]
    alone = [each._replace(traps=0) for each in some] + [each._replace(others=0) for each in some]
    groups = [f"person {at % 60}" for at in range(600 + len(alone))]
    mixed = TrapReplies([*found.rows, *alone], groups, 9)
    assert equal_cost(mixed, 0.05) == equal_cost(found, 0.05)


def test_ratios_apart() -> None:
    above, below = np.array([[1.0, 2.0], [1.0, 4.0]] * 20), np.full((40, 2), 4.0)
    found = ratios_apart(above, below)
    assert found.value == 0.5
    assert 0 < found.low < 0.5 < found.high < 1
    assert ratios_apart(above, below * 0).n == 0


def test_games_are_compared_opening_by_opening(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure_9, "_PAIRS", {Size.FULL: {"othello": 40}})
    results: dict[str, Any] = {}
    for job in TrapsAndPeople().jobs(Size.FULL):
        if "player" in job.arguments:
            first = job.arguments["first"]
            falls = 2 if job.arguments["player"] == PLAYERS[1] else 1
            rows, groups = [], []
            for opening in range(first, first + job.arguments["pairs"]):
                replies = "bbb"[:falls] + "aaaa"[falls:] + ("d" if opening % 3 else "")
                rows += [list(trap_reply(A_TRAP, each) or ()) for each in replies]
                groups += [opening] * len(replies)
            points = [1.0, 0.5] * job.arguments["pairs"]
            results[job.name] = {"replies": rows, "groups": groups, "points": points}
    report = TrapsAndPeople().report(results, Size.FULL)
    claim = next(each for each in report.claims if each.says.startswith("Primary"))
    assert claim.verdict is ClaimVerdict.HOLDS
    assert ALPHA == 0.025  # of each of two games
    assert claim.found.endswith("per 100 replies (97.5 %), 40 openings")
    told = {row[1]: row[2:] for row in report.tables[-1].rows}
    assert told["score, %"][:2] == ("75.0", "75.0")
    # Two temperatures, two colours: what each job has is of two games of each opening.
    assert told["falls, per 100 games"][:2] == ("50.0", "100.0")
    half = {name: each for name, each in results.items() if PLAYERS[0] not in name}
    assert len(TrapsAndPeople().report(half, Size.FULL).claims) == 2  # those on the paper's own counts


def test_recorded_replies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text(
        "\n".join(
            f'[Event "{at}"]\n[White "{white}"]\n[Black "Bea"]\n\n1. e4 e5 2. Qh5 {reply} 3. d3 *\n'
            for at, (white, reply) in enumerate(
                [("Ann", "Nc6"), ("Ann", "g6"), ("Ann", "Ke7"), ("engine (x)", "Nf6")]
            )
        )
    )
    monkeypatch.setattr(trap_replies, "DEPTHS", {"chess": 2})
    monkeypatch.setattr(given_games, "FROM_PLY", {"chess": 3})
    arguments = {"game": "chess", "most": 9, FOLDER: str(tmp_path)}
    whole = TrapsAndPeople().run({**arguments, "first": 0, "count": 9}, 1)
    part = TrapsAndPeople().run({**arguments, "first": 2, "count": 2}, 1)
    assert len(set(whole["games"])) == 3  # one of a program is left out
    assert sorted(whole["groups"]) == ["Ann"] * 3 + ["Bea"] * 3
    assert part["replies"] == whole["replies"][2:4]
    assert TrapReplies.of_results([whole]).games == 3


async def test_the_bot_s_statistics_count_the_same(database: Database) -> None:
    """The third source: what `desdemona stats --by strategy` reads of the same games."""
    terms = Terms(
        game="othello",
        a=parse_spec("trappy:depth=3"),
        b=parse_spec("human:temperature=1"),
        depth=3,
        openings="seed 1",
    )
    games = [play(GameTask(terms, at, 1, random_opening("othello", 1, 0, plies=30))) for at in range(4)]
    for game in games:
        await store_game(database, "m", terms, game)
    async with database.read() as session:
        [stats] = (await read_groups(session, Filters(site=MATCH_SITE))).statistics()
    replies = [each for game in games for each in of_game(game)]
    ours = TrapReplies(replies, [0] * len(replies), len(games))

    def count(kind: OutcomeKind) -> int:
        return int((ours.is_kind(kind) & ours.is_trap).sum())

    # None of them is judged yet: their paper outcomes count, their costs do not.
    assert (stats.replies, stats.unjudged) == (0, int(ours.is_answered.sum()))
    assert stats.traps_set == int(ours.is_trap.sum())
    assert stats.traps_set > 0
    assert stats.traps_optimal == count(OutcomeKind.OPTIMAL)
    assert stats.traps_fell == count(OutcomeKind.FELL_FOR_PAPER_TRAP)
    assert stats.traps_erred_elsewhere == count(OutcomeKind.ERRED_ELSEWHERE)
    assert stats.traps_fell_for_best == sum(each.fell_for_best for each in ours.rows)
