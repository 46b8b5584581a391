"""results of experiments

Revision: 0019, after 0018
Date: 2026-11-26
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "experiment_results",
        sa.Column("id", KEY, nullable=False),
        sa.Column("experiment", sa.String(64), nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("size", sa.String(64), nullable=False),
        sa.Column("seed", KEY, nullable=False),
        sa.Column("job", sa.String(200), nullable=False),
        sa.Column("result", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_experiment_results")),
        sa.UniqueConstraint(
            "experiment",
            "version",
            "size",
            "seed",
            "job",
            name=op.f("uq_experiment_results_experiment_version_size_seed_job"),
        ),
    )


def downgrade() -> None:
    op.drop_table("experiment_results")
