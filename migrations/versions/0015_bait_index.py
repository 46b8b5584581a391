"""an index of the forecasts with a bait, for the gallery of traps

Revision: 0015, after 0014
Date: 2026-11-25
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

COLUMNS = ["decision_id", "rule", "is_taken", "bait", "bait_odds", "bait_cost", "bait_expected"]


def upgrade() -> None:
    has_bait = sa.text("bait IS NOT NULL")
    with op.batch_alter_table("forecasts", schema=None) as batch_op:
        batch_op.create_index(
            "ix_forecasts_bait", COLUMNS, unique=False, sqlite_where=has_bait, postgresql_where=has_bait
        )


def downgrade() -> None:
    with op.batch_alter_table("forecasts", schema=None) as batch_op:
        batch_op.drop_index("ix_forecasts_bait")
