"""what is known of a site's people, together

Revision: 0034, after 0033
Date: 2026-11-29
"""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    _create_person_states([sa.Column("evidence", sa.LargeBinary(), nullable=False)])
    op.create_table(
        "site_states",
        sa.Column("site", sa.String(64), nullable=False),
        sa.Column("game", sa.String(64), nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("site", "game", name=op.f("pk_site_states")),
    )


def downgrade() -> None:
    op.drop_table("site_states")
    _create_person_states([])


def _create_person_states(further: "list[sa.Column[bytes]]") -> None:
    """Create the table again, with further columns; the program fills it from the judged games."""
    op.drop_table("person_states")
    op.create_table(
        "person_states",
        sa.Column("opponent_id", KEY, nullable=False),
        sa.Column("game", sa.String(64), nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("replies", sa.Integer(), nullable=False),
        sa.Column("last_ended_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_game_id", sa.BigInteger(), nullable=False),
        *further,
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["opponent_id"], ["opponents.id"], name=op.f("fk_person_states_opponent_id")),
        sa.PrimaryKeyConstraint("opponent_id", "game", name=op.f("pk_person_states")),
    )
    op.execute(
        "INSERT INTO games_to_fold (game_id) SELECT j.game_id FROM judged_games j"
        " JOIN games g ON g.id = j.game_id JOIN opponents o ON o.id = g.opponent_id"
        " WHERE g.site <> 'match' AND NOT o.is_bot"
        " AND NOT EXISTS (SELECT 1 FROM forgotten_persons f WHERE f.opponent_id = g.opponent_id)"
        " AND NOT EXISTS (SELECT 1 FROM games_to_fold w WHERE w.game_id = j.game_id)"
    )
