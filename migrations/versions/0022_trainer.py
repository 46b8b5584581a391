"""the trainer: positions in which people fell, who fell, and how people fare with them

Revision: 0022, after 0021
Date: 2026-11-27
"""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    # Empty: the arena fills them from the games that are over, in the background.
    op.create_table(
        "training_positions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("key", KEY, nullable=False),
        sa.Column("game", sa.String(length=64), nullable=False),
        sa.Column("rating", sa.Float(), nullable=False),
        sa.Column("deviation", sa.Float(), nullable=False),
        sa.Column("volatility", sa.Float(), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.Column("solved", sa.Integer(), nullable=False),
        sa.Column("bait_line", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_training_positions")),
        sa.UniqueConstraint("key", name=op.f("uq_training_positions_key")),
    )
    op.create_index("ix_training_positions_rating", "training_positions", ["game", "rating", "id"])
    op.create_table(
        "training_falls",
        sa.Column("decision_id", KEY, nullable=False),
        sa.Column("game_id", KEY, nullable=False),
        sa.Column("position_id", KEY, nullable=False),
        sa.Column("opponent_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(
            ["decision_id"], ["decisions.id"], name=op.f("fk_training_falls_decision_id")
        ),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_training_falls_game_id")),
        sa.ForeignKeyConstraint(
            ["position_id"], ["training_positions.id"], name=op.f("fk_training_falls_position_id")
        ),
        sa.ForeignKeyConstraint(
            ["opponent_id"], ["opponents.id"], name=op.f("fk_training_falls_opponent_id")
        ),
        sa.PrimaryKeyConstraint("decision_id", name=op.f("pk_training_falls")),
    )
    op.create_index("ix_training_falls_position_id", "training_falls", ["position_id"])
    op.create_index("ix_training_falls_game_id", "training_falls", ["game_id"])
    op.create_index("ix_training_falls_opponent_id", "training_falls", ["opponent_id"])
    op.create_table(
        "training_games",
        sa.Column("game_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_training_games_game_id")),
        sa.PrimaryKeyConstraint("game_id", name=op.f("pk_training_games")),
    )
    op.create_table(
        "training_players",
        sa.Column("account_id", sa.String(length=32), nullable=False),
        sa.Column("game", sa.String(length=64), nullable=False),
        sa.Column("rating", sa.Float(), nullable=False),
        sa.Column("deviation", sa.Float(), nullable=False),
        sa.Column("volatility", sa.Float(), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.Column("solved", sa.Integer(), nullable=False),
        sa.Column("position_id", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"], ["arena_accounts.id"], name=op.f("fk_training_players_account_id")
        ),
        sa.ForeignKeyConstraint(
            ["position_id"], ["training_positions.id"], name=op.f("fk_training_players_position_id")
        ),
        sa.PrimaryKeyConstraint("account_id", "game", name=op.f("pk_training_players")),
    )
    op.create_table(
        "training_reviews",
        sa.Column("account_id", sa.String(length=32), nullable=False),
        sa.Column("position_id", KEY, nullable=False),
        sa.Column("game", sa.String(length=64), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.Column("has_hint", sa.Boolean(), nullable=False),
        sa.Column("stage", sa.Integer(), nullable=True),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"], ["arena_accounts.id"], name=op.f("fk_training_reviews_account_id")
        ),
        sa.ForeignKeyConstraint(
            ["position_id"], ["training_positions.id"], name=op.f("fk_training_reviews_position_id")
        ),
        sa.PrimaryKeyConstraint("account_id", "position_id", name=op.f("pk_training_reviews")),
    )
    op.create_index("ix_training_reviews_due", "training_reviews", ["account_id", "game", "due_at"])
    op.create_index("ix_training_reviews_position_id", "training_reviews", ["position_id"])


def downgrade() -> None:
    for table in ("reviews", "players", "games", "falls", "positions"):
        op.drop_table(f"training_{table}")
