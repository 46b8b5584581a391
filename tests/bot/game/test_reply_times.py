"""Replies timed by the server's clock where it can be trusted, else by ours."""

from typing import Any

from bot.game.reply_times import ReplyTimer
from storage.records import ReplyTime, TimeSource

SERVER, MEASURED = TimeSource.SERVER, TimeSource.MEASURED


class Game:
    """A game in which we move first, on a clock of 60 s and 2 s a move; moves are numbered."""

    def __init__(self, plies: int = 0) -> None:
        self.timer = ReplyTimer()
        self.moves = tuple(map(str, range(plies)))

    def show(self, added: int, now: float, theirs_s: float | None, **more: Any) -> None:
        self.moves += tuple(str(len(self.moves) + each) for each in range(added))
        known: dict[str, Any] = {"increment_s": 2.0, "lag_s": 0.1, "is_theirs": len(self.moves) % 2 == 1}
        self.timer.update_clocks(self.moves, now=now, clock_s=theirs_s, **(known | more))

    def begun(self) -> "Game":
        """Both have moved, it is our turn at ply 2, and their clock stands at 60 s."""
        self.show(0, 0.0, 60.0)
        self.show(1, 1.0, 60.0)
        self.show(1, 4.0, 60.0)
        self.timer.times.clear()
        return self


def test_before_the_clocks_run_we_measure() -> None:
    game = Game()
    game.show(0, 0.0, 60.0)
    game.show(1, 1.0, 60.0)
    game.show(1, 4.0, 60.0)
    assert game.timer.times == {1: ReplyTime(3.0, MEASURED)}


def test_the_servers_clock_counts() -> None:
    game = Game().begun()
    game.timer.start(2, 9.9)
    game.show(1, 10.0, 60.0)
    game.show(1, 15.0, 57.3)
    assert game.timer.times == {3: ReplyTime(4.7, SERVER)}
    game.timer.start(4, 19.9)
    game.show(1, 20.0, 57.3)
    game.show(1, 20.3, 59.2)
    assert game.timer.times[5] == ReplyTime(0.1, SERVER)


def test_a_clock_with_a_delay_is_not_believed() -> None:
    """It shows the same before and after: the reply would have taken the whole delay."""
    game = Game().begun()
    game.timer.start(2, 9.9)
    game.show(1, 10.0, 60.0)
    game.show(1, 10.5, 60.0)
    assert game.timer.times == {3: ReplyTime(0.5, MEASURED)}


def test_whole_seconds_are_too_coarse() -> None:
    game = Game().begun()
    game.show(1, 10.0, 60.0)
    game.show(1, 11.6, 61.0)
    assert game.timer.times == {3: ReplyTime(1.6, MEASURED)}


def test_no_longer_than_from_sending_to_seeing() -> None:
    for told, source in ((2.14, SERVER), (2.16, MEASURED)):
        game = Game().begun()
        game.timer.start(2, 9.9)
        game.show(1, 10.0, 60.0)
        game.show(1, 12.0, 62.0 - told)
        assert game.timer.times[3].source is source
    game = Game().begun()  # not sent by us, as far as we know: the lag is the limit
    game.show(1, 10.0, 60.0)
    game.show(1, 12.0, 62.0 - 2.14)
    assert game.timer.times == {3: ReplyTime(2.14, SERVER)}


def test_no_shorter_than_servers_forgive() -> None:
    for told, took in ((3.91, ReplyTime(3.91, SERVER)), (3.89, ReplyTime(5.0, MEASURED))):
        game = Game().begun()
        game.show(1, 10.0, 60.0)
        game.show(1, 15.0, 62.0 - told)
        assert game.timer.times == {3: took}


def test_rounding_is_no_time_below_nothing() -> None:
    game = Game().begun()
    game.show(1, 10.0, 60.0)
    game.show(1, 10.2, 62.01)
    assert game.timer.times == {3: ReplyTime(0.0, SERVER)}


