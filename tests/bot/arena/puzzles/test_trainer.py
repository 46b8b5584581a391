"""Training over HTTP: who is shown what, what counts, and what a cheat gets."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from sqlalchemy import LargeBinary, type_coerce, update

from bot.arena.puzzles.trainer import ReplyTrainer
from bot.arena.traffic.budgets import REQUEST_COSTS
from storage.arena.account_actions import set_access
from storage.arena.accounts import ArenaAccess
from storage.arena.puzzles import positions, solvers
from storage.arena.puzzles.positions import PuzzleRating
from storage.tables.arena import ArenaGame
from storage.tables.games import DecisionRow, GameRow
from tests.bot.arena.conftest import House, Json, Player, Street
from tests.bot.arena.puzzles.samples import TRAPS, add_mistake

CHESS, OTHELLO = TRAPS["chess"], TRAPS["othello"]
BEST, ALSO = CHESS.good
MORNING = datetime(2026, 3, 1, 8, tzinfo=UTC)
TELLING = ("good", "cost", "bait", "decision", "source", "probability", "line", "shown_centi")


class Room:
    """An arena whose trainer has the time that the test says."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.now = MORNING
        house.arena.trainer._now = lambda: self.now
        house.arena.trainer._random = Random(1)

    async def mistakes(self, game: str, key: str, person: str, **options: Any) -> None:
        async with self.house.database.write() as session:
            await add_mistake(session, game, key, person, **options)
        await self.house.arena.importer.poll()

    async def ask(self, who: Player | None, method: str, path: str, **options: Any) -> tuple[int, Any]:
        if who is None:
            return await self.house.request(method, path, **options)
        return await who.request(method, path, **options)

    async def next(self, who: Player | None, query: str = "game=chess") -> Any:
        status, told = await self.ask(who, "GET", f"/api/train/next?{query}")
        assert status == 200, told
        return told

    async def open(self, who: Player | None, query: str = "game=chess") -> str:
        """The name of the position in front of somebody."""
        name: str = (await self.next(who, query))["position"]["id"]
        return name

    async def post(self, who: Player | None, what: str, position: str, **fields: str) -> tuple[int, Any]:
        return await self.ask(who, "POST", f"/api/train/{what}", json={"position": position, **fields})

    async def answer(self, who: Player | None, position: str, reply: str) -> Any:
        status, told = await self.post(who, "answer", position, reply=reply)
        assert status == 200, told
        return told

    async def rating_of(self, position: str) -> PuzzleRating:
        async with self.house.database.read() as session:
            found = await positions.get_position_rating(session, int(position.partition(".")[0]))
        assert found is not None
        return found

    async def strength(self, who: Player, game: str = "chess") -> PuzzleRating:
        async with self.house.database.read() as session:
            found = await solvers.get_solver(session, who.id, game)
        assert found is not None
        return found.strength


@pytest.fixture
async def room(house: House) -> Room:
    """Ben fell in a game of chess."""
    made = Room(house)
    await made.mistakes("chess", "gameofBe", "Ben")
    return made


@pytest.fixture
async def anna(room: Room) -> Player:
    return await room.house.person("Anna")


def is_silent(told: Json) -> bool:
    """Whether nothing of the solution is in an answer."""
    text = json.dumps(told)
    return not [word for word in TELLING if f'"{word}"' in text] and "gameofBe" not in text


async def test_a_sound_reply_is_found_and_rated(room: Room, anna: Player) -> None:
    told = await room.next(anna)
    assert is_silent(told)
    assert told["position"]["why"] == "new"
    assert told["position"]["toMove"] == "white"
    assert told["you"] == {
        "rating": 1500, "provisional": True, "answers": 0, "solved": 0, "due": 0, "nextDueAt": None,
    }  # fmt: skip
    before = await room.rating_of(told["position"]["id"])
    found = await room.answer(anna, told["position"]["id"], ALSO)  # not the best, and sound
    assert (found["right"], found["done"], found["unrated"], found["againAt"]) == (True, True, None, None)
    assert [each["move"] for each in found["good"]] == [BEST, ALSO]
    assert found["bait"]["move"] == found["bait"]["line"][0]["move"] == CHESS.bait
    assert found["source"] == {"game": "gameofBe", "ply": 1}
    assert found["met"] == {"answers": 0, "solved": 0}  # by others
    assert found["you"]["diff"] > 0
    assert found["you"]["rating"] == 1500 + found["you"]["diff"] == round((await room.strength(anna)).rating)
    after = await room.rating_of(told["position"]["id"])
    assert after.rating < before.rating
    assert (after.answers, after.solved) == (1, 1)
    assert (await room.next(anna))["position"] is None  # done


