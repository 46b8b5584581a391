"""start positions of the arena's games

Revision: 0003, after 0002
Date: 2026-11-21
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Null: the game's usual start, from which every earlier game began.
    with op.batch_alter_table("arena_games", schema=None) as batch_op:
        batch_op.add_column(sa.Column("initial_fen", sa.Text(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("arena_games", schema=None) as batch_op:
        batch_op.drop_column("initial_fen")
