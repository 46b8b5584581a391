"""analysed games

Revision: 0005, after 0004
Date: 2026-11-22
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "analyses",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("content_key", sa.String(length=64), nullable=False),
        sa.Column("game", sa.String(length=64), nullable=False),
        sa.Column("source", sa.String(length=200), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("engine_version", sa.String(length=64), nullable=False),
        sa.Column("settings", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_analyses")),
        sa.UniqueConstraint("content_key", name=op.f("uq_analyses_content_key")),
    )
    op.create_table(
        "human_models",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_human_models")),
        sa.UniqueConstraint("kind", "name", "sha256", name=op.f("uq_human_models_kind_name_sha256")),
    )
    op.create_table(
        "analysed_positions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("analysis_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("imported_game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("ply", sa.Integer(), nullable=False),
        sa.Column("side", sa.Integer(), nullable=False),
        sa.Column("position", sa.Text(), nullable=False),
        sa.Column("move", sa.String(length=64), nullable=False),
        sa.Column("reply", sa.String(length=64), nullable=False),
        sa.Column("rating", sa.Integer(), nullable=True),
        sa.Column("clock_s", sa.Float(precision=53), nullable=True),
        sa.Column("logistic_centi", sa.Float(precision=53), nullable=False),
        sa.Column("nodes", sa.BigInteger(), nullable=False),
        sa.Column("time_s", sa.Float(precision=53), nullable=False),
        sa.Column("profile", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.ForeignKeyConstraint(
            ["analysis_id"], ["analyses.id"], name=op.f("fk_analysed_positions_analysis_id_analyses")
        ),
        sa.ForeignKeyConstraint(
            ["imported_game_id"],
            ["imported_games.id"],
            name=op.f("fk_analysed_positions_imported_game_id_imported_games"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_analysed_positions")),
        sa.UniqueConstraint(
            "analysis_id",
            "imported_game_id",
            "ply",
            name=op.f("uq_analysed_positions_analysis_id_imported_game_id_ply"),
        ),
    )
    op.create_table(
        "predictions",
        sa.Column("position_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("model_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("odds", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.ForeignKeyConstraint(
            ["model_id"], ["human_models.id"], name=op.f("fk_predictions_model_id_human_models")
        ),
        sa.ForeignKeyConstraint(
            ["position_id"],
            ["analysed_positions.id"],
            name=op.f("fk_predictions_position_id_analysed_positions"),
        ),
        sa.PrimaryKeyConstraint("position_id", "model_id", name=op.f("pk_predictions")),
    )


def downgrade() -> None:
    op.drop_table("predictions")
    op.drop_table("analysed_positions")
    op.drop_table("human_models")
    op.drop_table("analyses")
