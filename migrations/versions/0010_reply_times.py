"""how long replies took, and the expected share of optimal ones

Revision: 0010, after 0009
Date: 2026-11-25
"""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

NEW = ("optimal_uniform", "optimal_expected")
BATCH = 200

# As text: one damaged record must not keep the others from being read.
READ = """
SELECT forecasts.decision_id AS id, CAST(forecasts.record AS TEXT) AS forecast, CAST(decisions.record AS TEXT) AS decision
FROM forecasts JOIN decisions ON decisions.id = forecasts.decision_id
WHERE forecasts.decision_id > :after ORDER BY forecasts.decision_id LIMIT :batch
"""  # noqa: E501
WRITE = (
    "UPDATE forecasts SET optimal_uniform = :uniform, optimal_expected = :expected WHERE decision_id = :id"
)


def upgrade() -> None:
    op.create_table(
        "reply_times",
        sa.Column("decision_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("time_s", sa.Double(), nullable=False),
        sa.Column("source", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(
            ["decision_id"], ["decisions.id"], name=op.f("fk_reply_times_decision_id_decisions")
        ),
        sa.PrimaryKeyConstraint("decision_id", name=op.f("pk_reply_times")),
    )
    with op.batch_alter_table("forecasts", schema=None) as batch_op:
        for name in NEW:
            batch_op.add_column(sa.Column(name, sa.Double(), nullable=True))
    _add_up()


def downgrade() -> None:
    with op.batch_alter_table("forecasts", schema=None) as batch_op:
        for name in reversed(NEW):
            batch_op.drop_column(name)
    op.drop_table("reply_times")


def _add_up() -> None:
    """Add up the forecasts that are there, from the records; a damaged one stays null."""
    connection, after = op.get_bind(), -1
    while rows := connection.execute(sa.text(READ), {"after": after, "batch": BATCH}).all():
        after = rows[-1].id
        for row in rows:
            try:
                uniform, expected = _optimal(json.loads(row.forecast), json.loads(row.decision))
            except (KeyError, TypeError, ValueError, StopIteration, IndexError, ZeroDivisionError):
                continue
            connection.execute(sa.text(WRITE), {"uniform": uniform, "expected": expected, "id": row.id})


def _optimal(forecast: dict[str, Any], decision: dict[str, Any]) -> tuple[float, float]:
    """Share and probability of the replies whose last score is the move's own."""
    chosen = next(each for each in decision["candidates"] if each["move"] == decision["move"])
    best = {reply["reply"] for reply in chosen["replies"] if reply["scores_centi"][-1] == chosen["raw_centi"]}
    expected = sum(p for reply, p in zip(forecast["replies"], forecast["odds"], strict=True) if reply in best)
    return len(best) / len(forecast["replies"]), float(expected)
