"""The bench of matches against people: what it keeps of a game, and what its tables say of it."""

from pathlib import Path

import pytest

from bench import proof_in_play
from bench.proof_told import Row, read_rows, row_of, told, write_row
from bot.match.play import play
from bot.match.player_specs import HumanSpec, OtherSpec
from engine.games import get_game
from engine.human.shallow import ShallowOptions


def test_every_player_meets_the_same_people_in_the_same_openings() -> None:
    games = list(proof_in_play.tasks("othello-corners", 12, proof_in_play.Who()))
    assert len(games) == len(proof_in_play.PLAYERS) * 3 * 12
    assert {task.terms.depth for _, _, task in games} == {4}
    _, _, deeper = next(proof_in_play.tasks("othello-corners", 2, proof_in_play.Who(), 7))
    assert deeper.terms.depth == 7
    of = {(player, people, task.number): task for player, people, task in games}
    assert len(of) == len(games)
    for (_, people, number), task in of.items():
        control = of["standard", people, number]
        assert (task.opening, task.seed, task.terms.b) == (control.opening, control.seed, control.terms.b)
    first, second = (of["standard", "t1", number].opening for number in (0, 1))
    assert first is not None
    assert second is not None
    game = get_game("othello")
    theirs = [game.board_rows(game.parse_position(each.start or ""))[0][0] for each in (first, second)]
    assert theirs == ["w", "b"]  # a corner for whoever is not ours


def test_a_game_is_kept_and_read_back(tmp_path: Path) -> None:
    tasks = list(proof_in_play.tasks("othello-corners", 2, proof_in_play.Who()))
    kept = []
    path = tmp_path / "part.csv"
    with path.open("a", newline="") as file:
        for player, people, task in tasks:
            if people == "t1" and player in ("standard", "calibrated"):
                row = row_of(player, people, play(task))
                assert 20 <= row.judged <= 32
                assert row.falls <= row.traps <= row.judged
                assert row.taken <= row.baits <= row.judged
                assert row.errors <= row.judged
                assert (row.told > 0) == (player == "calibrated")
                assert row.points == (0.5 if row.discs == 0 else float(row.discs > 0))
                kept.append(row)
                write_row(file, row)
    found = read_rows(path)
    assert [(each.player, each.number, each.points) for each in found] == [
        (each.player, each.number, each.points) for each in kept
    ]
    assert [each.expected_falls for each in found] == pytest.approx(
        [each.expected_falls for each in kept], abs=1e-4
    )
    assert "| calibrated | 2: +" in told(found, ("standard", "calibrated"), 2)


def test_other_people_can_be_chosen() -> None:
    """The same openings for all; each kind of people by its own specification."""
    who = proof_in_play.Who(("standard", "tempting"), ("shallow",))
    games = list(proof_in_play.tasks("othello-corners", 2, who))
    assert [(player, people) for player, people, _ in games[::2]] == [
        (player, people) for player in ("standard", "tempting") for people in proof_in_play.SHALLOW
    ]
    spec = games[0][2].terms.b
    assert isinstance(spec, HumanSpec)
    assert spec.shallow == ShallowOptions(plies=1, percent=8, share_percent=5)
    everybody = proof_in_play.Who(("tempting",), ("shallow", "stockfish"), stockfish="/usr/games/stockfish")
    specs = [task.terms.b for _, _, task in proof_in_play.tasks("chess-odds", 2, everybody)]
    assert len(specs) == 12
    last = specs[-1]
    assert isinstance(last, OtherSpec)
    assert (last.command, last.options, last.depth) == (
        ("/usr/games/stockfish",),
        (("Skill Level", "6"),),
        8,
    )
    with pytest.raises(SystemExit, match="stockfish plays chess, not othello"):
        list(proof_in_play.tasks("othello-corners", 2, everybody))


def test_people_by_the_names_in_the_files() -> None:
    chess, othello = proof_in_play.PARTS["chess-odds"], proof_in_play.PARTS["othello-normal"]
    who = proof_in_play.Who(groups=proof_in_play.GROUPS, maia=Path("maia"))
    assert proof_in_play.names_of_people(chess, who.groups) == who.people(chess).keys()
    groups = proof_in_play.GROUPS[:2]
    assert (
        proof_in_play.names_of_people(othello, groups)
        == proof_in_play.Who(groups=groups).people(othello).keys()
    )


def test_tables_tell_players_apart() -> None:
    """Of pairs that are all alike there is nothing to be unsure of; half a pair does not count."""
    rows = [
        Row(player, "p", number, points, plies=40 + 10 * number % 2, discs=2, judged=10, errors=errs, traps=5)
        for player, points, errs in (("standard", 0.5, 1), ("best", 1.0, 2))
        for number in range(6)
    ]
    rows.append(Row("best", "p", 6, 0.0))
    lines = told(rows, ("standard", "best"), 8).splitlines()
    assert lines[2].startswith("| standard | 6: +0 =6 -0 | 50.0 (50.0 to 50.0) % |  | 0 (0 to 0) |")
    assert lines[3].startswith(
        "| best | 6: +6 =0 -0 | 100.0 (100.0 to 100.0) % | +50.0 (+50.0 to +50.0) | none |"
    )
    assert "| best | 2.00 (2.00 to 2.00) | +1.00 (+1.00 to +1.00) | 20.00" in lines[8]
    assert lines[-2:] == [
        "| standard | 50.0 (50.0 to 50.0) % |  |",
        "| best | 100.0 (100.0 to 100.0) % | +50.0 (+50.0 to +50.0) |",
    ]


def test_who_has_not_met_everybody_is_left_out() -> None:
    """A part may be told of while it is played."""
    rows = [Row("standard", people, number) for people in "pq" for number in (0, 1)]
    rows += [Row("best", "p", 0), Row("best", "p", 1), Row("best", "q", 0)]
    found = told(rows, ("standard", "best", "last"), 8)
    assert "standard" in found
    assert "best" not in found
    with pytest.raises(ValueError, match="best has not played"):
        told(rows, ("best", "standard"), 8)


def test_a_missing_folder_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "missing"
    monkeypatch.setattr("sys.argv", ["proof", "play", "othello-normal", "--folder", str(missing)])
    with pytest.raises(SystemExit) as stopped:
        proof_in_play.main()
    assert stopped.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"proof: error: --folder: {missing} is not a folder"
