"""baits of games that are over with their phase

Revision: 0024, after 0023
Date: 2026-11-27
"""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

# The phase of the reply, which is one ply later.  As a big integer no ply is too large for PostgreSQL to add
# to; and on SQLite, where a damaged row may hold anything, the phase is whole.
FILL = """
    UPDATE game_baits SET phase = (
        SELECT (CAST(decisions.ply AS BIGINT) + 1) / 20 FROM decisions
        WHERE decisions.id = game_baits.decision_id
    )
"""


def upgrade() -> None:
    # Neither step copies the table.  The default stays: only rows written by hand would ever have it.
    op.add_column("game_baits", sa.Column("phase", sa.Integer(), nullable=False, server_default="0"))
    op.execute(FILL)


def downgrade() -> None:
    op.drop_column("game_baits", "phase")
