from dataclasses import replace
from typing import Any

import pytest

from bot.text.moment_text import MomentKind, MomentVerdict, judge_moment
from bot.text.trap_report import ContenderReport, DecisionReport, RefusalReport, WeighedReport, game_report
from engine.decision import DirectMove, ModelInfo, OutcomeKind, SourceInfo
from engine.game import WIN_CENTI
from storage.database import Database
from tests.bot.tempted import lost_game, plain_game, tempting_game, with_verdict

_BEST = ContenderReport("e2e4", "e4", "-1.20", 4_000, 24)


async def _told(database: Database, make: Any, *arguments: Any, **more: Any) -> DecisionReport:
    async with database.write() as session:
        (told,) = (await game_report(session, await make(session, *arguments, **more))).decisions
    return told


def _judged(told: DecisionReport) -> MomentVerdict:
    return judge_moment(told, "Anna", "Desdemona", "pawns")


# The replies by their own scores: e5 best, a6 costs 8 %, d5 24 %, Nf6 25 %; the bait is d5.
@pytest.mark.parametrize(
    ("reply", "best", "cost", "kind", "title", "outcome"),
    [
        ("d7d5", "e7e5", 2400, MomentKind.TOOK_BAIT, "Anna took the bait", "e5 was the reply to find."),
        ("e7e5", "e7e5", 0, MomentKind.SAW, "Anna saw through the trap", "Anna played e5, one of the best"),
        # Errors by their own scores, and best by the judge.
        ("g8f6", "g8f6", 0, MomentKind.SAW, "Anna saw through the trap", "Anna played Nf6, one of the best"),
        (
            "g8f6",
            "e7e5",
            199,
            MomentKind.SAW,
            "Anna saw through the trap",
            "Anna played Nf6, one of the best",
        ),
        # Best by its own scores, and costly by the judge.
        (
            *("e7e5", "a7a6", 200, MomentKind.SAW, "Anna saw through the trap"),
            "e5 cost 2 % of the game (0.20 pawns) to depth 14; a6 was better.",
        ),
        (
            *("e7e5", "a7a6", 500, MomentKind.AVOIDED, "Trap avoided, best reply missed"),
            "Anna left the bait alone, but e5 cost 5 % of the game (0.50 pawns) to depth 14; a6 was better.",
        ),
        (
            *("e7e5", "a7a6", 1000, MomentKind.SLIPPED, "Trap avoided, but a slip"),
            "Anna left the bait alone, but e5 cost 10 % of the game (1.00 pawns) to depth 14; a6 was better.",
        ),
        ("g8f6", "e7e5", None, MomentKind.JUDGING, "Not judged yet", "Anna played Nf6. A deep search"),
    ],
)
async def test_the_judge_decides_what_a_reply_is_called(
    database: Database, reply: str, best: str, cost: int | None, kind: MomentKind, title: str, outcome: str
) -> None:
    told = with_verdict(await _told(database, tempting_game), reply, cost, best)
    found = _judged(told)
    assert (found.kind, str(found.title)) == (kind, title)
    assert outcome in str(found.outcome)
    first = str(found.story[0])
    assert first.startswith("A trap: one player in three plays d5 here. Looking 2 and 3 plies ahead it looks")
    assert first.endswith("It costs 24 % of the game to depth 5.")
    # Nobody is told of a better reply than a best one, nor of a best one before it is known.
    assert ("Best was" in [str(each.term) for each in found.facts]) is (cost is not None and cost >= 200)
    assert ("best" in [mark.kind for mark in found.marks]) is (cost is not None and cost >= 200)
    assert found.kind.is_slip is (kind is MomentKind.SLIPPED)


@pytest.mark.parametrize(
    ("reply", "best", "cost", "kind"),
    [
        ("d8f6", "b8c6", 4400, MomentKind.SLIP),
        ("d8f6", "d8f6", 0, MomentKind.CALM),  # its own scores lose the queen
        ("d8f6", "b8c6", 999, MomentKind.LOOSE),
        ("b8c6", "d7d6", 1000, MomentKind.SLIP),  # best by its own scores
        ("b8c6", "d7d6", 500, MomentKind.LOOSE),
        ("b8c6", "d7d6", 499, MomentKind.CALM),  # good, though not the best
        ("b8c6", "d7d6", 199, MomentKind.CALM),
        ("b8c6", "d7d6", None, MomentKind.JUDGING),
    ],
)
async def test_without_a_bait_too(
    database: Database, reply: str, best: str, cost: int | None, kind: MomentKind
) -> None:
    found = _judged(with_verdict(await _told(database, plain_game), reply, cost, best))
    assert found.kind is kind
    said = " ".join(map(str, found.story))
    assert ("There was no bait here." in said) is (kind in (MomentKind.SLIP, MomentKind.LOOSE))
    assert (" cost " in said) is (cost is not None and cost >= 200)
    shown = " ".join(str(each.text) for each in found.facts)
    assert ("to depth 14" in shown) is (cost is not None)


