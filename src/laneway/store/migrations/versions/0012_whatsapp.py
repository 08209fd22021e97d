"""WhatsApp: what the provider tells about what was sent."""

from __future__ import annotations

from alembic import op

revision = "0012"
down_revision = "0011"

UP: list[str] = []
DOWN: list[str] = []


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
