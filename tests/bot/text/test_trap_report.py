import io
import json
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console
from sqlalchemy.ext.asyncio import AsyncSession

from bot.parts.terminal import terminal
from bot.text.trap_report import GameReport, decision_report, game_report
from bot.views.game_decisions import report_parts
from engine.decision import (
    Candidate,
    Contender,
    ContenderCheck,
    Decision,
    DirectMove,
    ExploitUse,
    ModelInfo,
    OpponentModelUse,
    Outcome,
    OutcomeKind,
    Person,
    Playouts,
    ReplyProfile,
    SearchMode,
    SourceInfo,
)
from engine.figure_9 import FIGURE_9_RULE, profile_verdict
from engine.forecasts import own_costs
from engine.game import WIN_CENTI
from engine.games import get_rules
from engine.human.opponent_value import UNSEARCHED
from engine.judge import JUDGE_VERSION, ReplyCost, ReplyCosts, ReplyWord
from engine.params import ExploitParams, OpponentParams, Scale, TrapParams
from storage.database import Database
from storage.ledger.decisions import get_decision, list_decisions, store_profile
from storage.ledger.games import finish_game, load_game, set_moves
from storage.ledger.judgements import store_judgements
from storage.ledger.outcomes import record_outcome
from storage.records import GameResult
from tests.storage.ledger.test_forecasts import made_forecast
from tests.storage.samples import ARENA, FELL, commit_decision, decision, opened, store_forecast


async def reported(session: AsyncSession) -> GameReport:
    """The report of the sample game."""
    game = await load_game(session, ARENA, "game0001")
    assert game is not None
    return await game_report(session, game)


