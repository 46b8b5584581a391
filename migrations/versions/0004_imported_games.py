"""imported games

Revision: 0004, after 0003
Date: 2026-11-22
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "imported_games",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("content_key", sa.String(length=64), nullable=False),
        sa.Column("game", sa.String(length=64), nullable=False),
        sa.Column("first_player", sa.Text(), nullable=False),
        sa.Column("second_player", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("round", sa.Text(), nullable=False),
        sa.Column("date", sa.Text(), nullable=False),
        sa.Column("start", sa.Text(), nullable=True),
        sa.Column("moves", sa.Text(), nullable=False),
        sa.Column("points", sa.Float(precision=53), nullable=True),
        sa.Column("margin", sa.Float(precision=53), nullable=True),
        sa.Column("ending", sa.String(length=64), nullable=False),
        sa.Column("detail", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("source_format", sa.String(length=64), nullable=False),
        sa.Column("imported_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_imported_games")),
        sa.UniqueConstraint("content_key", name=op.f("uq_imported_games_content_key")),
    )
    with op.batch_alter_table("imported_games", schema=None) as batch_op:
        batch_op.create_index("ix_imported_games_game", ["game", "id"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("imported_games", schema=None) as batch_op:
        batch_op.drop_index("ix_imported_games_game")
    op.drop_table("imported_games")
