"""what is learned of persons, and who asked to be forgotten

Revision: 0033, after 0032
Date: 2026-11-29
"""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
FORGOTTEN_TYPES = '(typeof("forgotten_at") = \'text\' AND julianday("forgotten_at") IS NOT NULL)'


def upgrade() -> None:
    op.create_table(
        "person_states",
        sa.Column("opponent_id", KEY, nullable=False),
        sa.Column("game", sa.String(64), nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("replies", sa.Integer(), nullable=False),
        sa.Column("last_ended_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_game_id", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["opponent_id"], ["opponents.id"], name=op.f("fk_person_states_opponent_id")),
        sa.PrimaryKeyConstraint("opponent_id", "game", name=op.f("pk_person_states")),
    )
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    types = [sa.CheckConstraint(FORGOTTEN_TYPES, name=op.f("ck_forgotten_persons_types"))] * is_sqlite
    op.create_table(
        "forgotten_persons",
        sa.Column("opponent_id", KEY, nullable=False),
        sa.Column("forgotten_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["opponent_id"], ["opponents.id"], name=op.f("fk_forgotten_persons_opponent_id")
        ),
        sa.PrimaryKeyConstraint("opponent_id", name=op.f("pk_forgotten_persons")),
        *types,
    )
    op.create_table(
        "games_to_fold",
        sa.Column("game_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_games_to_fold_game_id")),
        sa.PrimaryKeyConstraint("game_id", name=op.f("pk_games_to_fold")),
    )
    op.execute(
        "INSERT INTO games_to_fold (game_id) SELECT j.game_id FROM judged_games j"
        " JOIN games g ON g.id = j.game_id JOIN opponents o ON o.id = g.opponent_id"
        " WHERE g.site <> 'match' AND NOT o.is_bot"
    )


def downgrade() -> None:
    for table in ("games_to_fold", "forgotten_persons", "person_states"):
        op.drop_table(table)
