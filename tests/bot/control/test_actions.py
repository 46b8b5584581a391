"""The operator's actions: what each does, refuses and leaves in the audit trail."""

import asyncio
import logging
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace

import pytest

from bot.alarms.evaluator import AlarmError
from bot.alarms.samples import DiskSample, HealthSample
from bot.base.errors import ConfigError, RefusedError
from bot.base.events import ChallengeReceived, Clock, DeclineReason, EndReason, Proposal, Reply
from bot.control.actions import MAX_PAUSE_MIN
from bot.control.control_socket import ControlError
from bot.control.status import Admission
from bot.control.status_text import status_lines
from storage.database import Database
from storage.errors import StorageError
from storage.records import GameResult
from tests.bot.account.test_lobby import called, tell
from tests.bot.control.rig import opened_rig
from tests.bot.fakes import GAME_ID, OFFER, OPPONENT, FakeServer, picker
from tests.bot.ledger_samples import stored_game
from tests.patience import PATIENCE_S

TERMS = Proposal("othello", True, Clock(180, 2))


def offer(key: str, name: str = "Anna") -> ChallengeReceived:
    return ChallengeReceived(replace(OFFER, id=key, challenger=replace(OPPONENT, id=name.lower(), name=name)))


async def test_a_pause_holds_new_games_and_spares_running_ones(database: Database) -> None:
    server = FakeServer()
    async with opened_rig(server, database) as rig:
        await rig.playing(server, 1)
        assert await rig.actions.pause(by="dashboard ada") == "paused until `resume`; running games: 1"
        server.news.put_nowait(offer("other"))
        await called(server, f"decline other {DeclineReason.LATER}")
        assert server.has_room is not None
        assert not server.has_room(1)  # for what a site begins by itself
        with pytest.raises(RefusedError, match="no game may start: paused by the operator"):
            await rig.actions.challenge("ben", TERMS, by="socket")
        server.reply()
        await server.until(lambda: len(server.moves) >= 3)  # the running game goes on
        assert (await rig.actions.status()).admission.state is Admission.PAUSED
        assert await rig.actions.resume(by="socket") == "New games may start."
        with pytest.raises(ControlError, match="the program is not paused"):
            await rig.actions.resume(by="socket")
        assert server.has_room(1)
        server.news.put_nowait(offer("third", "Ben"))
        await called(server, "accept third")
        assert await rig.trail() == [
            ("", "pause", "dashboard ada", "paused until `resume`; running games: 1"),
            ("desdemona", "challenge", "socket", "refused: no game may start: paused by the operator"),
            ("", "resume", "socket", "New games may start."),
            ("", "resume", "socket", "refused: the program is not paused"),
        ]


async def test_a_pause_declines_who_waits_and_withdraws_what_we_sent(database: Database) -> None:
    server = FakeServer()
    async with opened_rig(server, database, max_games=1) as rig:
        challenging = asyncio.create_task(rig.actions.challenge("ben", TERMS, by="socket"))
        await called(server, "challenge ben othello")
        await tell(server, offer("waits"))
        assert [each.key for each in (await rig.actions.status()).queue] == ["waits"]
        await rig.actions.pause(by="socket")
        with pytest.raises(RefusedError, match="withdrawn: paused by the operator"):
            await challenging
        await called(server, f"decline waits {DeclineReason.LATER}")


async def test_a_pause_ends_by_itself_and_tournaments_wait_for_it(database: Database) -> None:
    server = FakeServer()
    async with opened_rig(server, database) as rig:
        await tell(server)
        await rig.actions.join_tournament("cypr0001", password="sesame", team="venetians", by="socket")
        said = await rig.actions.pause(2, by="socket")
        assert said == "paused for 2 minutes; running games: 0"
        await called(server, "leave cypr0001")
        with pytest.raises(RefusedError, match="no game may start: paused"):
            await rig.actions.join_tournament("other", by="socket")
        ticks = 0

        async def sleep(_seconds: float) -> None:
            nonlocal ticks
            ticks += 1
            rig.time.now = {1: 119.9, 2: 120.0}.get(ticks, 130.0)
            if ticks == 2:
                assert (await rig.actions.status()).admission.state is Admission.PAUSED
            if ticks == 3:
                assert (await rig.actions.status()).admission.state is Admission.OPEN
                raise asyncio.CancelledError

        with suppress(asyncio.CancelledError):
            await rig.actions.run(sleep)
        await server.until(lambda: server.calls.count("join cypr0001 sesame venetians") == 2)
        assert (await rig.trail())[-1] == ("", "resume", "timer", "the pause is over")
        assert not any("sesame" in str(entry) for entry in await rig.trail())


