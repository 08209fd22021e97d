"""Host mode: principals whose commands run on the machine itself."""

from __future__ import annotations

from alembic import op

revision = "0009"
down_revision = "0008"

UP = [
    "ALTER TABLE principals ADD COLUMN host_mode boolean NOT NULL DEFAULT false",
    # Strangers never get there, whoever asks for it.
    "ALTER TABLE principals ADD CONSTRAINT principals_host_mode CHECK (NOT (host_mode AND role = 'customer'))",
]
DOWN = ["ALTER TABLE principals DROP COLUMN host_mode"]


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
