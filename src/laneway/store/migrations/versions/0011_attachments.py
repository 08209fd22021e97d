"""Attachments: originals on disk or in a bucket."""

from __future__ import annotations

from alembic import op

revision = "0011"
down_revision = "0010"

UP: list[str] = []
DOWN: list[str] = []


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