async def test_answering_again_changes_no_rating(room: Room, anna: Player) -> None:
    name = await room.open(anna)
    answers = await asyncio.gather(*[room.post(anna, "answer", name, reply=BEST) for _ in range(4)])
    assert sorted(status for status, _ in answers) == [200, 409, 409, 409]
    assert (await room.strength(anna)).answers == 1
    assert (await room.rating_of(name)).answers == 1
    for what, fields in (("answer", {"reply": BEST}), ("show", {}), ("hint", {}), ("skip", {})):
        status, told = await room.post(anna, what, name, **fields)
        assert (status, list(told)) == (409, ["error"])
    assert (await room.strength(anna)).answers == 1


async def test_only_the_first_answer_counts(room: Room, anna: Player) -> None:
    name = await room.open(anna)
    told = await room.answer(anna, name, CHESS.poor)
    assert set(told) == {"right", "done", "unrated", "you", "againAt", "reply"}
    assert (told["right"], told["done"], told["unrated"]) == (False, False, None)
    assert set(told["reply"]) == {"move", "name", "squares", "cost", "isBait", "probability", "text"}
    assert told["you"]["diff"] < 0
    lost, harder = await room.strength(anna), await room.rating_of(name)
    assert harder.rating > 1500 - 400
    for reply, is_right in ((CHESS.bait, False), (CHESS.poor, False), (BEST, True)):
        told = await room.answer(anna, name, reply)
        assert (told["right"], told["unrated"], told["you"]["diff"]) == (is_right, "again", 0)
    assert (await room.strength(anna), await room.rating_of(name)) == (lost, harder)


async def test_a_miss_comes_back_after_1_3_and_7_days(room: Room, anna: Player) -> None:
    name = await room.open(anna)
    await room.answer(anna, name, CHESS.bait)
    await room.answer(anna, name, BEST)
    for days in (1, 3, 7):
        room.now += timedelta(days=days, seconds=-1)
        told = await room.next(anna)
        assert (told["position"], told["you"]["due"]) == (None, 0)
        assert told["you"]["nextDueAt"] is not None
        room.now += timedelta(seconds=1)
        told = await room.next(anna)
        assert (told["position"]["why"], told["you"]["due"]) == ("again", 1)
        told = await room.answer(anna, told["position"]["id"], BEST)
        assert told["unrated"] == "again"
    assert told["againAt"] is None
    room.now += timedelta(days=100)
    assert (await room.next(anna))["position"] is None


async def test_ones_own_falls_come_first_and_are_not_rated(room: Room, anna: Player) -> None:
    await room.mistakes("chess", "gameofAn", "Anna", ply=4)
    told = await room.next(anna)
    assert told["position"]["why"] == "own"
    assert told == await room.next(anna)  # until it is done
    told = await room.answer(anna, told["position"]["id"], BEST)
    assert (told["unrated"], told["you"]["diff"], told["source"]["game"]) == ("own", 0, "gameofAn")
    told = await room.next(anna)
    assert told["position"]["why"] == "new"
    found = await room.answer(anna, told["position"]["id"], BEST)
    assert found["source"]["game"] == "gameofBe"


async def test_a_hint_names_the_bait_and_takes_the_win(room: Room, anna: Player) -> None:
    name = await room.open(anna)
    status, told = await room.post(anna, "hint", name)
    assert (status, set(told)) == (200, {"bait"})
    assert told["bait"]["move"] == CHESS.bait
    told = await room.answer(anna, name, BEST)
    assert (told["unrated"], told["you"]["answers"]) == ("hint", 0)
    assert told["againAt"] == (room.now + timedelta(days=1)).isoformat()
    ben = await room.house.person("Carl")
    name = await room.open(ben)
    await room.post(ben, "hint", name)
    assert (await room.answer(ben, name, CHESS.bait))["unrated"] is None  # but not the loss


async def test_a_look_at_the_solution_is_a_miss(room: Room, anna: Player) -> None:
    name = await room.open(anna)
    status, told = await room.post(anna, "show", name)
    assert status == 200
    assert (told["right"], told["done"], told["unrated"], told["decision"]["reply"]) == (
        False, True, None, None,
    )  # fmt: skip
    assert told["you"]["diff"] < 0
    assert told["againAt"] is not None
    assert (await room.next(anna))["position"] is None


async def test_a_skipped_one_comes_tomorrow_and_is_rated_then(room: Room, anna: Player) -> None:
    name = await room.open(anna)
    assert await room.post(anna, "skip", name) == (200, {"ok": True})
    assert (await room.next(anna))["position"] is None
    room.now += timedelta(days=1)
    assert (await room.answer(anna, await room.open(anna), BEST))["unrated"] is None


