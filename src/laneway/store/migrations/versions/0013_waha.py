"""Bridges to WhatsApp: hidden ids and phone numbers."""

from __future__ import annotations

from alembic import op

revision = "0013"
down_revision = "0012"

UP: list[str] = []
DOWN: list[str] = []


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
