"""What `desdemona show` says of a game, as one line of words."""

import io
from collections.abc import Awaitable, Callable
from dataclasses import replace

from rich.console import Console
from sqlalchemy.ext.asyncio import AsyncSession

from bot.parts.terminal import terminal
from bot.text.moment_text import judge_moment
from bot.text.report_text import summarise_report
from bot.text.trap_report import DecisionReport, GameReport, game_report
from bot.views.game_decisions import report_parts
from storage.database import Database
from storage.evidence.exports.games import GAMES
from storage.evidence.queries.game_list import GameOrder, MoveMark, ResultFilter, list_game_lines, list_marks
from storage.evidence.queries.opponents import OpponentOrder, list_opponents
from storage.evidence.statistics.encounters import COUNTS, BaitCounts, bait_counts, encounters
from storage.evidence.statistics.group_rows import read_groups
from storage.filters import Filters
from storage.records import StoredGame
from tests.bot.tempted import lost_game, plain_game, tempting_game
from tests.storage.samples import commit_decision, drawn_decision, opened

Report = tuple[GameReport, list[MoveMark]]
TRAPS = "Traps in the paper's sense, each at its move's own depth:"


def words(found: Report, *, traps_only: bool = False) -> str:
    return " ".join(" ".join(lines(found, 300, traps_only=traps_only)).split())


def lines(found: Report, width: int, *, traps_only: bool = False) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=width)
    for part in terminal(report_parts(*found, traps_only=traps_only)):
        console.print(part)
    return out.getvalue().splitlines()


async def told(database: Database, write: Callable[[AsyncSession], Awaitable[StoredGame]]) -> Report:
    async with database.write() as session:
        game = await write(session)
        return await game_report(session, game), await list_marks(session, game.id)


def changed(found: Report, *decisions: DecisionReport) -> Report:
    """The same with these decisions."""
    return replace(found[0], decisions=decisions), found[1]


async def test_baits_are_told_with_probabilities_looks_and_price(database: Database) -> None:
    found = await told(database, tempting_game)
    shown = words(found)
    assert (
        "Anna took the bait. A trap: one player in three plays d5 here. Looking 2 and 3 plies ahead it "
        "looks better than e5. It costs 24 % of the game to depth 5." in shown
    )
    assert (
        "Anna played d5; e5 was the reply to find. The paper's trap at depth 5: d5, quality 18.3 %. "
        "Figure 9 at that depth: fell for the best trap. "
        "Anna took d5: +0.40 at depth 2, \N{MINUS SIGN}1.80 to depth 5, "
        "cost 24 % of the game (1.50 pawns) to depth 5, expected of 30 % of people. "
        "Best was e5: \N{MINUS SIGN}0.10 at depth 2, \N{MINUS SIGN}0.30 to depth 5." in shown
    )
    assert f"1 of 1 baits taken; 0 slips {TRAPS} 1 set, 1 successful." in shown
    assert "Move 1 · we played e4" in words(found, traps_only=True)


async def test_a_queen_lost_at_every_depth_is_a_slip(database: Database) -> None:
    """The paper's arithmetic calls it a fall; it looks worse than the best reply at every depth."""
    found = await told(database, plain_game)
    assert found[0].decisions[0].outcome == "fell"
    shown = words(found)
    assert "A slip. There was no bait here. Qf6 cost 44 % of the game (8.70 pawns) to depth 5; " in shown
    assert "The paper's trap at depth 5: Qh4, quality 10.6 %. Figure 9 at that depth: fell." in shown
    assert f"0 of 0 baits taken; 1 slip {TRAPS} 1 set, 1 successful." in shown
    assert "we played Nf3" not in words(found, traps_only=True)


async def test_a_small_loss_is_no_slip(database: Database) -> None:
    shown = words(await told(database, lambda session: plain_game(session, "d7d6")))
    assert "No trap, and Anna found a good reply. d6 cost 3 % of the game (0.15 pawns)" in shown
    assert "Figure 9 at that depth: erred elsewhere." in shown


