import math
from typing import Any

import numpy as np
import pytest

from bot.match.player_specs import OurSpec, parse_spec
from engine.games import get_rules
from engine.protocols.settings import Allowance
from engine.stop import StopFlag
from lab.experiments import blog_400
from lab.experiments.blog_400 import MODEL, STANDARD, Blog400, MatingPlayer, judged_reply
from lab.experiments.experiment import Size
from lab.experiments.experiment_report import ClaimVerdict
from storage.evidence.inference.student import t_quantile

MATE_IN_TWO = "6k1/5ppp/8/8/8/8/5PPP/1R4K1 w - - 0 1"
"""A rook on the last rank: mate in one, in fact."""
LADDER = "7k/8/8/8/8/8/R7/1R2K3 w - - 0 1"
"""Two rooks against a king: mate in three."""


def mating(fen: str) -> tuple[MatingPlayer, str]:
    spec = parse_spec("standard:depth=2,table_mb=1")
    assert isinstance(spec, OurSpec)
    player = MatingPlayer(spec, "chess", "1")
    player.new_game(get_rules("chess").parse_position(fen))
    return player, player.choose((), Allowance(depth=2), StopFlag()).move


def test_a_short_mate_is_played_without_a_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    player, move = mating(MATE_IN_TWO)
    assert (move, player.decisions) == ("b1b8", [])
    assert mating(LADDER)[0].decisions == []
    monkeypatch.setattr(blog_400, "MATE_MOVES", 1)
    player, move = mating(LADDER)  # it is known, but too long
    assert [decision.move for _, decision in player.decisions] == [move]


def test_what_a_reply_cost_is_counted_from_the_best_one() -> None:
    spec = parse_spec("standard:depth=3,table_mb=1")
    assert isinstance(spec, OurSpec)
    player = MatingPlayer(spec, "chess", "1")
    player.new_game(get_rules("chess").parse_position("4k3/8/3q4/8/8/8/3P4/3RK3 w - - 0 1"))
    player.choose((), Allowance(depth=3), StopFlag())
    [(_, decision)] = player.complete_decisions()
    costs = {reply.reply: judged_reply(decision, reply.reply) for reply in decision.chosen.replies}
    assert min(cost for cost in costs.values() if cost is not None) == (0, 0)
    lost = costs["d6d2"]  # the queen takes a pawn that is protected
    assert lost is not None
    assert lost[1] >= blog_400.MIN_BLUNDER_CENTI
    assert lost[0] > 0
    assert judged_reply(decision, "a7a6") is None


def test_the_worked_example_and_the_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    def games(moves: int, errors: int) -> dict[str, Any]:
        return {"games": [[1.0, moves + at % 2, 10, errors + at // 2 % 2, 1, 2.0] for at in range(10)]}

    monkeypatch.setattr(blog_400, "_PAIRS", {Size.FULL: 5})
    results = {}
    for job in Blog400().jobs(Size.FULL):
        is_model = job.arguments["player"] == MODEL
        results[job.name] = games(20 if is_model else 30, 4 if is_model else 2)
    report = Blog400().report(results, Size.FULL)
    worked, faster, more_errors, more_blunders = report.claims
    assert worked.verdict is ClaimVerdict.HOLDS
    assert worked.found.startswith("3.25 and 3.585;")
    assert (faster.verdict, faster.found) == (
        ClaimVerdict.HOLDS,
        "-10.00 (-10.00 to -10.00) moves to win, 5 openings",
    )
    assert (more_errors.verdict, more_blunders.verdict) == (ClaimVerdict.HOLDS, ClaimVerdict.INCONCLUSIVE)
    assert report.tables[0].rows[-1][:3] == ("all", "+90 =0 -0", "+90 =0 -0")
    [chart] = report.charts
    assert [line.marks[0][:2] for line in chart.lines] == [(1100.0, 30.5), (1100.0, 20.5)]
    some = {name: each for name, each in results.items() if not name.startswith(f"{STANDARD} v maia-1900")}
    assert len(Blog400().report(some, Size.FULL).tables[0].rows) == 9  # eight levels, and all


def test_an_opening_counts_once_whatever_the_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blog_400, "_PAIRS", {Size.FULL: 9})
    results: dict[str, Any] = {}
    for job in Blog400().jobs(Size.FULL):
        first, is_model = job.arguments["first"], job.arguments["player"] == MODEL
        pairs = range(first, first + job.arguments["pairs"])
        games = [[1.0, 30 - pair * is_model, 10, 0, 0, 0.0] for pair in pairs for _ in (0, 1)]
        results[job.name] = {"games": games}
    del results[blog_400._name(1100, MODEL, 0)]  # the openings left are those from 5 on
    found = Blog400().report(results, Size.FULL).claims[1].found
    half = t_quantile(0.975, 8) * np.std(np.arange(9), ddof=1) / 3
    assert found == f"-4.00 ({-4 - half:+.2f} to {-4 + half:+.2f}) moves to win, 9 openings"


def test_moves_to_win_are_those_of_won_games() -> None:
    games = np.array([[[1.0, 20], [0.5, 90]], [[0.0, 50], [0.5, 60]]])
    one, none = blog_400._moves(games)
    assert one == 20
    assert math.isnan(none)
