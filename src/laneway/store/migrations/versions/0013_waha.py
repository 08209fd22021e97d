"""Bridges to WhatsApp: hidden ids and phone numbers, and how far each session is known to be heard."""

from __future__ import annotations

from alembic import op

revision = "0013"
down_revision = "0012"

UP: list[str] = [
    # A number may have had several hidden ids; a hidden id is one person, who has one number at a time.
    """
    CREATE TABLE waha_lids (
        lid         text PRIMARY KEY CHECK (lid LIKE '%@lid'),
        phone       text NOT NULL CHECK (phone LIKE '%@c.us'),
        learned_at  timestamptz NOT NULL DEFAULT now()
    )
    """,
    "CREATE INDEX waha_lids_phone ON waha_lids (phone, learned_at DESC)",
    """
    CREATE TABLE waha_sessions (
        session      text PRIMARY KEY,
        status       text NOT NULL,
        says         text NOT NULL DEFAULT '',
        down_since   timestamptz,
        told_at      timestamptz,
        heard_until  timestamptz NOT NULL,
        looked_at    timestamptz NOT NULL
    )
    """,
]
DOWN: list[str] = ["DROP TABLE waha_sessions, waha_lids"]


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