async def test_a_tournament_that_is_over_after_the_pause_is_not_joined_again(database: Database) -> None:
    server = FakeServer()
    async with opened_rig(server, database) as rig:
        await tell(server)
        await rig.actions.join_tournament("cypr0001", by="socket")
        await rig.actions.pause(by="socket")
        await called(server, "leave cypr0001")
        server.tournament_told = replace(server.tournament_told, is_over=True)
        asked = server.calls.count("tournament cypr0001")
        await rig.actions.resume(by="socket")
        await server.until(lambda: server.calls.count("tournament cypr0001") > asked)
        await tell(server)
        assert sum(call.startswith("join cypr0001") for call in server.calls) == 1


async def test_each_account_shows_how_long_its_moves_wait_for_a_thread(database: Database) -> None:
    server = FakeServer()
    async with opened_rig(server, database) as rig:
        (home,) = (await rig.actions.status()).accounts
        assert home.thread_waits.moves == 0
        await rig.playing(server, 1)
        (home,) = (await rig.actions.status()).accounts
        assert home.thread_waits.moves == 1
        assert list(rig.program.pool.waits) == [rig.lobby.owner]


@pytest.mark.parametrize("minutes", [0, -1, float("nan"), float("inf"), MAX_PAUSE_MIN + 1])
async def test_impossible_pauses(database: Database, minutes: float) -> None:
    async with opened_rig(FakeServer(), database) as rig:
        with pytest.raises(ControlError, match="minutes must be more than 0 and at most 10080"):
            await rig.actions.pause(minutes, by="socket")
        assert rig.actions.admission.state is Admission.OPEN
        assert not rig.program.pause.holds_back_games


async def test_draining_happens_once(database: Database) -> None:
    async with opened_rig(FakeServer(), database) as rig:
        said = await rig.actions.drain(by="socket")
        assert said == "the program will stop after its games; running games: 0"
        assert rig.stop.is_set()
        for act in (rig.actions.drain, rig.actions.pause, rig.actions.resume):
            with pytest.raises(ControlError, match="the program is already stopping"):
                await act(by="socket")
        assert rig.actions.admission.state is Admission.DRAINING
        assert rig.actions.admission.by == "socket"


async def test_a_signal_drains_too(database: Database) -> None:
    async with opened_rig(FakeServer(), database) as rig:
        rig.stop.set()
        assert rig.actions.admission.state is Admission.DRAINING
        assert rig.actions.admission.by == "signal"


async def test_aborting_a_game_that_has_not_begun(database: Database) -> None:
    server = FakeServer(our_side=1)
    async with opened_rig(server, database) as rig:
        await rig.playing(server)
        assert await rig.actions.abort("game", by="socket") == f"game {GAME_ID}: aborted"
        await rig.over()
        assert server.end is not None
        assert server.end.reason is EndReason.ABORTED
        assert await rig.trail() == [("desdemona", "abort", "socket", f"game {GAME_ID}: aborted")]


async def test_a_game_that_has_begun_is_resigned_not_aborted(database: Database) -> None:
    server = FakeServer()
    async with opened_rig(server, database) as rig:
        await rig.playing(server, 1)
        with pytest.raises(ControlError, match="not both players have moved: abort the game instead"):
            await rig.actions.resign(GAME_ID, by="socket")
        server.reply()
        await rig.playing(server, 3)
        with pytest.raises(ControlError, match="the site refuses to abort the game: This game can no longer"):
            await rig.actions.abort(GAME_ID, by="socket")
        server.tells = False
        assert await rig.actions.resign("g", account="HOME", by="socket") == f"game {GAME_ID}: resigned"
        status = await rig.actions.status()
        assert (status.accounts[0].games, status.accounts[0].closing) == (0, 1)
        said = await rig.actions.pause(by="socket")
        assert said == "paused until `resume`; running games: 0; being closed: 1"
        server.cut()
        await rig.over()
    game = await stored_game(database)
    assert (game.result, game.end_reason) == (GameResult.LOSS, "resignation")


