"""fair time and ratings at the arena: its time, when each turn began, and why a game changed no rating

Revision: 0020, after 0019
Date: 2026-11-26
"""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "arena_elapsed",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("elapsed_ms", sa.BigInteger(), nullable=False),
        sa.Column("saved_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_arena_elapsed")),
    )
    op.add_column("arena_games", sa.Column("turn_began_ms", sa.BigInteger(), nullable=True))
    op.add_column("arena_games", sa.Column("unrated", sa.String(length=32), nullable=True))
    op.create_index("ix_arena_games_players", "arena_games", ["first_id", "second_id"])
    op.drop_index("ix_arena_games_first_id", "arena_games")


def downgrade() -> None:
    op.create_index("ix_arena_games_first_id", "arena_games", ["first_id"])
    op.drop_index("ix_arena_games_players", "arena_games")
    op.drop_column("arena_games", "unrated")
    op.drop_column("arena_games", "turn_began_ms")
    op.drop_table("arena_elapsed")
