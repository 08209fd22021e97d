"""The toolbox of a thread: tools found often enough to stay."""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision = "0005"

UP: list[str] = []
DOWN: list[str] = []


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
