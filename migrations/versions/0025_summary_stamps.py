"""summaries with the trial of their game, its draw's chances, and a stamp; the games of a trial indexed

Revision: 0025, after 0024
Date: 2026-11-27
"""

from importlib import import_module

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
FIRST = ("layout", "rule", "forecast_rule")
COUNTS = ("outdated", "baits_set", "baits_taken", "slips")
UNREAD = ("timed", "fast", "judged", "optimal")
STAMPED = [*FIRST, "game_id", "stamp"]
VIEWS = import_module("migrations.versions.0017_views")


def upgrade() -> None:
    stamp = sa.Column("stamp", KEY, nullable=False)
    if op.get_bind().dialect.name == "sqlite":
        _make_anew(*map(_number, FIRST), stamp, *map(_number, COUNTS))
    else:
        _empty()
        for name in (*UNREAD, "optimal_expected"):
            op.drop_column("game_summaries", name)
        op.add_column("game_summaries", stamp)
    op.create_index("ix_game_summaries_stamp", "game_summaries", STAMPED)
    _index_trials("trial_id", "is_settled")


def downgrade() -> None:
    _index_trials("trial_id")
    op.drop_index("ix_game_summaries_stamp", "game_summaries")
    unread = (*map(_number, UNREAD), sa.Column("optimal_expected", sa.Double(), nullable=False))
    if op.get_bind().dialect.name == "sqlite":
        _make_anew(*map(_number, (*FIRST, *COUNTS)), *unread)
    else:
        _empty()
        op.drop_column("game_summaries", "stamp")
        for column in unread:
            op.add_column("game_summaries", column)


def _empty() -> None:
    """Without rows, which the program recomputes in the background; read permissions on its views stay."""
    op.execute("DELETE FROM game_summaries")


def _make_anew(*columns: "sa.Column[int] | sa.Column[float]") -> None:
    """The same where a column's place matters."""
    VIEWS.downgrade()
    op.drop_table("game_summaries")
    op.create_table(
        "game_summaries",
        sa.Column("game_id", KEY, nullable=False),
        *columns,
        *(_number(name) for name in ("lots", "lots_answered")),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("labels", "models")),
        # In this order, so that reading the first ones never touches the pages of the others.
        *(
            sa.Column(name, sa.LargeBinary(), nullable=False)
            for name in ("facts", "sums", "bait_phases", "phase_sums", "forecasts")
        ),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_game_summaries_game_id")),
        sa.PrimaryKeyConstraint("game_id", name=op.f("pk_game_summaries")),
    )
    VIEWS.upgrade()


def _number(name: str) -> "sa.Column[int]":
    return sa.Column(name, sa.Integer(), nullable=False)


def _index_trials(*columns: str) -> None:
    op.drop_index("ix_games_trial", "games")
    op.create_index("ix_games_trial", "games", [*columns])
