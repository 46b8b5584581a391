"""trials, and the games of each

Revision: 0009, after 0008
Date: 2026-11-25
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "trials",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("arms", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("configurations", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("strata", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("opt", sa.Integer(), nullable=False),
        sa.Column("alpha", sa.Float(precision=53), nullable=False),
        sa.Column("cap", sa.Integer(), nullable=False),
        sa.Column("endpoint", sa.String(length=32), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("open_slot", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trials")),
        sa.UniqueConstraint("name", name=op.f("uq_trials_name")),
        sa.UniqueConstraint("open_slot", name=op.f("uq_trials_open_slot")),
    )
    with op.batch_alter_table("games", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column("trial_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True)
        )
        batch_op.create_foreign_key(op.f("fk_games_trial_id"), "trials", ["trial_id"], ["id"])
        batch_op.create_index("ix_games_trial", ["trial_id"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("games", schema=None) as batch_op:
        batch_op.drop_index("ix_games_trial")
        batch_op.drop_constraint(op.f("fk_games_trial_id"), type_="foreignkey")
        batch_op.drop_column("trial_id")
    op.drop_table("trials")