def test_our_move_and_the_reply_at_once() -> None:
    """As a move made beforehand comes: less the known lag."""
    for plies_s, took in ((10.4, 0.3), (10.05, 0.0)):
        game = Game().begun()
        game.timer.start(2, 10.0)
        game.timer.start(2, 10.01)  # another attempt
        game.show(2, plies_s, None)
        assert game.timer.times == {3: ReplyTime(took, MEASURED)}
    game = Game().begun()
    game.timer.start(2, 10.0)
    game.show(2, 11.0, 61.1)
    assert game.timer.times == {3: ReplyTime(0.9, SERVER)}


def test_without_a_clock_we_measure() -> None:
    game = Game()
    game.show(0, 0.0, None)
    game.show(1, 1.0, None)
    game.show(1, 91.0, None)
    game.show(1, 92.0, None)
    game.show(1, 92.5, None)
    assert game.timer.times == {1: ReplyTime(90.0, MEASURED), 3: ReplyTime(0.5, MEASURED)}


def test_while_the_link_was_down_only_the_server_knows() -> None:
    game = Game().begun()
    game.show(1, 10.0, 60.0)
    game.show(1, 50.0, 58.5, is_prompt=False)
    assert game.timer.times == {3: ReplyTime(3.5, SERVER)}
    game = Game().begun()
    game.show(1, 10.0, None)
    game.show(1, 50.0, None, is_prompt=False)
    assert game.timer.times == {}


def test_our_move_shown_late_is_no_beginning() -> None:
    game = Game().begun()
    game.timer.start(2, 10.0)
    game.show(1, 50.0, None, is_prompt=False)
    game.show(1, 51.0, None)
    assert game.timer.times == {3: ReplyTime(40.9, MEASURED)}


def test_the_same_moves_again_begin_nothing() -> None:
    game = Game().begun()
    game.show(1, 10.0, None)
    game.show(0, 13.0, None)
    game.show(1, 15.0, None)
    assert game.timer.times == {3: ReplyTime(5.0, MEASURED)}


def test_what_nobody_timed() -> None:
    joined = Game(3)  # in the middle of their turn
    joined.show(0, 0.0, 55.0)
    joined.show(1, 2.0, 54.0)
    assert joined.timer.times == {}
    several = Game().begun()
    several.show(1, 10.0, 60.0)
    several.show(3, 20.0, 50.0)
    assert several.timer.times == {}


def test_after_a_takeback_clocks_begin_anew() -> None:
    game = Game().begun()
    game.show(1, 10.0, 60.0)
    game.show(1, 15.0, 57.0)
    game.timer.times.clear()
    game.moves = game.moves[:3]
    game.show(0, 20.0, 50.0)  # their turn again, begun long ago
    game.moves += ("other",)
    game.show(0, 21.0, 51.0, is_theirs=False)
    assert game.timer.times == {}
    game.show(1, 30.0, 51.0)
    game.show(1, 33.0, 50.1)
    assert game.timer.times == {5: ReplyTime(2.9, SERVER)}


def test_the_first_time_stands() -> None:
    game = Game().begun()
    game.show(1, 10.0, None)
    game.show(1, 15.0, None)
    game.moves = game.moves[:2]
    game.show(0, 20.0, None)
    game.show(1, 21.0, None)
    game.show(1, 22.0, None)
    assert game.timer.times == {3: ReplyTime(5.0, MEASURED)}


def test_which_replies_clocks_may_tell() -> None:
    for plies, source in ((1, MEASURED), (2, SERVER)):
        game = Game(plies - 1)
        theirs = {"is_theirs": False}
        game.show(0, 0.0, 60.5, **theirs)
        game.show(1, 1.0, 60.5, is_theirs=True)
        game.show(1, 3.0, 60.6, **theirs)
        assert game.timer.times[plies].source is source


def test_a_clock_that_gains_is_not_believed() -> None:
    game = Game().begun()
    game.show(1, 10.0, 60.0)
    game.show(1, 10.2, 62.5)
    assert game.timer.times == {3: ReplyTime(0.2, MEASURED)}


def test_an_earlier_sending_says_nothing() -> None:
    game = Game().begun()
    game.timer.start(0, 0.5)
    game.show(2, 11.0, None)  # our move is somebody else's
    assert game.timer.times == {}
