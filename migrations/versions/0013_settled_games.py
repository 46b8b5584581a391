"""settled games: a game is finished as soon as the server says so, and settled when all of it is judged

Revision: 0013, after 0012
Date: 2026-11-25
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Neither step copies the table.  The default stays: only rows written by hand would ever have it.
    op.add_column("games", sa.Column("is_settled", sa.Boolean(), nullable=False, server_default=sa.false()))
    # Until now a game stayed open until all of it was judged.
    op.execute("UPDATE games SET is_settled = (state <> 'open')")
    op.drop_index("ix_games_account_state", "games")
    op.create_index("ix_games_account_settled", "games", ["site", "account", "is_settled", "state"])


def downgrade() -> None:
    # What is finished and not settled stays so: an earlier program's `db recheck` judges the rest.
    op.drop_index("ix_games_account_settled", "games")
    op.drop_column("games", "is_settled")
    op.create_index("ix_games_account_state", "games", ["site", "account", "state"])
