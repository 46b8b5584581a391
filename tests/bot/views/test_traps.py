import csv
import io

import numpy as np
import pytest
from markupsafe import escape
from sqlalchemy import LargeBinary, Update, select, type_coerce, update

from bot.views.traps import interval_words, phase_name
from engine.expected import WHOLE
from storage.database import Database
from storage.evidence.inference.fixed import fixed_mean_of_persons
from storage.evidence.queries.baits import BaitGroup
from storage.tables.games import DecisionRow, ForecastRow, GameRow, JudgementRow, OutcomeRow
from tests.bot.dashboard.samples import NAMES, met_bait
from tests.bot.views.conftest import Visitor


async def test_a_card_tells_the_whole_story(database: Database, visitor: Visitor) -> None:
    async with database.write() as session:
        game = await met_bait(session, "one", "d7d5", opponent="Anna")
    page = await visitor.text("/dash/traps")
    for part in (
        "1 of 1</em> bait fooled somebody",
        "A trap: one player in three plays d5 here.",
        "Looking 2 and 3 plies ahead it looks better than e5.",
        f"/dash/games/{game.id}?ply=0#moment",
        'class="arrow-bait"',
        'class="arrow-good"',
        "Anna",
        "1600",
    ):
        assert part in page, part


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (update(OutcomeRow).values(reply="a1a1"), "is not a legal move"),
        (update(OutcomeRow).values(reply=None), "its outcome is fell, its reply None"),
        (update(JudgementRow).values(replies=[]), "is not the best of its replies"),
    ],
)
async def test_a_card_of_a_damaged_record_says_so(
    database: Database, visitor: Visitor, change: Update, said: str
) -> None:
    async with database.write() as session:
        await met_bait(session, "one", "d7d5", opponent="Anna")
        await session.execute(change)
    page = await visitor.text("/dash/traps")
    assert said in page
    assert "1 of 1</em> bait fooled somebody" in page


async def test_numbers_are_those_of_the_database(database: Database, visitor: Visitor) -> None:
    async with database.write() as session:
        for number, reply in enumerate(("d7d5", "g8f6", "e7e5", "a7a6", "a7a6")):
            await met_bait(session, f"g{number}", reply, opponent=f"p{number}")
        rows = (await session.execute(select(ForecastRow))).scalars().all()
    told = await visitor.json("/dash/api/traps")
    assert (told["all"]["encounters"], told["all"]["taken"], told["count"]) == (5, 1, 5)
    assert told["all"]["expected"] == pytest.approx(sum(row.bait_expected for row in rows))
    assert {bait["cost"] * WHOLE for bait in told["baits"]} == {row.bait_cost for row in rows}
    page = await visitor.text("/dash/traps")
    assert "1 of 5</em> baits fooled somebody" in page
    assert (
        f"People took 20 % of them; the models of people expected {told['all']['expected'] * 20:.0f} %"
        in page
    )
    assert "too few people for an interval (5 of 30)" in page
    rows_of = list(csv.DictReader(io.StringIO(await visitor.text("/dash/api/traps.csv?table=phases"))))
    assert [(row["start"], row["encounters"], row["taken"]) for row in rows_of] == [("0", "5", "1")]


async def test_outcome_and_order_are_chosen(database: Database, visitor: Visitor) -> None:
    async with database.write() as session:
        for number, reply in enumerate(("d7d5", "e7e5", "a7a6")):
            await met_bait(session, f"g{number}", reply, opponent=f"p{number}")
        await session.execute(update(ForecastRow).values(bait_probability=0.9 - ForecastRow.decision_id / 10))
    for query, names in {
        "": ["p0", "p1", "p2"],
        "?sort=surprise": ["p0", "p1", "p2"],
        "?sort=newest": ["p2", "p1", "p0"],
        "?outcome=fell": ["p0"],
        "?outcome=held": ["p1", "p2"],
        "?sort=taken": ["p2"],
        "?opponent=p1": ["p1"],
    }.items():
        told = await visitor.json(f"/dash/api/traps{query}")
        assert [bait["opponent"] for bait in told["baits"]] == names, query
    assert "1 of 3 took it" in await visitor.text("/dash/traps?sort=taken")


async def test_a_phase_selects_baits_and_replies_but_no_games(database: Database, visitor: Visitor) -> None:
    async with database.write() as session:
        for number, ply in enumerate((0, 18, 19, 239)):
            game = await met_bait(session, f"g{number}", opponent=f"p{number}")
            await session.execute(update(DecisionRow).where(DecisionRow.game_id == game.id).values(ply=ply))
    for phase, names in {"1-20": ["p1", "p0"], "21-40": ["p2"], "241-260": ["p3"], "41-60": []}.items():
        told = await visitor.json(f"/dash/api/traps?sort=newest&phase={phase}")
        assert [bait["opponent"] for bait in told["baits"]] == names
        assert told["all"]["encounters"] == len(names)
        results = await visitor.json(f"/dash/api/results?by=game&phase={phase}")
        assert [(each["games"], each["replies"]) for each in results["groups"]] == (
            [(len(names), len(names))] if names else []
        )
    page = await visitor.text("/dash/traps?phase=241-260")
    assert '<option value="241-260" selected>241-260</option>' in page
    said = await visitor.text("/dash/traps?phase=7", 400)
    assert "phase: &#39;7&#39; is not a phase; phases are 1-20, 21-40, 41-60 and so on, in plies" in said
    said = await visitor.text("/dash/games?phase=1-20", 400)
    assert "&#39;phase&#39; is not a filter of this page; available: account, game" in said


