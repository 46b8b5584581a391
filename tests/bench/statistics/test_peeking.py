from bench.statistics.peeking import false_alarms


def test_a_trial_may_be_read_after_every_game() -> None:
    found = false_alarms(runs=150, games=2000, seed=7)
    assert found.ours <= 0.08
    assert found.ordinary >= 0.2
