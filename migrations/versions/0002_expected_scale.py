"""expected scale of the trap arithmetic

Revision: 0002, after 0001
Date: 2026-11-21
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

NAME = "uq_engine_configs_all"
OLD = ["player", "engine_version", "assessment", "margin_centi", "decided", "threshold_centi"]
NEW = ["scale", "risk_percent", "logistic_centi"]


def upgrade() -> None:
    # Earlier engines played on the paper's scale, which does not use the other two columns.
    with op.batch_alter_table("engine_configs", schema=None) as batch_op:
        batch_op.add_column(sa.Column("scale", sa.String(length=64), nullable=False, server_default="paper"))
        batch_op.add_column(sa.Column("risk_percent", sa.Double(), nullable=False, server_default="5.0"))
        batch_op.add_column(sa.Column("logistic_centi", sa.Double(), nullable=False, server_default="0.0"))

    with op.batch_alter_table("engine_configs", schema=None) as batch_op:
        for column in NEW:
            batch_op.alter_column(column, server_default=None)
        batch_op.drop_constraint(NAME, type_="unique")
        batch_op.create_unique_constraint(NAME, [*OLD, *NEW])


def downgrade() -> None:
    with op.batch_alter_table("engine_configs", schema=None) as batch_op:
        batch_op.drop_constraint(NAME, type_="unique")
        batch_op.create_unique_constraint(NAME, OLD)
        for column in reversed(NEW):
            batch_op.drop_column(column)