async def test_without_an_account_one_trains_without_a_rating(room: Room, anna: Player) -> None:
    told = await room.next(None)
    assert is_silent(told)
    assert told["you"] is None
    name = told["position"]["id"]
    number, _, signature = name.partition(".")
    before = await room.rating_of(number)
    assert (await room.answer(None, name, CHESS.poor))["right"] is False
    for _ in range(2):
        told = await room.answer(None, name, BEST)
        assert (told["right"], told["unrated"], told["you"]) == (True, "free", None)
    assert (await room.next(None, f"game=chess&seen={name}"))["position"] is None
    assert await room.rating_of(number) == before
    # Nobody gets the solution of a position that was not shown to them.
    other = ReplyTrainer(room.house.database, "arena", room.house.arena.importer)
    for asked in (number, f"{number}.{signature[::-1]}", f"{number}.", other._signed(int(number)), "1" * 30):
        for who in (None, anna):
            status, told = await room.post(who, "show", asked)
            assert status in (404, 409), asked
            assert list(told) == ["error"]


async def test_names_from_before_a_restart_are_still_left_out(room: Room, anna: Player) -> None:
    number = await room.open(anna)
    other = ReplyTrainer(room.house.database, "arena", room.house.arena.importer)
    old = other._signed(int(number))
    for query in ("game=chess", "from=gameofBe"):
        assert (await room.next(None, f"{query}&seen=x,-1,{'9' * 30}"))["position"] is not None
        assert (await room.next(None, f"{query}&seen=x,{old}"))["position"] is None
    # Whoever is rated leaves out nothing.
    told = await room.post(anna, "skip", number)
    assert told[0] == 200
    room.now += timedelta(days=1)
    assert (await room.next(anna, f"game=chess&seen={number}"))["position"]["id"] == number


async def test_a_solution_that_was_looked_up_wins_nothing(room: Room, anna: Player) -> None:
    """Whoever answers the position in front of them by another way has answered it."""
    name = await room.open(anna)
    free = (await room.next(None))["position"]["id"]
    assert free.startswith(f"{name}.")
    status, told = await room.post(anna, "show", free)
    assert (status, told["unrated"]) == (200, "free")
    assert (await room.strength(anna)).answers == 0
    assert (await room.post(anna, "answer", name, reply=BEST))[0] == 409
    room.now += timedelta(days=1)
    assert (await room.answer(anna, await room.open(anna), BEST))["unrated"] == "hint"


async def test_a_free_answer_takes_the_win_and_not_the_loss(room: Room, anna: Player) -> None:
    free = await room.open(None)
    assert (await room.answer(anna, free, CHESS.poor))["unrated"] == "free"
    room.now += timedelta(days=1)
    told = await room.answer(anna, await room.open(anna), CHESS.bait)
    assert told["unrated"] is None
    assert told["you"]["diff"] < 0


async def test_a_free_answer_leaves_the_position_in_front_where_it_is(room: Room, anna: Player) -> None:
    in_front = await room.open(anna)
    await room.mistakes("chess", "gameofCy", "Cyd", ply=2)
    free = await room.open(None, f"game=chess&seen={in_front}")
    assert free.partition(".")[0] != in_front
    assert (await room.answer(anna, free, BEST))["done"]
    assert (await room.answer(anna, in_front, BEST))["unrated"] is None


async def test_a_line_after_another_bait_is_not_shown(room: Room, anna: Player) -> None:
    """Its moves may be illegal here."""
    name = await room.open(anna)
    async with room.house.database.write() as session:
        await positions.save_bait_line(session, int(name), "a1a8 h8h1")
    found = await room.answer(anna, name, BEST)
    assert [each["move"] for each in found["bait"]["line"]] == [CHESS.bait]


async def test_what_there_is_to_find_in_a_game(room: Room, anna: Player) -> None:
    async with room.house.database.write() as session:
        await add_mistake(session, "chess", "gameofAn", "Anna", settled=False, ply=2)
    status, told = await room.ask(anna, "GET", "/api/train/next?from=gameofAn")
    assert (status, "still being analysed" in told["error"]) == (400, True)
    async with room.house.database.write() as session:
        await session.execute(update(GameRow).values(is_settled=True))
    told = await room.next(anna, "from=gameofAn")  # taken up at once
    assert (told["number"], told["of"], told["you"], told["position"]["why"]) == (1, 1, None, "own")
    assert (await room.next(None, "from=gameofAn"))["position"]["why"] == "game"
    name = told["position"]["id"]
    told = await room.answer(anna, name, CHESS.bait)
    assert (told["unrated"], told["againAt"] is not None) == ("free", True)
    assert (await room.answer(anna, name, BEST))["right"]
    assert (await room.next(anna, f"from=gameofAn&seen={name}"))["position"] is None
    room.now += timedelta(days=1)  # a miss there comes back, too
    assert (await room.next(anna))["position"]["id"] == name.partition(".")[0]
    for path, status in (("from=nosuchgm", 404), ("from=gameofAn/x", 404)):
        assert (await room.ask(anna, "GET", f"/api/train/next?{path}"))[0] == status


