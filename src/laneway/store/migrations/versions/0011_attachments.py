"""Attachments: originals on disk or in a bucket."""

from __future__ import annotations

from alembic import op

revision = "0011"
down_revision = "0010"

UP = [
    "ALTER TABLE artifacts ADD COLUMN place text NOT NULL DEFAULT 'row' CHECK (place IN ('row', 'folder', 'bucket'))",
    "ALTER TABLE artifacts ALTER COLUMN content DROP NOT NULL",
    # What was outside before somebody went back a version is still there.
    """
    UPDATE artifacts SET place = meta->>'place', content = NULL, meta = meta - 'place'
    WHERE meta->>'place' IN ('folder', 'bucket')
    """,
    "ALTER TABLE artifacts ADD CONSTRAINT artifacts_content CHECK ((place = 'row') = (content IS NOT NULL))",
]
DOWN = [
    "ALTER TABLE artifacts DROP CONSTRAINT artifacts_content",
    """
    UPDATE artifacts SET meta = meta || jsonb_build_object('place', place), content = ''
    WHERE place <> 'row'
    """,
    "ALTER TABLE artifacts ALTER COLUMN content SET NOT NULL",
    "ALTER TABLE artifacts DROP COLUMN place",
]


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
