"""games and events of several accounts

Revision: 0007, after 0006
Date: 2026-11-23
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

GAME_KEY = "uq_games_site_site_game_id"
ACCOUNT_GAME_KEY = "uq_games_site_account_site_game_id"
SELECTION = "ix_games_selection"


def upgrade() -> None:
    # Empty: an earlier program played one account and did not record which (`storage.games.adopt_records`).
    for table in ("games", "events"):
        with op.batch_alter_table(table, schema=None) as batch_op:
            batch_op.add_column(sa.Column("account", sa.String(length=64), nullable=False, server_default=""))
        with op.batch_alter_table(table, schema=None) as batch_op:
            batch_op.alter_column("account", server_default=None)
    with op.batch_alter_table("games", schema=None) as batch_op:
        batch_op.drop_constraint(GAME_KEY, type_="unique")
        batch_op.create_unique_constraint(ACCOUNT_GAME_KEY, ["site", "account", "site_game_id"])
        batch_op.drop_index("ix_games_site_state")
        batch_op.create_index("ix_games_account_state", ["site", "account", "state"])
        batch_op.drop_index(SELECTION)
        batch_op.create_index(SELECTION, ["site", "account", "game", "player", "state"])


def downgrade() -> None:
    # Fails if two accounts played the same game: an earlier program cannot distinguish them.
    with op.batch_alter_table("games", schema=None) as batch_op:
        batch_op.drop_index(SELECTION)
        batch_op.create_index(SELECTION, ["site", "game", "player", "state"])
        batch_op.drop_index("ix_games_account_state")
        batch_op.create_index("ix_games_site_state", ["site", "state"])
        batch_op.drop_constraint(ACCOUNT_GAME_KEY, type_="unique")
        batch_op.create_unique_constraint(GAME_KEY, ["site", "site_game_id"])
    for table in ("games", "events"):
        with op.batch_alter_table(table, schema=None) as batch_op:
            batch_op.drop_column("account")
