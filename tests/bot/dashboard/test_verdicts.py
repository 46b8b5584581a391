from dataclasses import replace
from typing import Any

import pytest

from bot.charts.boards import MarkKind
from bot.dashboard.verdicts import MomentVerdict, VerdictKind, judge_moment
from engine.decision import OutcomeKind, Pick, SourceInfo
from storage.database import Database
from storage.evidence.trap_report import DecisionReport, game_report
from tests.bot.tempted import lost_game, plain_game, tempting_game


async def _told(database: Database, make: Any, *arguments: Any, **more: Any) -> DecisionReport:
    async with database.write() as session:
        (told,) = (await game_report(session, await make(session, *arguments, **more))).decisions
    return told


def _judged(told: DecisionReport) -> MomentVerdict:
    return judge_moment(told, "Anna", "pawns")


@pytest.mark.parametrize(
    ("reply", "kind", "title"),
    [
        ("d7d5", VerdictKind.FELL, "Anna fell into a trap"),
        ("g8f6", VerdictKind.FELL, "Anna fell into a trap"),
        ("e7e5", VerdictKind.SAW, "Anna saw through the traps"),
        ("a7a6", VerdictKind.SLIPPED, "Trap avoided, but a slip"),
    ],
)
async def test_what_a_bait_led_to(database: Database, reply: str, kind: VerdictKind, title: str) -> None:
    found = _judged(await _told(database, tempting_game, reply))
    assert (found.kind, found.title) == (kind, title)
    first = "A trap: one player in three plays d5 here. Looking 2 and 3 plies ahead it looks better than e5."
    assert found.story[0].startswith(first)
    assert found.story[1].startswith("Another: one player in seven plays Nf6.")


async def test_marks_and_facts_of_a_fall(database: Database) -> None:
    found = _judged(await _told(database, tempting_game, "d7d5"))
    assert [(mark.kind, mark.squares) for mark in found.marks] == [
        (MarkKind.SOUND, ("e7", "e5")), (MarkKind.BAIT, ("d7", "d5")), (MarkKind.BAIT, ("g8", "f6")),
    ]  # fmt: skip
    assert [(fact.kind, fact.term, fact.move) for fact in found.facts] == [
        ("trap", "A bait", "Nf6"), ("fell", "Bait taken", "d5"), ("best", "Best was", "e5"),
    ]  # fmt: skip


async def test_what_was_played_instead_is_marked(database: Database) -> None:
    found = _judged(await _told(database, tempting_game, "a7a6"))
    assert [mark.kind for mark in found.marks] == [
        MarkKind.PLAYED, MarkKind.SOUND, MarkKind.BAIT, MarkKind.BAIT
    ]  # fmt: skip


async def test_without_a_deeper_search_no_bait_is_named(database: Database) -> None:
    found = _judged(await _told(database, tempting_game, "d7d5", confirmed=False))
    assert found.kind is VerdictKind.SLIP
    assert "There was no bait here." not in " ".join(found.story)
    assert MarkKind.BAIT not in [mark.kind for mark in found.marks]


async def test_plain_positions(database: Database) -> None:
    slip = await _told(database, plain_game, "d8f6")
    assert _judged(slip).kind is VerdictKind.SLIP
    assert _judged(slip).story[-1].startswith("There was no bait here. Qf6 cost")
    best = replace(slip, reply="b8c6", outcome=OutcomeKind.OPTIMAL, cost=0, cost_centi=0)
    assert _judged(best).title == "No trap, and Anna found the best reply"
    loose = replace(slip, reply="d7d6", cost=999)
    assert _judged(loose).kind is VerdictKind.LOOSE
    assert _judged(replace(slip, cost=1000)).kind is VerdictKind.SLIP
    forced = replace(slip, replies=slip.replies[:1], reply=slip.replies[0].reply)
    assert _judged(forced).kind is VerdictKind.FORCED
    pending = replace(slip, outcome=None)
    assert _judged(pending).kind is VerdictKind.PENDING
    last = replace(slip, outcome=OutcomeKind.UNANSWERED, reply=None, cost=None, cost_centi=None)
    assert _judged(last).kind is VerdictKind.REST


async def test_an_unanswered_bait(database: Database) -> None:
    told = await _told(database, tempting_game)
    found = _judged(replace(told, outcome=OutcomeKind.UNANSWERED, reply=None, cost=None, cost_centi=None))
    assert (found.kind, found.title) == (VerdictKind.OPEN, "A trap that was never answered")


async def test_decided_positions_have_no_bait(database: Database) -> None:
    found = _judged(await _told(database, lost_game, "d7d5"))
    assert found.kind is VerdictKind.DECIDED
    assert "Anna could win by force here." in " ".join(found.story)
    assert MarkKind.BAIT not in [mark.kind for mark in found.marks]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"search_mode": "book"}, "A move of the opening book (-1.20). No trap was intended."),
        ({"search_mode": "lot"}, "Drawn at random"),
        ({"search_mode": "strong"}, "The best move of the strong search, 20 plies deep"),
        ({"search_mode": "engine"}, "The scores are from another engine, Stockfish, searching 5 plies deep."),
        ({"trouble": "silent"}, "The model of people could not be used (silent); this is the best move."),
    ],
)
async def test_where_a_move_came_from(database: Database, changes: dict[str, Any], said: str) -> None:
    told = await _told(database, plain_game)
    pick = Pick(score_centi=-120, depth=20, confidence=100, solved=False)
    source = SourceInfo("Stockfish", "uci", (), 50, -100, 1)
    changed = replace(told, pick=pick, pick_text="-1.20", source=source, **changes)
    first = _judged(changed).story[0].replace("\N{MINUS SIGN}", "-")
    assert first.startswith(said)


async def test_an_accident_is_called_one(database: Database) -> None:
    told = await _told(database, tempting_game)
    assert _judged(replace(told, sets_traps=False)).story[0].startswith("A trap by accident: ")
