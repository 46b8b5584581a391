"""what pages need of games that are over: their baits and openings, in their summaries

Revision: 0018, after 0017
Date: 2026-11-25
"""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
COLUMNS = (
    ("plies", sa.Integer()),
    ("opening", sa.BigInteger().with_variant(sa.Integer(), "sqlite")),
    ("bait_phases", sa.LargeBinary()),
)


def upgrade() -> None:
    # Empty: the program recomputes all summaries in the background while it plays.
    for name, kind in COLUMNS:
        op.add_column("game_summaries", sa.Column(name, kind, nullable=True))
    op.create_table(
        "game_baits",
        sa.Column("decision_id", KEY, nullable=False),
        sa.Column("game_id", KEY, nullable=False),
        sa.Column("line", KEY, nullable=False),
        sa.Column("surprise", sa.Double(), nullable=False),
        sa.Column("cost", sa.Integer(), nullable=False),
        sa.Column("is_taken", sa.Boolean(), nullable=True),
        sa.ForeignKeyConstraint(["decision_id"], ["decisions.id"], name=op.f("fk_game_baits_decision_id")),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_game_baits_game_id")),
        sa.PrimaryKeyConstraint("decision_id", name=op.f("pk_game_baits")),
    )
    op.create_index("ix_game_baits_game_id", "game_baits", ["game_id"])
    op.create_index("ix_game_baits_surprise", "game_baits", ["surprise", "decision_id"])
    op.create_index("ix_game_baits_cost", "game_baits", ["cost", "decision_id"])


def downgrade() -> None:
    op.drop_table("game_baits")
    for name, _ in reversed(COLUMNS):
        op.drop_column("game_summaries", name)
