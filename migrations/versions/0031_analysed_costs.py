"""what replies in analysed games cost, by the judge

Revision: 0031, after 0030
Date: 2026-11-29
"""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TYPES = """
    ("is_best" IN (0, 1)) AND ("is_solved" IN (0, 1)) AND (typeof("cost") = 'integer')
    AND (typeof("depth") = 'integer') AND (typeof("position_id") = 'integer') AND (typeof("reply") = 'text')
    AND (typeof("score_centi") = 'integer') AND (typeof("version") = 'integer')"""
"""Conditions on the values in SQLite, whose columns would hold any."""


def upgrade() -> None:
    op.create_table(
        "analysed_costs",
        sa.Column("position_id", KEY, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("reply", sa.String(64), nullable=False),
        sa.Column("score_centi", sa.Integer(), nullable=False),
        sa.Column("cost", sa.Integer(), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("is_solved", sa.Boolean(), nullable=False),
        sa.Column("is_best", sa.Boolean(), nullable=False),
        sa.CheckConstraint("cost BETWEEN 0 AND 10000", name=op.f("ck_analysed_costs_cost")),
        sa.ForeignKeyConstraint(
            ["position_id"], ["analysed_positions.id"], name=op.f("fk_analysed_costs_position_id")
        ),
        sa.PrimaryKeyConstraint("position_id", "version", "reply", name=op.f("pk_analysed_costs")),
        *_types(),
    )


def downgrade() -> None:
    op.drop_table("analysed_costs")


def _types() -> list[sa.CheckConstraint]:
    if op.get_bind().dialect.name != "sqlite":
        return []
    return [sa.CheckConstraint(" ".join(TYPES.split()), name=op.f("ck_analysed_costs_types"))]