async def test_saying_something(database: Database) -> None:
    server = FakeServer()
    async with opened_rig(server, database) as rig:
        await rig.playing(server, 1)
        assert await rig.actions.say("game", "One moment, please.", by="socket") == f"game {GAME_ID}: said"
        assert server.said[-1] == "One moment, please."
        for text in ("", "  ", "x" * 141, "two\nlines", "\x1b[2J"):
            with pytest.raises(ControlError, match="a message must have 1 to 140 printable characters"):
                await rig.actions.say("game", text, by="socket")
        server.faults["chat"] = [RefusedError("the chat is full", 400)]
        with pytest.raises(ControlError, match="the message was refused: the chat is full"):
            await rig.actions.say("game", "x" * 140, by="socket")


@pytest.mark.parametrize(
    ("game", "why"),
    [
        ("nothing", "no running game has a key that starts with 'nothing'"),
        ("", "'' is no key of a game"),
        ("../../etc", "no running game has a key"),
        ("a b", "'a b' is no key of a game: at most 64 ASCII characters, without spaces"),
        ("x" * 65, "is no key of a game"),
        ("пешка", "is no key of a game"),
    ],
)
async def test_games_that_are_not_there(database: Database, game: str, why: str) -> None:
    server = FakeServer()
    async with opened_rig(server, database) as rig:
        await rig.playing(server, 1)
        with pytest.raises(ControlError, match=why):
            await rig.actions.abort(game, by="socket")
        assert "abort" not in server.calls


async def test_one_game_of_several(database: Database) -> None:
    async with opened_rig(FakeServer(), database) as rig:
        aborted = []

        def lobby(site: str, *keys: str) -> SimpleNamespace:
            async def abort(key: str) -> None:
                aborted.append((site, key))

            return SimpleNamespace(
                owner=SimpleNamespace(site=site, name="us"),
                playing=keys,
                player=lambda key: SimpleNamespace(abort=lambda: abort(key)),
            )

        rig.runners["home"] = SimpleNamespace(lobby=lobby("one", "ab", "abc", "xy1"))
        rig.runners["away"] = SimpleNamespace(lobby=lobby("two", "xy1", "xy2"))
        with pytest.raises(ControlError, match=r"several keys start with 'xy': xy1 \(one\), xy1 \(two\)"):
            await rig.actions.abort("xy", by="socket")
        await rig.actions.abort("ab", by="socket")  # an exact key is one game
        await rig.actions.abort("xy1", account="away", by="socket")
        with pytest.raises(ControlError, match="no account 'other'; known: home, away"):
            await rig.actions.abort("xy1", account="other", by="socket")
        with pytest.raises(ControlError, match=r"several accounts .*choose one with --account"):
            await rig.actions.block("anna", by="socket")
        assert aborted == [("one", "ab"), ("two", "xy1")]


async def test_a_block_lasts(database: Database) -> None:
    server = FakeServer()
    async with opened_rig(server, database, max_games=1) as rig:
        await rig.playing(server, 1)
        await tell(server, offer("waits", "Ben"))
        assert await rig.actions.block("BEN", by="socket") == "BEN is blocked at arena"
        await called(server, f"decline waits {DeclineReason.GENERIC}")
        assert await rig.actions.block("ben", by="socket") == "ben was blocked already at arena"
        with pytest.raises(RefusedError, match="ben is on the block list"):
            await rig.lobby._challenge_again("ben", TERMS)
    again = FakeServer()
    async with opened_rig(again, database) as rig:
        await tell(again, offer("first", "Ben"))
        await called(again, f"decline first {DeclineReason.GENERIC}")
        assert await rig.actions.unblock("Ben", by="socket") == "Ben may play again at arena"
        with pytest.raises(ControlError, match="Ben was not blocked at arena by command; see also"):
            await rig.actions.unblock("Ben", by="socket")
        await tell(again, offer("second", "Ben"))
        await called(again, "accept second")


