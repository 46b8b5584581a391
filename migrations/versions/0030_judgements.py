"""what replies cost, by the judge

Revision: 0030, after 0029
Date: 2026-11-29
"""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TYPES = {
    "judgements": """
        (typeof("best") = 'text') AND (typeof("best_centi") = 'integer') AND (typeof("cost") = 'integer')
        AND (typeof("decision_id") = 'integer') AND (typeof("replies") = 'text' AND json_valid("replies"))
        AND (typeof("version") = 'integer')""",
    "judged_games": "(typeof(\"version\") = 'integer')",
}
"""Conditions on the values in SQLite, whose columns would hold any."""


def upgrade() -> None:
    op.create_table(
        "judgements",
        sa.Column("decision_id", KEY, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("cost", sa.Integer(), nullable=False),
        sa.Column("best", sa.String(64), nullable=False),
        sa.Column("best_centi", sa.Integer(), nullable=False),
        sa.Column("replies", sa.JSON(), nullable=False),
        sa.CheckConstraint("cost BETWEEN 0 AND 10000", name=op.f("ck_judgements_cost")),
        sa.ForeignKeyConstraint(["decision_id"], ["decisions.id"], name=op.f("fk_judgements_decision_id")),
        sa.PrimaryKeyConstraint("decision_id", "version", name=op.f("pk_judgements")),
        *_types("judgements"),
    )
    op.create_table(
        "judged_games",
        sa.Column("game_id", KEY, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_judged_games_game_id")),
        sa.PrimaryKeyConstraint("game_id", name=op.f("pk_judged_games")),
        *_types("judged_games"),
    )


def downgrade() -> None:
    op.drop_table("judged_games")
    op.drop_table("judgements")


def _types(table: str) -> list[sa.CheckConstraint]:
    if op.get_bind().dialect.name != "sqlite":
        return []
    return [sa.CheckConstraint(" ".join(TYPES[table].split()), name=op.f(f"ck_{table}_types"))]