async def test_pages_follow_each_other(database: Database, visitor: Visitor) -> None:
    async with database.write() as session:
        for number in range(14):
            await met_bait(session, f"g{number}", opponent=f"p{number}")
    seen = [
        bait["game_id"]
        for number in (1, 2)
        for bait in (await visitor.json(f"/dash/api/traps?sort=newest&page={number}"))["baits"]
    ]
    assert seen == sorted(seen, reverse=True)
    assert len(seen) == 14
    first, second = [await visitor.text(f"/dash/traps?sort=newest&page={number}") for number in (1, 2)]
    assert 'rel="next" href="?page=2&amp;sort=newest"' in first
    assert 'rel="prev"' not in first
    assert 'rel="prev" href="?page=1&amp;sort=newest"' in second
    assert 'rel="next"' not in second
    assert "This list has no page 3." in await visitor.text("/dash/traps?page=3")


@pytest.mark.parametrize("name", NAMES)
async def test_hostile_names_stay_text(database: Database, visitor: Visitor, name: str) -> None:
    async with database.write() as session:
        await met_bait(session, "one", opponent=name)
    page = await visitor.text("/dash/traps")
    assert f"<bdi>{escape(name)}</bdi>" in page
    assert "<img src=x" not in page


async def test_a_damaged_record_is_named_and_hides_no_other(database: Database, visitor: Visitor) -> None:
    async with database.write() as session:
        await met_bait(session, "sound", opponent="Sound")
        broken = await met_bait(session, "broken", opponent="Broken")
        await session.execute(
            update(DecisionRow)
            .where(DecisionRow.game_id == broken.id)
            .values(record=type_coerce(b"\x1b", LargeBinary))
        )
    page = await visitor.text("/dash/traps")
    assert "The record of this move cannot be read" in page
    assert "Sound" in page
    assert "Broken" in page
    told = await visitor.json("/dash/api/traps")
    assert [bool(bait["damage"]) for bait in told["baits"]] == [True, False]


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ("outcome=maybe", "known: all, taken, held"),
        ("sort=luck", "known: expected_loss, cost, newest, taken"),
        ("page=0", "page: "),
        ("page=two", "not a whole number"),
        ("colour=red", "is not a filter of this page"),
        ("game=go", "known: "),
    ],
)
async def test_what_is_unknown_is_said(visitor: Visitor, query: str, part: str) -> None:
    assert part in await visitor.text(f"/dash/traps?{query}", 400)


async def test_an_empty_database_says_what_will_be_here(visitor: Visitor) -> None:
    page = await visitor.text("/dash/traps")
    assert "Nobody has met a bait yet." in page
    assert "Baits appear here" in page
    assert "Try other filters" in await visitor.text("/dash/traps?game=chess")


async def test_what_nobody_answered_is_said(database: Database, visitor: Visitor) -> None:
    async with database.write() as session:
        await met_bait(session, "one")
        await session.execute(update(ForecastRow).values(is_taken=None))
    page = await visitor.text("/dash/traps")
    assert "Nobody has answered a bait yet." in page
    assert "not answered" in page
    assert "The game ended before the reply." in page
    assert "Nobody took any of these baits." in await visitor.text("/dash/traps?outcome=fell")
    assert "No bait was met twice" in await visitor.text("/dash/traps?sort=taken")


async def test_a_game_that_is_gone_wrong_keeps_its_card(database: Database, visitor: Visitor) -> None:
    async with database.write() as session:
        await met_bait(session, "one")
        await session.execute(update(GameRow).values(game="no such game"))
    assert "no such game" in await visitor.text("/dash/traps")


def test_phases_are_named_by_the_numbers_of_moves() -> None:
    groups = [BaitGroup(start, 1, 0, 0, 0.0, 1, None, 1.0) for start in (0, 20, 40)]
    assert [phase_name(each) for each in groups] == ["1 to 10", "11 to 20", "21 to 30"]


def test_a_narrow_interval_has_a_decimal() -> None:
    for each, words in ((10.0, "9 to 11 %"), (10_000.0, "9.8 to 10.2 %")):
        taken = np.tile([0.05, 0.15], 50) if each == 10 else np.tile([0.09, 0.11], 50)
        found = fixed_mean_of_persons(taken * each, np.full(100, each))
        assert interval_words(BaitGroup(None, 1, 0, 0, 0.0, 1, found, 100.0)) == words


async def test_taken_back_moves_are_gone(database: Database, visitor: Visitor) -> None:
    async with database.write() as session:
        await met_bait(session, "one")
        await session.execute(update(DecisionRow).values(takeback=1))
    assert "Nobody has met a bait yet." in await visitor.text("/dash/traps")
