"""The one thread in which the owner wants to be told and asked, if the owner chose one."""

from __future__ import annotations

from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    op.execute("ALTER TABLE threads ADD COLUMN notices boolean NOT NULL DEFAULT false")
    op.execute("CREATE UNIQUE INDEX threads_notices ON threads (notices) WHERE notices")


def downgrade() -> None:
    op.execute("ALTER TABLE threads DROP COLUMN notices")