async def test_a_verdict_that_is_not_there_yet_is_not_guessed(database: Database) -> None:
    told = await _told(database, tempting_game, "a7a6", judged=False)
    found = _judged(told)
    assert (found.kind, str(found.label)) == (MomentKind.JUDGING, "not judged yet")
    assert [(fact.kind, str(fact.term)) for fact in found.facts] == [("played", "Anna played")]
    assert str(found.facts[0].text) == "\N{MINUS SIGN}0.30 at depth 2, expected of 20 % of people"
    assert [mark.kind for mark in found.marks] == ["played"]


async def test_a_game_with_another_engine_has_its_own_depth_only(database: Database) -> None:
    told = with_verdict(await _told(database, plain_game), "d8f6", 4400, "b8c6")
    assert told.judged is not None
    found = _judged(replace(told, judged=replace(told.judged, judge_depth=None)))
    assert "Qf6 cost 44 % of the game (4.40 pawns); Nc6 was better." in str(found.outcome)
    solved = _judged(replace(told, judged=replace(told.judged, is_solved=True)))
    assert "Qf6 cost 44 % of the game (4.40 pawns), solved; Nc6 was better." in str(solved.outcome)


async def test_marks_and_facts_of_a_fall(database: Database) -> None:
    found = _judged(await _told(database, tempting_game, "d7d5"))
    assert [(mark.kind, mark.squares) for mark in found.marks] == [
        ("best", ("e7", "e5")), ("fell", ("d7", "d5")),
    ]  # fmt: skip
    assert [(fact.kind, str(fact.term), fact.move.name) for fact in found.facts] == [
        ("fell", "Anna took", "d5"), ("best", "Best was", "e5"),
    ]  # fmt: skip


async def test_a_list_of_traps_names_the_bait_that_was_taken(database: Database) -> None:
    told = await _told(database, tempting_game)
    assert told.forecast is not None
    (bait,) = told.forecast.baits
    likelier = replace(bait, reply="a7a6", name="a6", probability=0.9)
    forecast = replace(told.forecast, baits=(likelier, bait))
    two = replace(told, forecast=forecast)
    assert "d5, which costs" in str(_judged(two).entry)
    left = with_verdict(two, "e7e5", 0, "e7e5")
    left = replace(left, forecast=replace(forecast, is_taken=False))
    assert "a6, which costs" in str(_judged(left).entry)
    missed = replace(with_verdict(two, "g8f6", 600, "e7e5"), forecast=replace(forecast, is_taken=False))
    assert "Anna left the baits alone, but" in str(_judged(missed).outcome)


async def test_what_was_played_instead_is_marked(database: Database) -> None:
    found = _judged(await _told(database, tempting_game, "g8f6"))
    assert [mark.kind for mark in found.marks] == ["trap", "best", "played"]


async def test_plain_positions(database: Database) -> None:
    slip = await _told(database, plain_game, "d8f6")
    assert _judged(slip).kind is MomentKind.SLIP
    assert str(_judged(slip).story[-1]).startswith("There was no bait here. Qf6 cost")
    best = with_verdict(slip, "b8c6", 0, "b8c6")
    assert str(_judged(best).title) == "No trap, and Anna found a good reply"
    forced = replace(slip, replies=slip.replies[:1], reply=slip.replies[0].reply)
    assert _judged(forced).kind is MomentKind.FORCED
    pending = replace(slip, outcome=None)
    assert _judged(pending).kind is MomentKind.PENDING
    last = replace(slip, outcome=OutcomeKind.UNANSWERED, reply=None, judged=None)
    assert _judged(last).kind is MomentKind.REST


