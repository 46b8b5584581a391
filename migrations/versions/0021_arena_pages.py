"""indexes for the arena's pages: games of an account by time, and the best ratings

Revision: 0021, after 0020
Date: 2026-11-27
"""

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_arena_games_first_at", "arena_games", ["first_id", "created_at"])
    op.create_index("ix_arena_games_second_at", "arena_games", ["second_id", "created_at"])
    op.drop_index("ix_arena_games_second_id", "arena_games")
    op.create_index("ix_arena_ratings_best", "arena_ratings", ["variant", "rating"])


def downgrade() -> None:
    op.drop_index("ix_arena_ratings_best", "arena_ratings")
    op.create_index("ix_arena_games_second_id", "arena_games", ["second_id"])
    op.drop_index("ix_arena_games_second_at", "arena_games")
    op.drop_index("ix_arena_games_first_at", "arena_games")
