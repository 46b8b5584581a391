"""Learns the weights of the xiangqi evaluation: `python -m lab.training.xiangqi`.

`lab.training.linear` describes the method.
"""

import sys
from pathlib import Path

import engine
from engine.games.linear_weights import linear_weights_file
from engine.games.xiangqi_evaluation import DANGERS, GROUPS, PLACES
from lab import _training
from lab.training.linear import Subject, main

SUBJECT = Subject(
    program="lab.training.xiangqi",
    out=Path(engine.__file__).parent / "games" / linear_weights_file("xiangqi"),
    trainer=_training.XiangqiTrainer,
    groups=GROUPS,
    material={
        "soldier_place": 100,
        "advisor_place": 200,
        "elephant_place": 200,
        "horse_place": 450,
        "cannon_place": 450,
        "rook_place": 900,
    },
    anchor=("rook_place", range(PLACES), 900),
    shapes={
        **{name: (10, 5) for name in GROUPS if name.endswith("_place")},
        **{name: (1, size) for name, size in GROUPS.items() if name.endswith("_mobility")},
        **{name: (1, DANGERS) for name in GROUPS if name.startswith("danger_")},
        "guards": (3, 3),
        "advisors_versus": (3, 5),
        "elephants_versus": (3, 3),
    },
    unit="soldier: a chariot is worth nine",
)

if __name__ == "__main__":
    main(SUBJECT, sys.argv[1:])