async def test_a_running_game_is_not_shown(room: Room, anna: Player) -> None:
    async with room.house.database.write() as session:
        await session.execute(update(ArenaGame).values(ended_at=None, status="started"))
    assert (await room.next(anna))["position"] is None
    assert (await room.ask(anna, "GET", "/api/train/next?from=gameofBe"))[0] == 403
    bot = await room.house.bot("Desdemona")
    game = await room.house.start(anna, bot)
    assert (await room.ask(anna, "GET", f"/api/train/next?from={game}"))[0] == 403


async def test_where_games_are_not_public_everybody_has_their_own(street: Street) -> None:
    room = Room(await street.open(public_games=False))
    anna = await room.house.person("Anna")
    await room.mistakes("chess", "gameofBe", "Ben")
    await room.mistakes("chess", "gameofAn", "Anna", ply=2)
    name = await room.open(anna)
    assert (await room.answer(anna, name, BEST))["source"]["game"] == "gameofAn"
    assert (await room.next(anna))["position"] is None
    assert (await room.next(None))["position"] is None
    for who, game, shown in ((anna, "gameofAn", 1), (anna, "gameofBe", 0), (None, "gameofBe", 0)):
        assert (await room.next(who, f"from={game}"))["of"] == shown


async def test_programs_and_those_who_wait_for_approval_have_no_rating(room: Room, anna: Player) -> None:
    async with room.house.database.write() as session:
        await set_access(session, "anna", ArenaAccess.PENDING)
    room.house.arena.accounts.forget("anna")
    for who in (anna, await room.house.bot("Robot")):
        told = await room.next(who)
        assert told["you"] is None
        assert (await room.answer(who, told["position"]["id"], BEST))["unrated"] == "free"


async def test_bad_requests(room: Room, anna: Player) -> None:
    name = await room.open(anna)
    for what, body, part in (
        ("answer", {"position": name, "reply": "e9e9"}, "'e9e9' is not a legal reply here; legal: "),
        ("answer", {"position": name}, "reply is missing"),
        ("hint", {}, "position is missing"),
        ("skip", {"position": 7}, "position is not text"),
    ):
        status, told = await room.ask(anna, "POST", f"/api/train/{what}", json=body)
        assert status == 400
        assert part in told["error"]
    status, told = await room.ask(anna, "GET", "/api/train/next?game=go")
    assert (status, told["error"]) == (
        400, "There is no game 'go'; there are othello, chess, xiangqi, connect4",
    )  # fmt: skip
    assert (await room.strength(anna)).answers == 0


async def test_each_game_has_a_rating_of_its_own(room: Room, anna: Player) -> None:
    await room.mistakes("othello", "gameofB2", "Ben")
    assert (await room.answer(anna, await room.open(anna), BEST))["unrated"] is None
    told = await room.next(anna, "game=othello")
    assert told["you"]["answers"] == 0
    assert (await room.answer(anna, told["position"]["id"], OTHELLO.bait))["you"]["diff"] < 0
    assert (await room.strength(anna)).rating > 1500 > (await room.strength(anna, "othello")).rating


async def test_damaged_records_are_left_out(room: Room, anna: Player) -> None:
    name = await room.open(anna)
    async with room.house.database.write() as session:
        record = type_coerce(DecisionRow.record, LargeBinary)
        await session.execute(update(DecisionRow).values({record: b"?"}))
    room.house.arena.trainer._problems._values.clear()
    assert (await room.next(anna))["position"] is None
    assert (await room.next(None))["position"] is None
    status, told = await room.post(anna, "answer", name, reply=BEST)
    assert (status, list(told)) == (404, ["error"])


async def test_requests_cost_points(street: Street) -> None:
    house = await street.open(work_per_address=3.0)
    paths = ("next", "answer", "hint", "show", "skip")
    assert all(REQUEST_COSTS[f"/api/train/{path}"] >= 5 for path in paths)
    answers = [await house.request("GET", "/api/train/next?game=chess") for _ in range(4)]
    assert [status for status, _ in answers] == [200, 200, 429, 429]