async def test_before_the_judge_no_bait_is_named_and_no_cost(database: Database) -> None:
    found = await told(database, lambda session: tempting_game(session, judged=False))
    shown = words(found)
    assert "Not judged yet. Anna played d5. A deep search that judges the reply has not run yet." in shown
    assert "There was no bait here" not in shown
    assert " cost " not in shown
    assert "0 of 0 baits taken; 0 slips; 1 reply not judged yet" in shown
    assert "Baits are not known for 1 move." in shown
    # Even if one were listed.
    (made,) = found[0].decisions
    (judged,) = (await told(database, lambda session: tempting_game(session, key="again")))[0].decisions
    assert judged.forecast is not None
    listed = replace(made, forecast=replace(judged.forecast, is_judged=False))
    assert "A bait" not in words(changed(found, listed))


async def test_traps_of_the_paper_do_not_count_in_a_decided_game(database: Database) -> None:
    found = await told(database, tempting_game)
    decided = changed(found, replace(found[0].decisions[0], is_decided=True))
    assert f"{TRAPS} 0 set, 0 successful." in words(decided)


async def test_a_game_without_traps_so_far_is_not_called_one(database: Database) -> None:
    async with database.write() as session:
        game = await lost_game(session, "d7d5", key="d7d5")
        (made,) = (await game_report(session, game)).decisions
    for told, wanted in (
        (made, "Anna set no trap in this game."),
        (replace(made, judged=None), "The game is still"),
    ):
        verdict = judge_moment(told, "Anna", "the bot", "pawn")
        summary = summarise_report([told], [verdict], "Anna", "Anna", sets_traps=True)
        assert str(summary.story).startswith(wanted)
        assert ("One reply is not judged yet." in str(summary.story)) is (told is not made)


async def test_chat_page_and_statistics_count_alike(database: Database) -> None:
    """In a position that was decided a bait counts nowhere; a reply that throws away the game is a slip."""
    async with database.write() as session:
        lost = [await lost_game(session, reply, key=reply) for reply in ("d7d5", "a7a6")]
        for game in lost:
            report = await game_report(session, game)
            (made,) = report.decisions
            assert made.is_decided
            assert made.forecast is not None
            assert made.forecast.baits
            assert (made.cost or 0) >= 1000
            assert "0 of 0 baits taken" in words((report, await list_marks(session, game.id)))
            assert await bait_counts(session, game.id) == BaitCounts(slips=1)
        games = [*lost, await tempting_game(session)]
        for game in games:
            counted = await bait_counts(session, game.id)
            decisions = (await game_report(session, game)).decisions
            verdicts = [judge_moment(made, "Anna", "the bot", "pawn") for made in decisions]
            summary = summarise_report(decisions, verdicts, "Anna", "the bot", sets_traps=True)
            assert (
                BaitCounts(baits_set=summary.traps, baits_taken=summary.baits_taken, slips=summary.slips)
                == counted
            )
            marks = await list_marks(session, game.id)
            assert (
                BaitCounts(
                    baits_set=sum(mark.bait is not None for mark in marks),
                    baits_taken=sum(mark.is_taken is True for mark in marks),
                    slips=sum(mark.is_slip for mark in marks),
                    unjudged=sum(mark.is_unjudged for mark in marks),
                )
                == counted
            )
        counts = await encounters(session, Filters())
        lines = await list_game_lines(session, Filters(), ResultFilter.ANY, GameOrder.NEWEST, 9)
        people = await list_opponents(session, Filters(), OpponentOrder.LATEST)
        rows = (await session.execute(GAMES.statement)).all()
        names = [column.name for column in GAMES.columns]
        exported = [dict(zip(names, values, strict=True)) for row in rows for values in GAMES.rows(row)]
        (found,) = (await read_groups(session)).statistics()
    assert (counts.games, counts.baits_set, counts.baits_taken, counts.slips) == (3, 1, 1, 2)
    for table in (lines, people):
        assert [sum(getattr(line, name) for line in table) for name in COUNTS] == [1, 1, 2, 0]
    assert [sum(int(row[name] or 0) for row in exported) for name in COUNTS[:3]] == [1, 1, 2]
    assert (found.games, found.baits_set, found.decided) == (3, 1, 2)
    assert (found.baits.happened, found.errors.n, found.errors.happened) == (1, 1, 1)


