"""The fake says what a real server said in recorded dialogues, but for dates, times and help texts."""

from collections.abc import Iterator, Sequence

from tests.bot.servers.ggs.transcripts import Replay, halves, read
from tests.ggs.board import Board
from tests.ggs.clocks import Limits
from tests.ggs.game import GameType, Played
from tests.ggs.match import Stored, Terms
from tests.ggs.rating import Rating
from tests.shared_data import shared_path

QUIET = "verbose -news -faq -help -ack"
CLIENT, TEXT = "tell /os client +", "tell /os client -"
READY = ("tell /os open 1", "tell /os rated +", "tell /os trust +")


def laid(
    recording: str,
    *,
    asker_is_black: Sequence[bool] = (),
    requests: int = 0,
    matches: int = 0,
    keys: int = 0,
    ratings: Sequence[tuple[str, str, float, float]] = (),
) -> Replay:
    """The fake as the real server stood at the beginning of a recording.

    Args:
        recording: Name of the file.
        asker_is_black: As chance had it.
        requests: Next id.
        matches: Next id.
        keys: Next id of the archive.
        ratings: Name, pool, rating, deviation.
    """
    found = Replay(read(shared_path(f"ggs-transcripts/{recording}.jsonl")))
    service = found.central.service
    for user in ("alice", "bob", "carol"):
        found.central.register(user, f"{user[0]}pw")
        service.arrive(user, 1)
        service.leave(user)
    colours = iter(asker_is_black)
    service.asker_is_black = lambda: next(colours)
    service.request_ids.next_is(requests)
    service.match_ids.next_is(matches)
    service.next_key = keys
    for name, pool, rank, deviation in ratings:
        service.players[name].ratings[pool] = Rating(rank, deviation, date=found.central.seconds())
    return found


def compare(
    found: Replay, *, unlike: Sequence[str] = ("who", "rank", "top"), deaf: Sequence[str] = ("root",)
) -> None:
    """Replay, and look at what everybody heard.

    Args:
        found: What `laid` has made.
        unlike: First words of answers that the fake only sketches.
        deaf: Who need not be looked at.
    """

    def like(blocks: list[str]) -> Iterator[str]:
        return (block for block in blocks if not block.startswith(tuple(f"\n/os: {word}" for word in unlike)))

    found.run()
    for who, real in found.recorded().items():
        if who not in deaf:
            ours = halves(found.heard.get(who, ""))
            for half, whole in zip(ours, halves(real), strict=True):
                assert list(like(half)) == list(like(whole)), who


def test_login_and_help() -> None:
    found = laid("01_login")
    found.central.accounts.clear()
    compare(found)


def test_requests() -> None:
    found = laid("02_requests")
    for name in ("alice", "bob", "carol"):
        found.log_in(name, f"{name[0]}pw")
    compare(found)


def test_a_game_on_text_boards() -> None:
    found = laid("03_game_8_client-", asker_is_black=[True], requests=3)
    for name in ("alice", "bob"):
        found.log_in(name, f"{name[0]}pw", *READY, TEXT, "tell /os request +")
    found.log_in("carol", "cpw", "tell /os notify + *")
    compare(found)


def test_a_game_in_compact_messages() -> None:
    ratings = [("alice", "8", 1433.74, 290.23), ("bob", "8", 2006.26, 290.23)]
    found = laid("04_game_client+", requests=4, matches=1, keys=1, ratings=ratings)
    found.log_in("alice", "apw", "tell /os open 1", "tell /os trust +", CLIENT)
    found.log_in("bob", "bpw", "tell /os open 1", CLIENT)
    found.log_in("carol", "cpw", CLIENT, "tell /os track + alice")
    compare(found)


def test_errors_passes_and_a_wipe_out() -> None:
    ratings = [("alice", "8", 1433.74, 290.23), ("bob", "8", 2006.26, 290.23)]
    found = laid("05_errors_pass_wipeout", requests=5, matches=2, keys=2, ratings=ratings)
    for name in ("alice", "bob"):
        found.log_in(name, f"{name[0]}pw", "mso", *READY, TEXT)
    compare(found, unlike=("history",))


