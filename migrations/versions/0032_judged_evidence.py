"""summaries know the judge's version and what it has yet to judge; costs in the views are the judge's

Revision: 0032, after 0031
Date: 2026-11-29
"""

from importlib import import_module
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
VERSIONS = ("layout", "rule", "forecast_rule")
COUNTS = ("baits_set", "baits_taken", "slips")
PACKED = ("game", "replies")
VIEWS = import_module("migrations.versions.0017_views")
NEW_NAMES = import_module("migrations.versions.0028_view_names").NEW_NAMES
LATEST = "(select max(version) from judged_games)"
"""The version of the judge whose costs the views show: one for all of them, whatever is judged again."""
JUDGED = f"left join judgements j on j.decision_id=d.id and j.version={LATEST}"
SLIPS = f"case when s.unjudged=0 and s.judge_version={LATEST} then s.slips end"


def upgrade() -> None:
    op.create_index("ix_judged_games_version", "judged_games", ["version"])
    op.drop_index("ix_game_summaries_stamp", "game_summaries")
    if op.get_bind().dialect.name == "sqlite":
        VIEWS.downgrade()
        _make_again((*VERSIONS, "judge_version"), (*COUNTS, "unjudged"))
        _make_views("create view", judged=True)
    else:
        # Its views stay, and with them the rights to read them.
        op.execute("DELETE FROM game_summaries")
        for name in ("judge_version", "unjudged"):
            op.add_column("game_summaries", _number(name))
        _make_views("create or replace view", judged=True)
    op.create_index(
        "ix_game_summaries_stamp", "game_summaries", [*VERSIONS, "judge_version", "game_id", "stamp"]
    )


def downgrade() -> None:
    op.drop_index("ix_game_summaries_stamp", "game_summaries")
    if op.get_bind().dialect.name == "sqlite":
        VIEWS.downgrade()
        _make_again(VERSIONS, COUNTS)
        _make_views("create view", judged=False)
    else:
        op.execute("DELETE FROM game_summaries")
        _make_views("create or replace view", judged=False)
        for name in ("unjudged", "judge_version"):
            op.drop_column("game_summaries", name)
    op.create_index("ix_game_summaries_stamp", "game_summaries", [*VERSIONS, "game_id", "stamp"])
    op.drop_index("ix_judged_games_version", "judged_games")


def _make_views(create: str, *, judged: bool) -> None:
    for name, select in _views(judged=judged).items():
        op.execute(f"{create} ask_{name} as {' '.join(select.split())}".replace(":", r"\:"))


def _views(*, judged: bool) -> dict[str, str]:
    """The SQL of each view by its name, with the judge's costs or those of the decisions."""
    dialect = VIEWS._dialect()
    same = {
        "strategy": "g.player",
        "probability": dialect.chance("g.selection", "g.player"),
        "expected_loss": dialect.number("f.bait_odds*f.bait_cost/10000.0"),
        "shallow_centi": f"-cast({dialect.item('r', 2)} as integer)",
    }
    views: dict[str, str] = VIEWS._views(dialect)
    for name, select in views.items():
        for old, new in NEW_NAMES.items():
            select = select.replace(f"{same[new]} {old},", f"{same[new]} {old},{same[new]} {new},")
        views[name] = select
    if judged:
        views["games"] = views["games"].replace("s.slips slips", f"{SLIPS} slips")
        views["opponents"] = views["opponents"].replace("sum(s.slips)", f"sum({SLIPS})")
        views["outcomes"] = (
            views["outcomes"]
            .replace("u.cost/10000.0", "j.cost/10000.0")
            .replace(
                "case when u.cost>=1000 then 1 else 0 end",
                "case when j.cost>=1000 then 1 when j.cost>=0 then 0 end",
            )
            .replace(" where d.takeback", f" {JUDGED} where d.takeback")
        )
        views["baits"] = (
            views["baits"]
            .replace("u.cost/10000.0", "j.cost/10000.0")
            .replace(" where f.bait", f" {JUDGED} where f.bait")
        )
    return views


def _make_again(versions: tuple[str, ...], counts: tuple[str, ...]) -> None:
    """The table without rows, which the program makes again."""
    columns: list[sa.Column[Any]] = [
        *map(_number, versions),
        sa.Column("stamp", KEY, nullable=False),
        *map(_number, counts),
        sa.Column("labels", sa.Text(), nullable=False),
        *(sa.Column(name, sa.LargeBinary(), nullable=False) for name in PACKED),
    ]
    op.drop_table("game_summaries")
    op.create_table(
        "game_summaries",
        sa.Column("game_id", KEY, nullable=False),
        *columns,
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_game_summaries_game_id")),
        sa.PrimaryKeyConstraint("game_id", name=op.f("pk_game_summaries")),
    )


def _number(name: str) -> "sa.Column[int]":
    return sa.Column(name, sa.Integer(), nullable=False)
