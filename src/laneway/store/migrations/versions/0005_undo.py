"""Undo: what files were before a job changed them."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"

UP: list[str] = []
DOWN: list[str] = []


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