def test_a_synchro_match() -> None:
    found = laid("06_synchro_s8r18", requests=6, matches=3, keys=3)
    found.central.service.random_start = lambda *_: Board.read(
        "8 -------- ---**--- O-O**--- -O-**--- --O***-- -O-O---- --OOO--- -------- *"
    )
    for name, form in (("alice", TEXT), ("bob", CLIENT), ("carol", CLIENT)):
        found.log_in(name, f"{name[0]}pw", "mso", *READY, form)
    compare(found, unlike=("history", "finger", "rank"))


def test_stored_matches() -> None:
    ratings = [("alice", "8", 2016.01, 275.1), ("bob", "8", 1423.99, 275.1)]
    found = laid(
        "07_stored_continue_break_abort",
        asker_is_black=[False, False],
        requests=8,
        matches=5,
        keys=5,
        ratings=ratings,
    )
    service = found.central.service
    limits = Limits.parse("01:00//00:30")
    assert limits is not None
    moves = (Played.parse("*", "f5/0.5/0.3"), Played.parse("O", "f6//0.2"))
    stored = Stored(
        ".4",
        Terms(GameType.parse("8b"), True, ("alice", "bob"), (limits, limits)),
        found.central.seconds(),
        ((Board.usual(8).ggf, ("*", "O"), moves),),
    )
    for name in ("alice", "bob"):
        service.players[name].stored[".4"] = stored
    found.log_in("alice", "apw", "mso", "tell /os stored +", "notify + /os bob", TEXT)
    found.events["[[[ alice TCP connection dropped ]]]"] = lambda: found.drop("alice")
    compare(found)


def test_time_outs() -> None:
    ratings = [("alice", "8", 1442.926, 237.073), ("bob", "8", 1997.074, 237.073)]
    found = laid("09a_timeouts", requests=16, matches=12, keys=10, ratings=ratings)
    for name in ("alice", "bob"):
        found.log_in(name, f"{name[0]}pw", "mso", "tell /os open 1", "tell /os rated +", CLIENT)
    found.central.service.archive[".9"] = ""
    compare(found, unlike=("history", "look"))


def test_the_unregistered_channels_and_games_with_oneself() -> None:
    ratings = [("alice", "8", 1842.38, 221.8), ("bob", "8", 1597.62, 221.8)]
    found = laid(
        "10a_unregistered_selfplay_channels",
        asker_is_black=[True, True],
        requests=19,
        matches=15,
        keys=13,
        ratings=ratings,
    )
    found.log_in("root", "root", QUIET)
    for name in ("alice", "bob"):
        found.log_in(name, f"{name[0]}pw", "chann %", "mso", "tell /os open 1", "tell /os rated +", CLIENT)
    found.log_in("guest1", "x", QUIET)
    found.central.service.match_ids.next_is(15, 0)
    compare(found)


def test_a_restart_of_the_service() -> None:
    ratings = [("alice", "8", 1842.38, 221.8), ("bob", "8", 1597.62, 221.8)]
    found = laid(
        "10b_service_restart", asker_is_black=[True], requests=20, matches=16, keys=14, ratings=ratings
    )
    service = found.central.service
    limits = Limits()
    stored = Stored(
        ".4",
        Terms(GameType.parse("8b"), True, ("alice", "bob"), (limits, limits)),
        found.central.seconds(),
        (),
    )
    for name in ("alice", "bob"):
        service.players[name].stored[".4"] = stored
    found.log_in("root", "root", QUIET)
    for name in ("alice", "bob"):
        found.log_in(
            name, f"{name[0]}pw", "mso", "notify + /os", "tell /os open 1", "tell /os rated +", CLIENT
        )
    found.events["[[[ /os service process is stopped ]]]"] = lambda: None  # `quit /os` follows
    found.events["[[[ /os service process is started again ]]]"] = found.central.start_service
    compare(found, unlike=("finger",))