async def test_a_challenge_to_its_end(database: Database) -> None:
    server = FakeServer(pick=picker(1))
    said: list[str] = []
    async with opened_rig(server, database) as rig:
        await tell(server)
        chess = asyncio.create_task(
            rig.actions.challenge("anna", replace(TERMS, variant="chess"), by="socket", tell=said.append)
        )
        await called(server, "challenge anna standard")  # as the site calls it
        server.replies.put_nowait(Reply("", False, "later"))
        with pytest.raises(RefusedError, match="anna did not accept: later"):
            await chess
        work = asyncio.create_task(rig.actions.challenge("anna", TERMS, by="socket", tell=said.append))
        await called(server, "challenge anna othello")
        server.replies.put_nowait(Reply(GAME_ID, True, "accepted"))
        await rig.playing(server)
        async with asyncio.timeout(PATIENCE_S):
            assert (await work).startswith(f"game {GAME_ID}: ")
        with pytest.raises(ControlError, match="arena has no variant 'draughts'"):
            await rig.actions.challenge("anna", replace(TERMS, variant="draughts"), by="socket")
        rig.runners["home"].lobby = None
        with pytest.raises(ControlError, match="account home is not signed in at the moment"):
            await rig.actions.challenge("anna", TERMS, by="socket")
    assert said == ["challenging anna to standard 3+2", "challenging anna to othello 3+2"]


async def test_a_challenge_at_odds(database: Database) -> None:
    server = FakeServer()
    casual = replace(TERMS, rated=False, side=1)
    async with opened_rig(server, database) as rig:
        await tell(server)
        for proposal, name, why in (
            (casual, "queen", "othello has no odds 'queen'; known: 1-corner, 2-corners, 3-corners"),
            (replace(casual, variant="connect4"), "queen", "connect4 has no odds 'queen'; known: none"),
            (replace(casual, variant="chess960"), "queen", "does not let us set the position of chess960"),
            (replace(casual, rated=True), "1-corner", "not rated: challenge with --casual"),
        ):
            with pytest.raises(ControlError, match=why):
                await rig.actions.challenge("anna", proposal, odds=name, by="socket")
        work = asyncio.create_task(rig.actions.challenge("anna", casual, odds="1-corner", by="socket"))
        await called(server, "challenge anna othello")
        assert server.proposals[-1].initial_position == "b7/8/8/3wb3/3bw3/8/8/8 b"
        server.replies.put_nowait(Reply("", False, "later"))
        with pytest.raises(RefusedError, match="anna did not accept: later"):
            await work


async def test_a_block_needs_no_connection(database: Database) -> None:
    """Our account may not be signed in, or no program may run at all."""
    server = FakeServer()
    async with opened_rig(server, database) as rig:
        rig.runners["home"].lobby = None
        assert await rig.actions.block("ben", by="socket") == "ben is blocked at arena"
        assert (await rig.trail())[-1][1:] == ("block", "socket", "ben is blocked at arena")


async def test_a_challenge_from_a_page_waits_for_no_game(database: Database) -> None:
    server = FakeServer()
    async with opened_rig(server, database) as rig:
        await tell(server)
        running = asyncio.create_task(rig.actions.run(rig.time.sleep))
        begun = asyncio.create_task(rig.actions.begin_challenge("anna", TERMS, by="dashboard", timeout_s=0))
        await called(server, "challenge anna othello")
        async with asyncio.timeout(PATIENCE_S):
            assert await begun == "challenged anna to othello 3+2; no answer yet, or the game is running"
        assert await rig.trail() == []
        running.cancel()  # the program ends: the challenge has an owner, who withdraws it
        with pytest.raises(asyncio.CancelledError):
            await running
        assert not rig.actions._challenges
        assert await rig.trail() == [("desdemona", "challenge", "dashboard", "cancelled")]


