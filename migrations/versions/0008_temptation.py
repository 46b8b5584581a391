"""traps in expected score, and forecasts of replies

Revision: 0008, after 0007
Date: 2026-11-25
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

NAME = "uq_engine_configs_all"
OLD = ["player", "engine_version", "assessment", "margin_centi", "decided", "threshold_centi"]
OLD += ["scale", "risk_percent", "risk_share_percent", "logistic_centi"]
NEW = "threshold_percent"
COUNTS = """traps_set = 0, traps_optimal = 0, traps_fell = 0, traps_fell_for_best = 0,
    traps_erred_elsewhere = 0, traps_unanswered = 0, plain_optimal = 0, plain_erred = 0"""


def upgrade() -> None:
    # The old threshold stays as it was recorded; it counts nothing any more.
    with op.batch_alter_table("engine_configs", schema=None) as batch_op:
        batch_op.add_column(sa.Column(NEW, sa.Double(), nullable=False, server_default="5.0"))
    with op.batch_alter_table("engine_configs", schema=None) as batch_op:
        batch_op.alter_column(NEW, server_default=None)
        batch_op.drop_constraint(NAME, type_="unique")
        batch_op.create_unique_constraint(NAME, [*OLD, NEW])

    # What was judged by earlier rules keeps its numbers, in their units, until `desdemona db recheck` judges
    # it anew; it counts nowhere before.
    with op.batch_alter_table("decisions", schema=None) as batch_op:
        batch_op.alter_column("trap_quality_centi", new_column_name="trap_quality")
        batch_op.add_column(sa.Column("is_decided", sa.Boolean(), nullable=True))
        batch_op.add_column(sa.Column("rule", sa.Integer(), nullable=True))
    op.execute("UPDATE decisions SET rule = 1 WHERE is_complete")
    with op.batch_alter_table("outcomes", schema=None) as batch_op:
        batch_op.alter_column("quality_centi", new_column_name="quality")
        batch_op.add_column(sa.Column("cost", sa.Integer(), nullable=True))
        batch_op.add_column(sa.Column("rule", sa.Integer(), nullable=False, server_default="1"))
    with op.batch_alter_table("outcomes", schema=None) as batch_op:
        batch_op.alter_column("rule", server_default=None)
    _set_tallies_to_zero()

    op.create_table(
        "forecasts",
        sa.Column("decision_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("rule", sa.Integer(), nullable=False),
        sa.Column("model_kind", sa.String(length=64), nullable=False),
        sa.Column("model_name", sa.String(length=200), nullable=False),
        sa.Column("model_sha256", sa.String(length=64), nullable=False),
        sa.Column("prior", sa.String(length=64), nullable=False),
        sa.Column("error_uniform", sa.Double(), nullable=False),
        sa.Column("error_expected", sa.Double(), nullable=False),
        sa.Column("cost_uniform", sa.Double(), nullable=False),
        sa.Column("cost_expected", sa.Double(), nullable=False),
        sa.Column("fall_uniform", sa.Double(), nullable=False),
        sa.Column("fall_expected", sa.Double(), nullable=False),
        sa.Column("bait_uniform", sa.Double(), nullable=False),
        sa.Column("bait_expected", sa.Double(), nullable=False),
        sa.Column("bait", sa.String(length=64), nullable=True),
        sa.Column("bait_odds", sa.Double(), nullable=True),
        sa.Column("bait_cost", sa.Integer(), nullable=True),
        sa.Column("confirm_depth", sa.Integer(), nullable=False),
        sa.Column("is_taken", sa.Boolean(), nullable=True),
        sa.Column("reply_odds", sa.Double(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column(
            "record",
            sa.JSON().with_variant(postgresql.JSONB(astext_type=sa.Text()), "postgresql"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["decision_id"], ["decisions.id"], name=op.f("fk_forecasts_decision_id_decisions")
        ),
        sa.PrimaryKeyConstraint("decision_id", name=op.f("pk_forecasts")),
    )


def downgrade() -> None:
    # Fails if two engines differ only in the new threshold: an earlier program cannot distinguish them.
    op.drop_table("forecasts")
    _set_tallies_to_zero()
    with op.batch_alter_table("outcomes", schema=None) as batch_op:
        batch_op.drop_column("rule")
        batch_op.drop_column("cost")
        batch_op.alter_column("quality", new_column_name="quality_centi")
    with op.batch_alter_table("decisions", schema=None) as batch_op:
        batch_op.drop_column("rule")
        batch_op.drop_column("is_decided")
        batch_op.alter_column("trap_quality", new_column_name="trap_quality_centi")
    with op.batch_alter_table("engine_configs", schema=None) as batch_op:
        batch_op.drop_constraint(NAME, type_="unique")
        batch_op.create_unique_constraint(NAME, OLD)
        batch_op.drop_column(NEW)


def _set_tallies_to_zero() -> None:
    """They can be counted again: by `desdemona db recheck`, or by an earlier program with the next move."""
    op.execute(f"UPDATE tallies SET {COUNTS}")  # noqa: S608 - a constant
