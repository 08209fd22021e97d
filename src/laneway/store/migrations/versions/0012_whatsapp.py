"""WhatsApp: when a person was last heard, statuses that came too early, and one fee for each message."""

from __future__ import annotations

from alembic import op

revision = "0012"
down_revision = "0011"

UP = [
    # Messages tell by themselves when they were said; this is what presses of buttons and refusals of WhatsApp add.
    """
    CREATE TABLE whatsapp_windows (
        thread_id  uuid PRIMARY KEY REFERENCES threads ON DELETE CASCADE,
        heard_at   timestamptz,
        shut_at    timestamptz
    )
    """,
    # WhatsApp may tell of a message before its sending is on record here; what it said waits for that.
    """
    CREATE TABLE whatsapp_early (
        external_id  text NOT NULL,
        status       text NOT NULL,
        body         jsonb NOT NULL,
        created_at   timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (external_id, status)
    )
    """,
    "CREATE UNIQUE INDEX token_ledger_whatsapp ON token_ledger ((meta_json->>'message')) WHERE provider = 'whatsapp'",
]
DOWN = ["DROP INDEX token_ledger_whatsapp", "DROP TABLE whatsapp_early, whatsapp_windows"]


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
