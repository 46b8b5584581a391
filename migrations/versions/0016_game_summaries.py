"""summaries of the games that are over, for statistics of many games

Revision: 0016, after 0015
Date: 2026-11-25
"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Empty: the program makes them, in the background while it plays.
    op.create_table(
        "game_summaries",
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("layout", sa.Integer(), nullable=False),
        sa.Column("rule", sa.Integer(), nullable=False),
        sa.Column("forecast_rule", sa.Integer(), nullable=False),
        sa.Column("outdated", sa.Integer(), nullable=False),
        sa.Column("baits_set", sa.Integer(), nullable=False),
        sa.Column("baits_taken", sa.Integer(), nullable=False),
        sa.Column("slips", sa.Integer(), nullable=False),
        sa.Column("timed", sa.Integer(), nullable=False),
        sa.Column("fast", sa.Integer(), nullable=False),
        sa.Column("judged", sa.Integer(), nullable=False),
        sa.Column("optimal", sa.Integer(), nullable=False),
        sa.Column("optimal_expected", sa.Double(), nullable=False),
        sa.Column("models", sa.Text(), nullable=False),
        sa.Column("sums", sa.LargeBinary(), nullable=False),
        sa.Column("phase_sums", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_game_summaries_game_id")),
        sa.PrimaryKeyConstraint("game_id", name=op.f("pk_game_summaries")),
    )


def downgrade() -> None:
    op.drop_table("game_summaries")