async def test_an_unanswered_bait(database: Database) -> None:
    told = await _told(database, tempting_game)
    found = _judged(replace(told, outcome=OutcomeKind.UNANSWERED, reply=None, judged=None))
    assert (found.kind, str(found.title)) == (MomentKind.OPEN, "A trap that was never answered")


async def test_a_reply_that_throws_away_a_won_game_is_a_slip(database: Database) -> None:
    """It is judged by its cost first, though the position was decided; and no bait is named there."""
    told = await _told(database, lost_game, "d7d5")
    assert told.is_decided
    found = _judged(told)
    assert (found.kind, str(found.title), found.kind.is_slip) == (MomentKind.SLIP, "A slip", True)
    said = str(found.story[-1])
    assert said.startswith("Anna could win by force here. d5 cost ")
    assert said.endswith(" % of the game, solved; e5 was better.")
    assert found.to_json()["is_slip"] is True
    assert "trap" not in [mark.kind for mark in found.marks]


async def test_where_all_is_lost_a_cheap_reply_is_no_slip(database: Database) -> None:
    told = with_verdict(await _told(database, lost_game, "d7d5"), "d7d5", 0, "e7e5")
    assert told.best is not None
    hopeless = _judged(replace(told, best=replace(told.best, score_centi=-WIN_CENTI - 4)))
    assert (hopeless.kind, str(hopeless.title)) == (MomentKind.DECIDED, "Already decided")
    assert str(hopeless.story[-1]) == "Desdemona wins by force here, whatever the reply."
    lost = tuple(replace(each, final_centi=WIN_CENTI) for each in told.replies)
    assert _judged(replace(told, replies=lost)).kind is MomentKind.DECIDED
    assert _judged(told).kind is MomentKind.CALM
    far = _judged(replace(told, is_lost=True))
    assert far.kind is MomentKind.DECIDED
    assert str(far.story[-1]) == "Desdemona is winning by far here, whatever the reply."


async def test_what_plain_minimax_would_have_played_is_told_only_of_moves_by_scores(
    database: Database,
) -> None:
    told = await _told(database, plain_game)
    told = replace(told, standard=replace(told.standard, move="d2d4", name="d4", raw_text="+0.30"))
    for mode in ("exact", "strong", "book", "lot", "trial"):
        said = " ".join(map(str, _judged(replace(told, search_mode=mode, pick=None)).story))
        assert ("Plain minimax would have played d4" in said) is (mode == "exact"), mode


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
        (  # below the trust that counts, with the replies to the best move alone
            {"search_mode": "exploit", "weighed": WeighedReport(0.5, (_BEST,), "")},
            "Desdemona took the best move of her strong search, 20 plies deep (-1.20); no trap was intended.",
        ),
        (
            {"search_mode": "exploit", "weighed": WeighedReport(0.9, (_BEST, _BEST), "")},
            "Desdemona compared the moves nearly as good as the best one of her strong search, 20 plies deep "
            "(-1.20), by the errors that she expects.",
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


async def test_what_no_move_was_chosen_by_is_not_told(database: Database) -> None:
    model = ModelInfo("people", "a model", "")
    told = replace(await _told(database, plain_game), search_mode="exploit", model=model)
    alone, compared = (
        " ".join(map(str, _judged(replace(told, weighed=WeighedReport(0.9, contenders, ""))).story))
        for contenders in ((_BEST,), (_BEST, _BEST))
    )
    predicted = "Desdemona predicted people's replies here (a model) and chose the most promising move."
    assert predicted in compared
    assert predicted not in alone


async def test_an_accident_is_called_one(database: Database) -> None:
    told = await _told(database, tempting_game)
    assert str(_judged(replace(told, sets_traps=False)).story[0]).startswith("A trap by accident: ")


@pytest.mark.parametrize(
    ("cost", "said"),
    [
        (
            1_234,
            "d4 was preferred, but a second search showed that it gives up 12 %; e4 was played instead.",
        ),
        (None, "d4 was preferred, but there was no time to confirm it; e4 was played instead."),
    ],
)
async def test_what_was_preferred_but_refused(database: Database, cost: int | None, said: str) -> None:
    told = replace(await _told(database, tempting_game), refusal=RefusalReport("d2d4", "d4", cost))
    assert str(_judged(told).story[-1]) == said
    blind = judge_moment(told, "Anna", "Desdemona", "pawns", is_blind=True)
    assert not any("preferred" in str(each) for each in blind.story)
