"""why a rated game of the arena changed no rating, and an index for the games of two players

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
    op.add_column("arena_games", sa.Column("unrated", sa.String(length=32), nullable=True))
    op.create_index("ix_arena_games_players", "arena_games", ["first_id", "second_id"])
    op.drop_index("ix_arena_games_first_id", "arena_games")


def downgrade() -> None:
    op.create_index("ix_arena_games_first_id", "arena_games", ["first_id"])
    op.drop_index("ix_arena_games_players", "arena_games")
    op.drop_column("arena_games", "unrated")
