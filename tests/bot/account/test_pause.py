from bot.account.pause import Pause


def test_a_pause_with_an_end_and_one_without() -> None:
    now, told = [0.0], []
    pause = Pause(lambda: now[0])
    pause.follow("us", lambda: told.append(pause.holds_back_games))
    assert (pause.holds_back_games, pause.has_expired) == (False, False)
    pause.begin()
    now[0] = 1e9
    assert (pause.holds_back_games, pause.has_expired) == (True, False)
    pause.begin(60)
    now[0] += 59.5
    assert pause.holds_back_games
    now[0] += 0.5
    assert (pause.holds_back_games, pause.has_expired) == (False, True)
    pause.end()
    assert not pause.has_expired
    assert told == [True, True, False]
    pause.leave("us")
    pause.leave("us")
    pause.begin()
    assert len(told) == 3
