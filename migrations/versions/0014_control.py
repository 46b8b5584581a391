"""blocked accounts, and what an account may do at the arena

Revision: 0014, after 0013
Date: 2026-11-25
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "blocks",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("site", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_blocks")),
        sa.UniqueConstraint("site", "name", name=op.f("uq_blocks_site_name")),
    )
    with op.batch_alter_table("arena_accounts", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column("access", sa.String(length=32), server_default="active", nullable=False)
        )


def downgrade() -> None:
    with op.batch_alter_table("arena_accounts", schema=None) as batch_op:
        batch_op.drop_column("access")
    op.drop_table("blocks")
