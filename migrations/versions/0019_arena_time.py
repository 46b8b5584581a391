"""the arena's time, which stands still during outages, and when each turn of its games began

Revision: 0019, after 0018
Date: 2026-11-26
"""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
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


def downgrade() -> None:
    op.drop_column("arena_games", "turn_began_ms")
    op.drop_table("arena_elapsed")