async def test_a_bait_by_accident_is_called_one(database: Database) -> None:
    found = await told(database, tempting_game)
    shown = words(changed(found, replace(found[0].decisions[0], sets_traps=False)))
    assert "A trap by accident: one player in three plays d5 here." in shown
    assert f"{TRAPS} 1 set by accident" in shown
    assert "The paper's trap by accident at depth 5: d5" in shown


async def test_a_draw_is_told_to_the_operator(database: Database) -> None:
    made = drawn_decision(trap=False)

    async def write(session: AsyncSession) -> StoredGame:
        game = await opened(session, strategy="randomised", initial_position=made.position, our_side=1)
        await commit_decision(session, game.id, 0, made)
        return game

    shown = words(await told(database, write))
    assert (
        "A random draw decided between f7, which sets a trap and is worth 62.4 %, and d3, which sets none "
        "and is worth 60.8 %. The trap had a probability of 50 %; drawn: d3. Seed `ffffffffffffffff`."
        in shown
    )
    assert shown.count("drawn against") == 1


async def test_the_baits_are_in_one_table(database: Database) -> None:
    found = await told(database, tempting_game)
    shown = lines(found, 80, traps_only=True)
    rows = [" ".join(line.split()) for line in shown]
    at = rows.index("move bait expected at depth 2 at depth 3 costs reply")
    assert rows[at + 1] == "1. e4 d5 30.0 % +0.40 +0.30 24.0 % to depth 5 d5, the bait"
    assert all(len(line) <= 80 for line in shown)
    assert "No trap" not in words(found, traps_only=True)
    assert "Not yet analysed" not in words(found, traps_only=True)
    assert "at depth 2 at depth 3 costs" not in words(found)


async def test_a_game_without_a_bait_says_so(database: Database) -> None:
    found = await told(database, plain_game)
    shown = words(found, traps_only=True)
    assert "No bait in this game: 1 move analysed, 0 of them decided." in shown
    assert "Not yet analysed" not in shown
    assert "No trap" not in words(found)


async def test_a_bait_in_a_decided_position_is_no_trap(database: Database) -> None:
    found = await told(database, lambda session: lost_game(session, "d7d5"))
    shown = words(found, traps_only=True)
    assert "No bait in this game: 1 move analysed, 1 of them decided." in shown
    assert "Move 1 ·" not in shown


async def test_moves_that_are_not_analysed_yet_are_counted(database: Database) -> None:
    found = await told(database, lambda session: tempting_game(session, judged=False))
    waiting = "Not yet analysed: 1 move. The running program or `desdemona db recheck` will analyse the rest."
    shown = words(found, traps_only=True)
    assert f"No bait so far in this game: 0 moves analysed, 0 of them decided. {waiting}" in shown
    (made,) = (await told(database, lambda session: tempting_game(session, key="again")))[0].decisions
    shown = words(changed(found, made, *found[0].decisions), traps_only=True)
    assert waiting in shown
    assert "No trap" not in shown
    (unjudged,) = found[0].decisions
    dropped = changed(found, replace(unjudged, state="dropped"))
    assert words(dropped, traps_only=True).endswith("0 moves analysed, 0 of them decided.")
    incomplete = changed(found, replace(unjudged, is_complete=False, replies=()))
    assert waiting in words(incomplete, traps_only=True)
