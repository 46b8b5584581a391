"""what replies cost, by the judge

Revision: 0030, after 0029
Date: 2026-11-29
"""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "judgements",
        sa.Column("decision_id", KEY, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("cost", sa.Integer(), nullable=False),
        sa.Column("best", sa.String(64), nullable=False),
        sa.Column("best_centi", sa.Integer(), nullable=False),
        sa.Column("replies", sa.JSON(), nullable=False),
        sa.CheckConstraint("cost BETWEEN 0 AND 10000", name=op.f("ck_judgements_cost")),
        sa.ForeignKeyConstraint(["decision_id"], ["decisions.id"], name=op.f("fk_judgements_decision_id")),
        sa.PrimaryKeyConstraint("decision_id", "version", name=op.f("pk_judgements")),
    )
    version = sa.Column("judge_version", sa.Integer(), nullable=False, server_default="0")
    op.add_column("games", version)
    op.create_index("ix_games_judge", "games", ["judge_version", "is_settled", "id"])


def downgrade() -> None:
    op.drop_index("ix_games_judge", "games")
    op.drop_column("games", "judge_version")
    op.drop_table("judgements")
