"""Tests of the reader of xiangqi games."""

import gzip
import math
from pathlib import Path

import numpy as np
import pytest

from engine.human.xiangqi import MIRROR, should_mirror
from lab._training import xiangqi_human_positions
from lab.training.people.collection import from_native
from lab.training.people.games import read_collection
from lab.training.people.positions import LAST_TO, NONE, UnusableGames
from lab.training.people.shapes import XIANGQI
from lab.training.people.xiangqi_games import canonical, read_xiangqi
from tests.lab.training.people.habits import write_xiangqi, xiangqi_games


def test_xiangqi_collections_give_ratings_results_and_years(tmp_path: Path) -> None:
    file = tmp_path / "games.tsv"
    write_xiangqi(file, xiangqi_games(4), [2003, 2004, 2003, 2005])
    packed = tmp_path / "games.tsv.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    collection = read_collection("xiangqi", [packed], 0)
    positions = collection.positions
    assert set(positions.year[collection.held_out].tolist()) == {2004, 2005}
    assert set(positions.year[~collection.held_out].tolist()) == {2003}
    # Games 0 and 2 come first: p0 beats p1, and p2 draws with p3; game 1 is p1 against p2.
    third = positions.of((positions.game == 1) & (positions.ply == 2))
    rating, opponent, games = third.features[0].tolist()
    assert (rating, opponent) == (pytest.approx(-0.1), pytest.approx(0))
    assert games == pytest.approx(math.log(2) / 5)
    assert positions.of((positions.game == 0) & (positions.ply == 1)).result.tolist() == [0]
    assert positions.of((positions.game == 0) & (positions.ply == 2)).result.tolist() == [1]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "year\tred\n",
        "year\tred\tblack\tresult\tmoves\n",
        "year\tred\tblack\tresult\tmoves\n1999\ta\tb\t1-0\ta1a9\n",
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "games.tsv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UnusableGames):
        read_xiangqi([file])


def test_the_canonical_form_is_the_same_for_a_position_and_its_mirror_image() -> None:
    positions = from_native(XIANGQI, xiangqi_human_positions(xiangqi_games(3))).positions
    image = positions.of(np.arange(len(positions)))
    image.board[:] = positions.board[:, MIRROR]
    last = positions.marks[:, : LAST_TO + 1]
    image.marks[:, : LAST_TO + 1] = np.where(last == NONE, NONE, MIRROR[np.minimum(last, 89)])
    mirrored_moves = (MIRROR[positions.moves // 90] * 90 + MIRROR[positions.moves % 90]).astype(np.int16)
    image = type(image)(**vars(image) | {"moves": mirrored_moves})
    one, two = canonical(positions), canonical(image)
    assert np.array_equal(one.board, two.board)
    assert np.array_equal(one.marks, two.marks)
    is_symmetric = ~should_mirror(positions.board, last) & ~should_mirror(image.board, image.marks[:, :2])
    rows = np.repeat(~is_symmetric, positions.count)
    assert rows.sum() > 1000
    # The mirror changes the order of a position's moves, not the moves.
    of_row = np.repeat(np.arange(len(positions)), positions.count)
    assert sorted(zip(of_row[rows], one.moves[rows], strict=True)) == sorted(
        zip(of_row[rows], two.moves[rows], strict=True)
    )
