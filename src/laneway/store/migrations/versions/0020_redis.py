"""Jobs that came through Redis."""

from __future__ import annotations

from alembic import op

revision = "0020"
down_revision = "0019"

UP: list[str] = []

DOWN: list[str] = []


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
