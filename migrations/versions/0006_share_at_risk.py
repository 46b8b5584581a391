"""share at risk on the expected scale

Revision: 0006, after 0005
Date: 2026-11-22
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

NAME = "uq_engine_configs_all"
OLD = ["player", "engine_version", "assessment", "margin_centi", "decided", "threshold_centi"]
OLD += ["scale", "risk_percent", "logistic_centi"]
NEW = "risk_share_percent"


def upgrade() -> None:
    # Earlier engines had no such limit (100 %); the paper's scale does not use it and gets today's default.
    with op.batch_alter_table("engine_configs", schema=None) as batch_op:
        batch_op.add_column(sa.Column(NEW, sa.Double(), nullable=False, server_default="25.0"))
    op.execute("UPDATE engine_configs SET risk_share_percent = 100.0 WHERE scale = 'expected'")

    with op.batch_alter_table("engine_configs", schema=None) as batch_op:
        batch_op.alter_column(NEW, server_default=None)
        batch_op.drop_constraint(NAME, type_="unique")
        batch_op.create_unique_constraint(NAME, [*OLD, NEW])


def downgrade() -> None:
    # Fails if two engines differ only in the share: an earlier program cannot distinguish them.
    with op.batch_alter_table("engine_configs", schema=None) as batch_op:
        batch_op.drop_constraint(NAME, type_="unique")
        batch_op.create_unique_constraint(NAME, OLD)
        batch_op.drop_column(NEW)