async def test_a_game_is_told_move_by_move(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        decision_id = await commit_decision(session, game.id, 0, decision(quality=225.0))
        await record_outcome(session, decision_id, FELL)
        await finish_game(
            session, game.id, result=GameResult.WIN, end_reason="normal", moves=["f5", "d6", "c3"]
        )
        report = await reported(session)
    (told,) = report.decisions
    assert (told.number, told.move, told.squares, told.depth) == (1, "f5", ("f5",), 4)
    assert told.rows_before[3:5] == ("...wb...", "...bw...")
    assert told.rows_after[3:5] == ("...wb...", "...bbb..")
    assert (told.standard.move, told.standard.raw_text) == ("e6", "+1.10")
    assert (told.chosen.raw_text, told.chosen.adjusted_text) == ("+1.00", "+1.25")
    assert [(c.move, c.raw_is_bound) for c in told.candidates] == [
        ("d3", True), ("c4", True), ("f5", False), ("e6", False)
    ]  # fmt: skip
    assert told.trap is not None
    assert (told.is_trap, told.trap.reply, told.trap.quality_text) == (True, "d6", "7.4 %")
    assert (told.reply, told.outcome, told.fell_for_best) == ("d6", "fell", True)
    assert (told.judged, told.best, told.cost, told.cost_text) == (None, None, None, None)
    best, bait, _ = told.replies
    assert (bait.reply, bait.their_text, bait.our_text) == ("d6", "-4.00", "+4.00")
    # It looked best to the opponent after two plies, where our score was -300.
    assert (bait.scores_centi, bait.score_texts) == ((-300, -250, 400), ("+3.00", "+2.50", "-4.00"))
    assert (best.quality, best.is_paper_trap) == (0, False)
    assert bait.quality == pytest.approx(744.3, abs=0.05)
    assert bait.is_paper_trap


async def test_the_judge_is_told_where_it_has_judged(database: Database) -> None:
    """The reply by its judgement, the likeliest replies by the forecast; no verdict of an earlier version."""
    made = decision(quality=225.0)
    best, played = (
        ReplyCost("f4", 150, 0, 11, is_solved=False),
        ReplyCost("d6", -250, 1500, 9, is_solved=True),
    )
    likely = ReplyCost("f6", 140, 40, 12, is_solved=False)
    async with database.write() as session:
        game = await opened(session)
        decision_id = await commit_decision(session, game.id, 0, made)
        await record_outcome(session, decision_id, FELL)
        forecast = replace(made_forecast(), costs=ReplyCosts(JUDGE_VERSION, best, (likely,)), bait_replies=())
        await store_forecast(session, decision_id, made, forecast)
        await finish_game(session, game.id, result=GameResult.WIN, end_reason="normal", moves=["f5", "d6"])
        early = await reported(session)
        costs = ReplyCosts(JUDGE_VERSION, best, (played,))
        await store_judgements(session, game.id, {decision_id: ("d6", costs)})
        report = await reported(session)
        older = replace(forecast, costs=ReplyCosts(JUDGE_VERSION - 1, best, (likely,)))
        (stored,) = await list_decisions(session, game.id)
    told, before = report.decisions[0], early.decisions[0]
    assert told.best is not None
    assert (told.best.reply, told.best.word, told.best.score_text) == ("f4", "good", "+1.50")
    # Depths count from our move, the judge's from the reply.
    assert (told.best.judge_depth, told.best.is_solved, told.best.cost_text) == (12, False, "")
    assert told.judged is not None
    assert (told.judged.word, told.cost, told.cost_text) == ("error", 1500, "4.00")
    assert (told.judged.judge_depth, told.judged.is_solved, told.judged.name) == (10, True, "d6")
    assert {each.reply: each.judged and each.judged.word for each in told.replies} == {
        "f6": "good", "d6": "error", "f4": "good"
    }  # fmt: skip
    assert (before.best, before.judged, before.cost) == (told.best, None, None)
    outdated = decision_report(get_rules("othello"), report.header, stored, older, None)
    assert (outdated.best, [each.judged for each in outdated.replies]) == (None, [None] * 3)


async def test_it_is_plain_json(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        await commit_decision(session, game.id, 0, decision(quality=225.0))
        report = await reported(session)
    told = json.loads(json.dumps(report.to_json()))
    assert (told["site_game_id"], told["strategy"], told["sides"]) == (
        "game0001",
        "trappy",
        ["black", "white"],
    )
    assert (told["sets_traps"], told["decisions"][0]["sets_traps"]) == (True, True)
    assert told["params"]["assessment"] == "median"
    assert told["started_at"].endswith("+00:00")
    assert told["ended_at"] is None
    assert told["decisions"][0]["trap"]["reply"] == "d6"
    assert told["decisions"][0]["outcome"] is None


@pytest.mark.parametrize(
    ("player", "sets_traps"),
    [("standard", False), ("strong", False), ("calibrated_uci", True), ("uci", False), ("human", False)],
)
async def test_who_means_traps(database: Database, player: str, sets_traps: bool) -> None:
    """Matches record games of other programs and of stand-ins for people, too."""
    async with database.write() as session:
        game = await opened(session, strategy=player)
        await commit_decision(session, game.id, 0, replace(decision(quality=225.0), strategy=player))
        report = await reported(session)
    assert report.sets_traps is sets_traps
    assert [told.sets_traps for told in report.decisions] == [sets_traps]


async def test_a_profile_that_is_not_there_yet(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        await commit_decision(session, game.id, 0, decision(complete=False))
        await set_moves(session, game.id, ["f5", "f6"])
        report = await reported(session)
    (told,) = report.decisions
    assert (told.is_complete, told.is_trap, told.outcome, told.reply) == (False, None, None, "f6")


CHESS_START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def _chess_decision(params: TrapParams, *, trap_final: int = 300, **changes: Any) -> Decision:
    """White's first move Nf3 with a trap at the reply Nc6; the best reply is d5."""
    played = Candidate(
        move="g1f3",
        raw_centi=changes.pop("raw_centi", 20),
        raw_is_bound=False,
        adjusted_centi=5340,
        quality_centi=420.0,
        trap="b8c6",
        replies=(
            ReplyProfile("d7d5", (10, changes.pop("best_final", 20))),
            ReplyProfile("b8c6", (-40, trap_final)),
        ),
        complete=True,
    )
    return replace(
        Decision(
            game="chess",
            position=CHESS_START,
            strategy="trappy",
            params=params,
            move="g1f3",
            candidates=(played,),
            depth=3,
            principal_variation=("g1f3",),
            nodes=1,
            time_s=0.1,
            profile_source="native",
            engine_version="1",
        ),
        **changes,
    )


async def _chess_report(database: Database, made: Decision) -> GameReport:
    """The report on a game that the judge has judged as the decision's own scores do."""
    fell = Outcome(OutcomeKind.FELL_FOR_PAPER_TRAP, "b8c6", True, 2400.0, 280, 3200, FIGURE_9_RULE)
    async with database.write() as session:
        game = await opened(session, game="chess", variant="standard", strategy=made.strategy)
        decision_id = await commit_decision(session, game.id, 0, made)
        await record_outcome(session, decision_id, fell)
        costs = own_costs(made, ["b8c6"])
        await store_judgements(session, game.id, {decision_id: ("b8c6", costs)})
        await finish_game(
            session, game.id, result=GameResult.WIN, end_reason="normal", moves=["g1f3", "b8c6", "e2e4"]
        )
        return await reported(session)


async def test_moves_are_named_as_people_write_them(database: Database) -> None:
    report = await _chess_report(database, _chess_decision(TrapParams()))
    assert report.names == ("Nf3", "Nc6", "e4")
    (told,) = report.decisions
    assert (told.move, told.name, told.reply, told.reply_name) == ("g1f3", "Nf3", "b8c6", "Nc6")
    assert told.trap is not None
    assert (told.trap.name, told.chosen.trap_name, told.squares) == ("Nc6", "Nc6", ("g1", "f3"))
    assert [(reply.name, reply.judged and reply.judged.cost_text) for reply in told.replies] == [
        ("d5", ""), ("Nc6", "2.80")
    ]  # fmt: skip
    assert told.cost_text == "2.80"
    assert (told.chosen.sets_trap, told.chosen.set_trap_name) == (True, "Nc6")
    shown = _shown(report)
    assert "1. Nf3 Nc6 2. e4" in shown
    assert "Move 1 · we played Nf3 · depth 3, " in shown
    trap = "The paper's trap at depth 3: Nc6, quality 28.1 %. Figure 9 at that depth: fell for the best trap."
    assert trap in shown
    assert " of the game (2.80 pawns) to depth 3" in shown


async def test_a_game_that_went_on_past_a_draw_of_our_rules(database: Database) -> None:
    shuffle = ["g1f3", "g8f6", "f3g1", "f6g8"]
    async with database.write() as session:
        game = await opened(session, game="chess", variant="standard")
        await finish_game(
            session, game.id, result=GameResult.WIN, end_reason="time", moves=[*shuffle, *shuffle, "e2e4"]
        )
        report = await reported(session)
    assert report.names[-2:] == ("Ng8", "e4")


async def test_values_on_the_expected_scale_are_shares_of_the_point(database: Database) -> None:
    params = TrapParams(scale=Scale.EXPECTED, logistic_centi=170.0)
    (told,) = (await _chess_report(database, _chess_decision(params))).decisions
    assert (told.chosen.raw_text, told.chosen.adjusted_text) == ("+0.20", "53.4 %")
    assert told.trap is not None
    assert told.trap.quality_text == "30.9 %"


@pytest.mark.parametrize(
    ("threshold", "complete", "sets_trap", "column"),
    [(28.0, True, True, "Nc6"), (29.0, True, False, "\N{EN DASH}"), (28.0, False, None, "?")],
)
async def test_the_table_names_a_trap_only_where_the_move_sets_one(
    database: Database, threshold: float, complete: bool, sets_trap: bool | None, column: str
) -> None:
    made = _chess_decision(TrapParams(threshold_percent=threshold))
    made = replace(made, candidates=(replace(made.candidates[0], complete=complete), *made.candidates[1:]))
    async with database.write() as session:
        game = await opened(session, game="chess", variant="standard", strategy=made.strategy)
        await commit_decision(session, game.id, 0, made)
        report = await reported(session)
    (told,) = report.decisions
    assert told.chosen.trap_name == "Nc6"
    assert told.chosen.sets_trap is sets_trap
    assert told.chosen.set_trap_name == ("Nc6" if sets_trap else None)
    assert f"+0.20 +53.40 Nc6 {column}" in _shown(report)


async def test_a_slower_mate_is_as_good(database: Database) -> None:
    won = WIN_CENTI + 9_990
    made = _chess_decision(TrapParams(), raw_centi=won, best_final=won, trap_final=won + 4)
    (told,) = (await _chess_report(database, made)).decisions
    assert [reply.their_text for reply in told.replies] == ["#-5", "#-3"]
    assert told.judged is not None
    assert (told.judged.word, told.cost_text, told.judged.is_solved) == ("good", "", True)


async def test_in_a_lost_position_only_the_best_reply_is_called_best(database: Database) -> None:
    """The others cost little, too: there is little to lose."""
    made = _chess_decision(TrapParams(), raw_centi=2_000, best_final=2_000, trap_final=2_600)
    (told,) = (await _chess_report(database, made)).decisions
    assert told.is_lost
    judged = [each.judged for each in told.replies if each.judged is not None]
    assert len(judged) == 2
    assert [(each.word, each.is_best) for each in judged].count((ReplyWord.GOOD, True)) == 1
    assert {each.word for each in judged} == {"good"}


async def test_the_best_reply_is_the_one_with_the_best_score(database: Database) -> None:
    """A reply that was searched by itself may prove better than the one a search of all replies found."""
    best, better = (
        ReplyCost("b8c6", -886, 0, 9, is_solved=False),
        ReplyCost("d7d5", -696, 0, 9, is_solved=False),
    )
    costs = ReplyCosts(JUDGE_VERSION, best, (better,))
    report = await _chess_report(database, _chess_decision(TrapParams()))
    async with database.read() as session:
        (stored,) = await list_decisions(session, report.header.id)
    told = decision_report(get_rules("chess"), report.header, stored, None, costs)
    assert told.best is not None
    assert (told.best.reply, told.best.score_text) == ("d7d5", "-6.96")
    same = replace(costs, replies=(replace(better, score_centi=best.score_centi),))
    told = decision_report(get_rules("chess"), report.header, stored, None, same)
    assert told.best is not None
    assert told.best.reply == "b8c6"


@pytest.mark.parametrize(("raw", "text"), [(WIN_CENTI + 9_999, "#1"), (20, "#2")])
async def test_the_shorter_mate_is_told(database: Database, raw: int, text: str) -> None:
    pick = DirectMove(score_centi=WIN_CENTI + 9_997, depth=8, confidence=0, solved=True)
    made = _chess_decision(TrapParams(), raw_centi=raw, best_final=raw, trap_final=raw, pick=pick)
    (told,) = (await _chess_report(database, made)).decisions
    assert told.pick_text == text


async def test_what_picked_the_move_is_told(database: Database) -> None:
    pick = DirectMove(score_centi=35, depth=18, confidence=100, solved=False)
    made = _chess_decision(TrapParams(), strategy="strong", search_mode=SearchMode.STRONG, pick=pick)
    report = await _chess_report(database, made)
    assert report.decisions[0].pick_text == "+0.35"
    shown = _shown(report)
    assert "depth 18 at 100 % confidence, +0.35, replies searched to depth 3" in shown
    assert "The paper's trap by accident at depth 3: Nc6" in shown


def compared(**changes: Any) -> Decision:
    """Nf3, which exploit prefers to e4."""
    pick = DirectMove(score_centi=35, depth=18, confidence=0, solved=False)
    best = Contender("e2e4", 35, (), 5_512.0, Playouts(24, 5_500.0, 9.0))
    played = Contender("g1f3", 20, (), 5_723.4, Playouts(48, 5_800.0, 9.0))
    check = ContenderCheck("g1f3", 18, 33, 19, stood=True)
    use = ExploitUse(ExploitParams(), 0.93, 0.0, 100.0, 35, (best, played), check=check)
    use = replace(use, **changes)
    return _chess_decision(
        TrapParams(), strategy="exploit", search_mode=SearchMode.EXPLOIT, pick=pick, exploit=use
    )


async def test_what_exploit_compared_is_told(database: Database) -> None:
    report = await _chess_report(database, compared())
    assert report.decisions[0].has_rivals
    told = report.to_json()["decisions"][0]["weighed"]
    assert (told["trust"], told["refused_name"]) == (0.93, "")
    assert [each["value"] for each in told["contenders"]] == [5_512, 5_723]
    shown = _shown(report)
    assert "depth 18, +0.35, replies searched to depth 3" in shown  # no confidence was set
    assert "e4 (best) +0.35 55.1 % 24 Nf3 (played) +0.20 57.2 % 48" in shown
    assert "Moves compared (trust 93 %)" in shown
    assert shown.count("Refused: worth most") == 1


async def test_what_exploit_refused_is_told(database: Database) -> None:
    check = ContenderCheck("g1f3", 18, 33, 19, stood=False)
    (told,) = (await _chess_report(database, compared(check=check))).decisions
    assert told.weighed is not None
    assert told.weighed.refused_name == "Nf3"


async def test_the_trust_is_told_of_a_move_without_rivals(database: Database) -> None:
    only = (Contender("g1f3", 35, (), 5_512.0),)
    report = await _chess_report(database, compared(contenders=only, check=None))
    assert not report.decisions[0].has_rivals
    assert "No other move was compared with the best one; trust 93 %." in _shown(report)


async def test_another_engine_is_named(database: Database) -> None:
    source = SourceInfo("Fake 1.0", "uci", (), window_centi=100, floor_centi=-80, nodes=1000)
    made = _chess_decision(TrapParams(), strategy="trappy_uci", search_mode=SearchMode.ENGINE, source=source)
    report = await _chess_report(database, made)
    assert report.to_json()["decisions"][0]["source"]["name"] == "Fake 1.0"
    assert "depth 3 by Fake 1.0" in _shown(report)
    assert "The paper's trap at depth 3: Nc6" in _shown(report)


def made_for_a_person(**changed: Any) -> Decision:
    """A decision by what a person is expected to reply, before the unlikely replies were looked into."""
    plain = decision(quality=225.0)
    best, bait, other = plain.chosen.replies
    replies = (
        replace(best, probability=0.58),
        replace(bait, probability=0.415),
        ReplyProfile(other.reply, (), UNSEARCHED, probability=0.005),
    )
    chosen = replace(plain.chosen, replies=replies, complete=False, value=6234.0)
    model = ModelInfo("othello", "people", "0" * 64)
    model_use = OpponentModelUse(OpponentParams(logistic_centi=500), Person(1500, None), model)
    made = replace(plain.with_chosen(chosen), strategy="opponent_model", model=model, model_use=model_use)
    return replace(made, **changed)


async def test_what_a_person_was_expected_to_reply(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session, strategy="opponent_model")
        await commit_decision(session, game.id, 0, made_for_a_person())
        await set_moves(session, game.id, ["f5", "d6"])
        early = await reported(session)
        full = decision(quality=225.0).chosen.replies
        probabilities = (0.58, 0.415, 0.005)
        whole = tuple(replace(reply, probability=p) for reply, p in zip(full, probabilities, strict=True))
        made = made_for_a_person()
        stored = await get_decision(session, game.id, 0)
        assert stored is not None
        completed = made.with_chosen(replace(made.chosen, replies=whole, complete=True))
        await store_profile(session, stored.id, completed, profile_verdict(completed))
        report = await reported(session)
    assert len(early.decisions[0].replies) == 2  # nobody has looked into the third
    (told,) = report.decisions
    assert told.model is not None
    assert (told.model.name, told.trouble, told.chosen.value_text) == ("people", "", "62.3 %")
    assert [reply.probability for reply in told.replies] == [0.58, 0.415, 0.005]
    shown = _shown(report)
    assert "promise" in shown
    assert "62.3 %" in shown
    assert "The paper's trap at depth 4: d6, quality 7.4 %." in shown
    assert json.loads(json.dumps(report.to_json()))["decisions"][0]["model"]["name"] == "people"


async def test_a_model_that_failed_is_told(database: Database) -> None:
    made = decision(quality=225.0)
    model_use = OpponentModelUse(OpponentParams(logistic_centi=500), Person(), None, "it said nan")
    async with database.write() as session:
        game = await opened(session, strategy="opponent_model")
        failed = replace(made, strategy="opponent_model", model_use=model_use)
        await commit_decision(session, game.id, 0, failed)
        report = await reported(session)
    assert "could not use her model of people here (it said nan) and took the best move." in _shown(report)
    assert "with bonus" in _shown(report)


def _shown(report: GameReport) -> str:
    """What `desdemona show` prints, with every run of blanks as one."""
    console = Console(width=140, file=io.StringIO())
    with console.capture() as capture:
        for part in terminal(report_parts(report, [])):
            console.print(part)
    return " ".join(capture.get().split())
