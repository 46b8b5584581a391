"""no tallies: nothing reads them

Revision: 0011, after 0010
Date: 2026-11-25
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

# The last program with tallies counts what rule 2 judged.  It updates the rows of games and inserts none for
# an older game, so every game needs its row back.
REFILL = """
INSERT INTO tallies (
    game_id, traps_set, traps_optimal, traps_fell, traps_fell_for_best, traps_erred_elsewhere,
    traps_unanswered, plain_optimal, plain_erred
)
SELECT
    id,
    SUM(CASE WHEN is_trap THEN 1 ELSE 0 END),
    SUM(CASE WHEN is_trap AND kind = 'optimal' THEN 1 ELSE 0 END),
    SUM(CASE WHEN is_trap AND kind = 'fell' THEN 1 ELSE 0 END),
    SUM(CASE WHEN is_trap AND kind = 'fell' AND fell_for_best THEN 1 ELSE 0 END),
    SUM(CASE WHEN is_trap AND kind = 'erred_elsewhere' THEN 1 ELSE 0 END),
    SUM(CASE WHEN is_trap AND kind = 'unanswered' THEN 1 ELSE 0 END),
    SUM(CASE WHEN is_plain AND kind = 'optimal' THEN 1 ELSE 0 END),
    SUM(CASE WHEN is_plain AND kind IN ('fell', 'erred_elsewhere') THEN 1 ELSE 0 END)
FROM (
    SELECT
        games.id AS id,
        decisions.is_trap AS is_trap,
        NOT decisions.is_trap AND decisions.reply_count >= 2 AS is_plain,
        outcomes.kind AS kind,
        outcomes.fell_for_best AS fell_for_best
    FROM games
    LEFT JOIN decisions ON decisions.game_id = games.id AND decisions.takeback = 0
        AND decisions.state <> 'dropped' AND decisions.rule = 2 AND NOT decisions.is_decided
    LEFT JOIN outcomes ON outcomes.decision_id = decisions.id AND outcomes.rule = 2
) AS counted
GROUP BY id
"""


def upgrade() -> None:
    op.drop_table("tallies")


def downgrade() -> None:
    op.create_table(
        "tallies",
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("traps_set", sa.Integer(), nullable=False),
        sa.Column("traps_optimal", sa.Integer(), nullable=False),
        sa.Column("traps_fell", sa.Integer(), nullable=False),
        sa.Column("traps_fell_for_best", sa.Integer(), nullable=False),
        sa.Column("traps_erred_elsewhere", sa.Integer(), nullable=False),
        sa.Column("traps_unanswered", sa.Integer(), nullable=False),
        sa.Column("plain_optimal", sa.Integer(), nullable=False),
        sa.Column("plain_erred", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_tallies_game_id")),
        sa.PrimaryKeyConstraint("game_id", name=op.f("pk_tallies")),
    )
    op.execute(REFILL)
