"""initial schema

Revision: 0001, after nothing
Date: 2026-11-21
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "arena_accounts",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.String(length=32), nullable=False),
        sa.Column("is_bot", sa.Boolean(), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_arena_accounts")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_arena_accounts_token_hash")),
    )
    op.create_table(
        "engine_configs",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("player", sa.String(length=64), nullable=False),
        sa.Column("engine_version", sa.String(length=64), nullable=False),
        sa.Column("assessment", sa.String(length=64), nullable=False),
        sa.Column("margin_centi", sa.Integer(), nullable=False),
        sa.Column("decided", sa.String(length=64), nullable=False),
        sa.Column("threshold_centi", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_engine_configs")),
        sa.UniqueConstraint(
            "player",
            "engine_version",
            "assessment",
            "margin_centi",
            "decided",
            "threshold_centi",
            name="uq_engine_configs_all",
        ),
    )
    op.create_table(
        "opponents",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("site", sa.String(length=64), nullable=False),
        sa.Column("site_id", sa.String(length=200), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("is_bot", sa.Boolean(), nullable=False),
        sa.Column("first_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_opponents")),
        sa.UniqueConstraint("site", "site_id", name=op.f("uq_opponents_site_site_id")),
    )
    op.create_table(
        "arena_games",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("variant", sa.String(length=32), nullable=False),
        sa.Column("rated", sa.Boolean(), nullable=False),
        sa.Column("initial_s", sa.Integer(), nullable=True),
        sa.Column("increment_s", sa.Integer(), nullable=True),
        sa.Column("first_id", sa.String(length=32), nullable=False),
        sa.Column("second_id", sa.String(length=32), nullable=False),
        sa.Column("first_rating", sa.Integer(), nullable=False),
        sa.Column("second_rating", sa.Integer(), nullable=False),
        sa.Column("first_provisional", sa.Boolean(), nullable=False),
        sa.Column("second_provisional", sa.Boolean(), nullable=False),
        sa.Column("rematch_of", sa.String(length=16), nullable=True),
        sa.Column("moves", sa.Text(), nullable=False),
        sa.Column("first_ms", sa.Integer(), nullable=True),
        sa.Column("second_ms", sa.Integer(), nullable=True),
        sa.Column("first_draw", sa.Boolean(), nullable=False),
        sa.Column("second_draw", sa.Boolean(), nullable=False),
        sa.Column("first_takeback", sa.Boolean(), nullable=False),
        sa.Column("second_takeback", sa.Boolean(), nullable=False),
        sa.Column("status", sa.String(length=32), nullable=False),
        sa.Column("winner", sa.Integer(), nullable=True),
        sa.Column("first_diff", sa.Integer(), nullable=True),
        sa.Column("second_diff", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_move_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("first_id <> second_id", name=op.f("ck_arena_games_two_players")),
        sa.CheckConstraint("winner IN (0, 1)", name=op.f("ck_arena_games_winner_is_a_side")),
        sa.ForeignKeyConstraint(["first_id"], ["arena_accounts.id"], name=op.f("fk_arena_games_first_id")),
        sa.ForeignKeyConstraint(["second_id"], ["arena_accounts.id"], name=op.f("fk_arena_games_second_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_arena_games")),
    )
    with op.batch_alter_table("arena_games", schema=None) as batch_op:
        batch_op.create_index("ix_arena_games_first_id", ["first_id"], unique=False)
        batch_op.create_index("ix_arena_games_second_id", ["second_id"], unique=False)
        batch_op.create_index("ix_arena_games_status", ["status"], unique=False)

    op.create_table(
        "arena_ratings",
        sa.Column("account_id", sa.String(length=32), nullable=False),
        sa.Column("variant", sa.String(length=32), nullable=False),
        sa.Column("rating", sa.Float(), nullable=False),
        sa.Column("deviation", sa.Float(), nullable=False),
        sa.Column("volatility", sa.Float(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["arena_accounts.id"], name=op.f("fk_arena_ratings_account_id")
        ),
        sa.PrimaryKeyConstraint("account_id", "variant", name=op.f("pk_arena_ratings")),
    )
    op.create_table(
        "games",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("site", sa.String(length=64), nullable=False),
        sa.Column("site_game_id", sa.String(length=64), nullable=False),
        sa.Column("game", sa.String(length=64), nullable=False),
        sa.Column("variant", sa.String(length=64), nullable=False),
        sa.Column("initial_position", sa.Text(), nullable=True),
        sa.Column("our_side", sa.Integer(), nullable=False),
        sa.Column("rated", sa.Boolean(), nullable=False),
        sa.Column("speed", sa.String(length=64), nullable=False),
        sa.Column("clock_initial_s", sa.Integer(), nullable=True),
        sa.Column("clock_increment_s", sa.Integer(), nullable=True),
        sa.Column("opponent_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("our_rating", sa.Integer(), nullable=True),
        sa.Column("opponent_rating", sa.Integer(), nullable=True),
        sa.Column("engine_config_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("player", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=32), nullable=False),
        sa.Column("result", sa.String(length=32), nullable=True),
        sa.Column("end_reason", sa.String(length=64), nullable=True),
        sa.Column("rating_diff", sa.Integer(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("selection", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("moves", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["engine_config_id"], ["engine_configs.id"], name=op.f("fk_games_engine_config_id")
        ),
        sa.ForeignKeyConstraint(["opponent_id"], ["opponents.id"], name=op.f("fk_games_opponent_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_games")),
        sa.UniqueConstraint("site", "site_game_id", name=op.f("uq_games_site_site_game_id")),
    )
    with op.batch_alter_table("games", schema=None) as batch_op:
        batch_op.create_index("ix_games_opponent", ["opponent_id", "game", "player", "state"], unique=False)
        batch_op.create_index("ix_games_selection", ["site", "game", "player", "state"], unique=False)
        batch_op.create_index("ix_games_site_state", ["site", "state"], unique=False)
        batch_op.create_index("ix_games_started_at", ["started_at"], unique=False)

    op.create_table(
        "arena_chat",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("game_id", sa.String(length=16), nullable=False),
        sa.Column("account_id", sa.String(length=32), nullable=False),
        sa.Column("room", sa.String(length=16), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["arena_accounts.id"], name=op.f("fk_arena_chat_account_id")),
        sa.ForeignKeyConstraint(["game_id"], ["arena_games.id"], name=op.f("fk_arena_chat_game_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_arena_chat")),
    )
    with op.batch_alter_table("arena_chat", schema=None) as batch_op:
        batch_op.create_index("ix_arena_chat_game_id", ["game_id"], unique=False)

    op.create_table(
        "decisions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("ply", sa.Integer(), nullable=False),
        sa.Column("takeback", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=32), nullable=False),
        sa.Column("move", sa.String(length=64), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("nodes", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("time_s", sa.Double(), nullable=False),
        sa.Column("is_complete", sa.Boolean(), nullable=False),
        sa.Column("is_trap", sa.Boolean(), nullable=True),
        sa.Column("trap_quality_centi", sa.Double(), nullable=True),
        sa.Column("reply_count", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("confirmed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("record", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_decisions_game_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_decisions")),
        sa.UniqueConstraint("game_id", "ply", "takeback", name=op.f("uq_decisions_game_id_ply_takeback")),
    )
    op.create_table(
        "events",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("site", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("detail", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_events_game_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
    )
    with op.batch_alter_table("events", schema=None) as batch_op:
        batch_op.create_index("ix_events_at", ["at"], unique=False)
        batch_op.create_index("ix_events_game_id", ["game_id"], unique=False)

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
    op.create_table(
        "outcomes",
        sa.Column("decision_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("reply", sa.String(length=64), nullable=True),
        sa.Column("fell_for_best", sa.Boolean(), nullable=False),
        sa.Column("quality_centi", sa.Double(), nullable=False),
        sa.Column("cost_centi", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["decision_id"], ["decisions.id"], name=op.f("fk_outcomes_decision_id")),
        sa.PrimaryKeyConstraint("decision_id", name=op.f("pk_outcomes")),
    )


def downgrade() -> None:
    op.drop_table("outcomes")
    op.drop_table("tallies")
    with op.batch_alter_table("events", schema=None) as batch_op:
        batch_op.drop_index("ix_events_game_id")
        batch_op.drop_index("ix_events_at")

    op.drop_table("events")
    op.drop_table("decisions")
    with op.batch_alter_table("arena_chat", schema=None) as batch_op:
        batch_op.drop_index("ix_arena_chat_game_id")

    op.drop_table("arena_chat")
    with op.batch_alter_table("games", schema=None) as batch_op:
        batch_op.drop_index("ix_games_started_at")
        batch_op.drop_index("ix_games_site_state")
        batch_op.drop_index("ix_games_selection")
        batch_op.drop_index("ix_games_opponent")

    op.drop_table("games")
    op.drop_table("arena_ratings")
    with op.batch_alter_table("arena_games", schema=None) as batch_op:
        batch_op.drop_index("ix_arena_games_status")
        batch_op.drop_index("ix_arena_games_second_id")
        batch_op.drop_index("ix_arena_games_first_id")

    op.drop_table("arena_games")
    op.drop_table("opponents")
    op.drop_table("engine_configs")
    op.drop_table("arena_accounts")
