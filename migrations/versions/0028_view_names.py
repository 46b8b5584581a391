"""the words of today in the views and in games' ends: strategy, probability, expected loss, shallow scores

The columns with the old names stay in the views until 0.4.0.

Revision: 0028, after 0027
Date: 2026-11-28
"""

from importlib import import_module

from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

VIEWS = import_module("migrations.versions.0017_views")
NEW_NAMES = {
    "player": "strategy",
    "chance": "probability",
    "surprise": "expected_loss",
    "glance_centi": "shallow_centi",
}


def upgrade() -> None:
    dialect = VIEWS._dialect()
    same = {
        "strategy": "g.player",
        "probability": dialect.chance("g.selection", "g.player"),
        "expected_loss": dialect.number("f.bait_odds*f.bait_cost/10000.0"),
        "shallow_centi": f"-cast({dialect.item('r', 2)} as integer)",
    }
    VIEWS.downgrade()
    for name, select in VIEWS._views(dialect).items():
        for old, new in NEW_NAMES.items():
            select = select.replace(f"{same[new]} {old},", f"{same[new]} {old},{same[new]} {new},")
        op.execute(f"create view ask_{name} as {' '.join(select.split())}".replace(":", r"\:"))
    op.execute("update games set end_reason='unknown' where end_reason='untold'")


def downgrade() -> None:
    VIEWS.downgrade()
    VIEWS.upgrade()
