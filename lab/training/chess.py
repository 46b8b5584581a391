"""Learns the weights of the chess evaluation: `python -m lab.training.chess`.

`lab.training.linear` describes the method.
"""

import sys
from pathlib import Path

import engine
from engine.games.chess_evaluation import DANGERS, GROUPS
from engine.games.linear_weights import linear_weights_file
from lab import _training
from lab.training.linear import Subject, main

SUBJECT = Subject(
    program="lab.training.chess",
    out=Path(engine.__file__).parent / "games" / linear_weights_file("chess"),
    trainer=_training.ChessTrainer,
    groups=GROUPS,
    material={
        "pawn_square": 100,
        "knight_square": 300,
        "bishop_square": 300,
        "rook_square": 500,
        "queen_square": 900,
    },
    anchor=("pawn_square", range(8, 40), 100),  # from the second rank to the fifth
    shapes={
        **{name: (8, 8) for name in GROUPS if name.endswith("_square")},
        **{name: (1, size) for name, size in GROUPS.items() if name.endswith("_mobility")},
        **{name: (1, DANGERS) for name in GROUPS if name.startswith("danger_")},
        **dict.fromkeys(("passed", "passed_free", "passed_safe", "supported", "phalanx"), (1, 8)),
        **dict.fromkeys(("passed_own_king", "passed_other_king"), (1, 8)),
    },
    unit="pawn",
)

if __name__ == "__main__":
    main(SUBJECT, sys.argv[1:])
