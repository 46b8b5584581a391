from dataclasses import replace
from typing import Any

import pytest

from bot.text.moment_text import MomentKind, MomentVerdict, judge_moment
from bot.text.trap_report import DecisionReport, RefusalReport, game_report
from engine.decision import DirectMove, OutcomeKind, SourceInfo
from engine.game import WIN_CENTI
from engine.judgement import MIN_ERROR_COST
from storage.database import Database
from tests.bot.tempted import lost_game, plain_game, tempting_game


async def _told(database: Database, make: Any, *arguments: Any, **more: Any) -> DecisionReport:
    async with database.write() as session:
        (told,) = (await game_report(session, await make(session, *arguments, **more))).decisions
    return told


def _judged(told: DecisionReport) -> MomentVerdict:
    return judge_moment(told, "Anna", "Desdemona", "pawns")


@pytest.mark.parametrize(
    ("reply", "kind", "title"),
    [
        ("d7d5", MomentKind.TOOK_BAIT, "Anna took a bait"),
        ("g8f6", MomentKind.TOOK_BAIT, "Anna took a bait"),
        ("e7e5", MomentKind.SAW, "Anna saw through the traps"),
        ("a7a6", MomentKind.SLIPPED, "Trap avoided, but a slip"),
    ],
)
async def test_what_a_bait_led_to(database: Database, reply: str, kind: MomentKind, title: str) -> None:
    found = _judged(await _told(database, tempting_game, reply))
    assert (found.kind, str(found.title)) == (kind, title)
    first = "A trap: one player in three plays d5 here. Looking 2 and 3 plies ahead it looks better than e5."
    assert str(found.story[0]).startswith(first)
    assert str(found.story[1]).startswith("Another: one player in seven plays Nf6.")


async def test_marks_and_facts_of_a_fall(database: Database) -> None:
    found = _judged(await _told(database, tempting_game, "d7d5"))
    assert [(mark.kind, mark.squares) for mark in found.marks] == [
        ("trap", ("g8", "f6")), ("best", ("e7", "e5")), ("fell", ("d7", "d5")),
    ]  # fmt: skip
    assert [(fact.kind, str(fact.term), fact.move.name) for fact in found.facts] == [
        ("trap", "A bait", "Nf6"), ("fell", "Anna took", "d5"), ("best", "Best was", "e5"),
    ]  # fmt: skip


async def test_what_was_played_instead_is_marked(database: Database) -> None:
    found = _judged(await _told(database, tempting_game, "a7a6"))
    assert [mark.kind for mark in found.marks] == ["trap", "trap", "best", "played"]


async def test_without_a_deeper_search_no_bait_is_named(database: Database) -> None:
    found = _judged(await _told(database, tempting_game, "d7d5", confirmed=False))
    assert found.kind is MomentKind.SLIP
    assert "There was no bait here." not in " ".join(map(str, found.story))
    assert "trap" not in [mark.kind for mark in found.marks]


async def test_plain_positions(database: Database) -> None:
    slip = await _told(database, plain_game, "d8f6")
    assert _judged(slip).kind is MomentKind.SLIP
    assert str(_judged(slip).story[-1]).startswith("There was no bait here. Qf6 cost")
    best = replace(slip, reply="b8c6", outcome=OutcomeKind.OPTIMAL, cost=0, cost_centi=0)
    assert str(_judged(best).title) == "No trap, and Anna found the best reply"
    loose = replace(slip, reply="d7d6", cost=999)
    assert _judged(loose).kind is MomentKind.LOOSE
    assert _judged(replace(slip, cost=1000)).kind is MomentKind.SLIP
    forced = replace(slip, replies=slip.replies[:1], reply=slip.replies[0].reply)
    assert _judged(forced).kind is MomentKind.FORCED
    pending = replace(slip, outcome=None)
    assert _judged(pending).kind is MomentKind.PENDING
    last = replace(slip, outcome=OutcomeKind.UNANSWERED, reply=None, cost=None, cost_centi=None)
    assert _judged(last).kind is MomentKind.REST


