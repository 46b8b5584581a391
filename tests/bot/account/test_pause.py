from bot.account.pause import Pause


def test_a_pause_with_an_end_and_one_without() -> None:
    now, told = [0.0], []
    pause = Pause(lambda: now[0])
    pause.follow("us", lambda: told.append(pause.is_on))
    assert (pause.is_on, pause.has_run_out) == (False, False)
    pause.begin()
    now[0] = 1e9
    assert (pause.is_on, pause.has_run_out) == (True, False)
    pause.begin(60)
    now[0] += 59.5
    assert pause.is_on
    now[0] += 0.5
    assert (pause.is_on, pause.has_run_out) == (False, True)
    pause.end()
    assert not pause.has_run_out
    assert told == [True, True, False]
    pause.leave("us")
    pause.leave("us")
    pause.begin()
    assert len(told) == 3
