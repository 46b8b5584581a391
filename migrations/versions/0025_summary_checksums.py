"""summaries with the trial of their game, its draw's chances, and a checksum; the games of a trial indexed

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
CHECKED = ["layout", "rule", "forecast_rule", "game_id", "checksum"]
VIEWS = import_module("migrations.versions.0017_views")


def upgrade() -> None:
    # Empty: the program makes all summaries anew, in the background while it plays.
    VIEWS.downgrade()
    op.drop_table("game_summaries")
    _create(
        *(_number(name) for name in ("layout", "rule", "forecast_rule")),
        sa.Column("checksum", KEY, nullable=False),
        *(_number(name) for name in ("outdated", "baits_set", "baits_taken", "slips")),
    )
    op.create_index("ix_game_summaries_checksum", "game_summaries", CHECKED)
    op.drop_index("ix_games_trial", "games")
    op.create_index("ix_games_trial", "games", ["trial_id", "is_settled"])
    VIEWS.upgrade()


def downgrade() -> None:
    op.drop_index("ix_games_trial", "games")
    op.create_index("ix_games_trial", "games", ["trial_id"])
    VIEWS.downgrade()
    op.drop_table("game_summaries")
    _create(
        *(_number(name) for name in ("layout", "rule", "forecast_rule", "outdated")),
        *(_number(name) for name in ("baits_set", "baits_taken", "slips")),
        *(_number(name) for name in ("timed", "fast", "judged", "optimal")),
        sa.Column("optimal_expected", sa.Double(), nullable=False),
    )
    VIEWS.upgrade()


def _number(name: str) -> "sa.Column[int]":
    return sa.Column(name, sa.Integer(), nullable=False)


def _create(*columns: "sa.Column[int] | sa.Column[float]") -> None:
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
