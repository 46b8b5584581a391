"""What the opponent's page says of the depth of its search."""

from bot.parts.values import TableCell, TablePart
from bot.views.statistics.search_depth import depth_parts
from engine.opponents.search_depth import DepthEstimate
from storage.evidence.queries.opponent_depths import GameDepth

KNOWN = DepthEstimate((0.01, 0.04, 0.95), 60, 0.9, 7, 2, 5)
UNKNOWN = DepthEstimate((0.3, 0.3, 0.4), 12, 0.9, 3, 1, 2)


def test_a_person() -> None:
    assert depth_parts((), is_bot=False) == ()
    (part,) = depth_parts((GameDepth("chess", KNOWN), GameDepth("othello", UNKNOWN)), is_bot=False)
    assert isinstance(part, TablePart)
    assert part.rows == (
        (
            "Chess",
            TableCell("a search of 3 plies or more", "probability 95 %"),
            TableCell("90 %", "of 60 replies"),
        ),
        ("Othello", TableCell("cannot be told", "from 12 replies"), "\N{EN DASH}"),
    )


def test_a_program_is_judged_at_its_depth() -> None:
    (part,) = depth_parts((GameDepth("chess", KNOWN), GameDepth("othello", UNKNOWN)), is_bot=True)
    assert isinstance(part, TablePart)
    assert [row[3:] for row in part.rows] == [("7", "2", "5"), ("3", "\N{EN DASH}", "\N{EN DASH}")]