async def test_a_refusal_is_told_at_once_and_a_later_one_in_the_trail(database: Database) -> None:
    server = FakeServer()
    async with opened_rig(server, database) as rig:
        await tell(server)
        odd = replace(TERMS, variant="draughts")
        with pytest.raises(ControlError, match="arena has no variant 'draughts'"):
            await rig.actions.begin_challenge("anna", odd, by="dashboard", timeout_s=PATIENCE_S)
        await rig.actions.begin_challenge("anna", TERMS, by="dashboard", timeout_s=0)
        (task,) = rig.actions._challenges
        await called(server, "challenge anna othello")
        server.replies.put_nowait(Reply("", False, "later"))
        await asyncio.wait([task], timeout=PATIENCE_S)
        assert [result for *_, result in await rig.trail()] == [
            "refused: arena has no variant 'draughts'; known: othello, standard, chess960, fromPosition, "
            "xiangqi, connect4",
            "refused: anna did not accept: later",
        ]
        assert not rig.actions._challenges


async def test_what_is_cancelled_fails_or_crashes_is_noted(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = FakeServer()
    async with opened_rig(server, database) as rig:
        await tell(server)
        work = asyncio.create_task(rig.actions.challenge("anna", TERMS, by="socket"))
        await called(server, "challenge anna othello")
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        monkeypatch.setattr(rig.lobby, "leave_tournament", crash)
        with pytest.raises(ZeroDivisionError):
            await rig.actions.leave_tournament("x", by="socket")
        assert [result for *_, result in await rig.trail()] == ["cancelled", "crashed: ZeroDivisionError()"]


async def crash(_key: str) -> None:
    raise ZeroDivisionError


async def test_an_action_is_done_though_the_database_does_not_record_it(
    database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise StorageError("the disk is full")

    async with opened_rig(FakeServer(), database) as rig:
        monkeypatch.setattr(rig.actions._audit._database, "write", fail)
        await rig.actions.pause(by="socket")
        assert rig.program.pause.holds_back_games
        monkeypatch.undo()
    assert "cannot record the operator's action pause: the disk is full" in caplog.text


async def test_settings_and_logging(database: Database) -> None:
    logger = logging.getLogger("bot")
    before = logger.level
    async with opened_rig(FakeServer(), database) as rig:
        assert await rig.actions.reload(by="socket") == "settings reloaded; changed: challenges"
        try:
            said = await rig.actions.set_log_level("debug", by="socket")
            assert said.startswith("log level set to DEBUG; it was ")
            assert logger.level == logging.DEBUG
            assert (await rig.actions.status()).log_level == "DEBUG"
            with pytest.raises(ConfigError, match=r"log level 'LOUD' is not known; known: DEBUG, INFO"):
                await rig.actions.set_log_level("loud", by="socket")
        finally:
            for name in ("bot", "engine", "lab", "storage"):
                logging.getLogger(name).setLevel(before)


async def test_alarms_are_acknowledged_and_snoozed(database: Database) -> None:
    async with opened_rig(FakeServer(), database) as rig:
        for at_s in (0.0, 400.0):
            rig.program.alarms.evaluate(HealthSample(at_s, overdue_s={"abc": 99.0}, disk=DiskSample(1, 1)))
        assert "stuck" in {alarm.name for alarm in (await rig.actions.status()).firing}
        assert (
            await rig.actions.acknowledge("stuck", by="socket") == "alarm stuck: acknowledged until it clears"
        )
        assert await rig.actions.snooze("disk", 30, by="dashboard") == "alarm disk: snoozed for 30 minutes"
        with pytest.raises(AlarmError, match="no alarm 'flood'"):
            await rig.actions.snooze("flood", 30, by="socket")
        first, second, third = await rig.trail()
        assert first == ("", "ack", "socket", "alarm stuck: acknowledged until it clears")
        assert second == ("", "snooze", "dashboard", "alarm disk: snoozed for 30 minutes")
        assert third[3].startswith("refused: no alarm 'flood'; known: link_down, ")
        known = {alarm.name: alarm for alarm in rig.actions.alarms}
        assert known["stuck"].acknowledged_by == "socket"
        assert known["disk"].snoozed_until is not None
        shown = "\n".join(status_lines(await rig.actions.status()))
        assert "\n  stuck: firing for " in shown
        assert ", acknowledged by socket: game abc: our move is 99 s overdue. Check the log" in shown