async def test_an_unanswered_bait(database: Database) -> None:
    told = await _told(database, tempting_game)
    found = _judged(replace(told, outcome=OutcomeKind.UNANSWERED, reply=None, cost=None, cost_centi=None))
    assert (found.kind, str(found.title)) == (MomentKind.OPEN, "A trap that was never answered")


async def test_a_reply_that_throws_away_a_won_game_is_a_slip(database: Database) -> None:
    """It is judged by its cost first, though the position was decided; and no bait is named there."""
    told = await _told(database, lost_game, "d7d5")
    told = replace(told, cost=10_000, cost_text="the game")
    assert told.is_decided
    found = _judged(told)
    assert (found.kind, str(found.title), found.kind.is_slip) == (MomentKind.SLIP, "A slip", True)
    said = str(found.story[-1])
    assert said.startswith("Anna could win by force here. d5 cost 100 % of the game")
    assert found.to_json()["is_slip"] is True
    assert "trap" not in [mark.kind for mark in found.marks]


async def test_where_all_is_decided_a_cheap_reply_is_no_slip(database: Database) -> None:
    told = await _told(database, lost_game, "d7d5")
    cheap = _judged(replace(told, cost=MIN_ERROR_COST - 1))
    assert (cheap.kind, str(cheap.title)) == (MomentKind.DECIDED, "Already decided")
    assert _judged(replace(told, cost=MIN_ERROR_COST)).kind is MomentKind.SLIP
    lost = [replace(each, final_centi=WIN_CENTI) for each in told.replies]
    hopeless = _judged(replace(told, replies=tuple(lost), cost=0))
    assert str(hopeless.story[-1]) == "Desdemona wins by force here, whatever the reply."


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"search_mode": "book"},
            "This move is from an opening book (-1.20); no trap was intended.",
        ),
        ({"search_mode": "lot"}, "Desdemona chose this move at random"),
        (
            {"search_mode": "strong"},
            "Desdemona took the best move of her strong search, 20 plies deep (-1.20); no trap was intended.",
        ),
        ({"search_mode": "engine"}, "The scores are from another engine, Stockfish, searching 5 plies deep."),
        (
            {"trouble": "silent"},
            "Desdemona could not use her model of people here (silent) and took the best move.",
        ),
    ],
)
async def test_where_a_move_came_from(database: Database, changes: dict[str, Any], said: str) -> None:
    told = await _told(database, plain_game)
    pick = DirectMove(score_centi=-120, depth=20, confidence=100, solved=False)
    source = SourceInfo("Stockfish", "uci", (), 50, -100, 1)
    changed = replace(told, pick=pick, pick_text="-1.20", source=source, **changes)
    first = str(_judged(changed).story[0]).replace("\N{MINUS SIGN}", "-")
    assert first.startswith(said)


async def test_an_accident_is_called_one(database: Database) -> None:
    told = await _told(database, tempting_game)
    assert str(_judged(replace(told, sets_traps=False)).story[0]).startswith("A trap by accident: ")


@pytest.mark.parametrize(
    ("cost", "said"),
    [
        (
            1_234,
            "d4 was preferred, but a deeper search showed that it gives up 12 %; e4 was played instead.",
        ),
        (None, "d4 was preferred, but there was no time to confirm it; e4 was played instead."),
    ],
)
async def test_what_was_preferred_but_refused(database: Database, cost: int | None, said: str) -> None:
    told = replace(await _told(database, tempting_game), refusal=RefusalReport("d2d4", "d4", cost))
    assert str(_judged(told).story[-1]) == said
    blind = judge_moment(told, "Anna", "Desdemona", "pawns", is_blind=True)
    assert not any("preferred" in str(each) for each in blind.story)
