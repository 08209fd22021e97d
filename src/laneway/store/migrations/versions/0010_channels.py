"""Channels: people's addresses, pairing, strangers, deliveries part by part, and arrivals that are no messages."""

from __future__ import annotations

from alembic import op

revision = "0010"
down_revision = "0009"

UP = [
    # One person has many addresses: a phone number, a business-scoped id, an account on another channel.
    """
    CREATE TABLE addresses (
        address       text PRIMARY KEY,
        principal_id  uuid NOT NULL REFERENCES principals ON DELETE CASCADE,
        created_at    timestamptz NOT NULL DEFAULT now(),
        seen_at       timestamptz NOT NULL DEFAULT now()
    )
    """,
    "CREATE INDEX addresses_principal ON addresses (principal_id, seen_at DESC)",
    "INSERT INTO addresses (address, principal_id) SELECT address, id FROM principals WHERE address IS NOT NULL",
    "ALTER TABLE principals DROP COLUMN address",
    "ALTER TABLE principals ADD COLUMN blocked_at timestamptz",
    """
    CREATE TABLE pairings (
        id            uuid PRIMARY KEY,
        code_hash     text NOT NULL UNIQUE,
        role          text NOT NULL CHECK (role IN ('owner', 'operator', 'customer')),
        principal_id  uuid REFERENCES principals ON DELETE CASCADE,
        name          text NOT NULL,
        tries_left    integer NOT NULL,
        expires_at    timestamptz NOT NULL,
        used_at       timestamptz,
        used_by       text,
        created_at    timestamptz NOT NULL DEFAULT now()
    )
    """,
    """
    CREATE TABLE strangers (
        address     text PRIMARY KEY,
        name        text NOT NULL DEFAULT '',
        knocks      bigint NOT NULL DEFAULT 1,
        tries       integer NOT NULL DEFAULT 0,
        tried_at    timestamptz,
        told_at     timestamptz,
        first_at    timestamptz NOT NULL DEFAULT now(),
        last_at     timestamptz NOT NULL DEFAULT now()
    )
    """,
    # Presses of buttons and pairings are no messages; that they came is kept, so that they count once.
    """
    CREATE TABLE arrivals (
        channel      text NOT NULL,
        external_id  text NOT NULL,
        kind         text NOT NULL,
        body         jsonb NOT NULL DEFAULT '{}',
        created_at   timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (channel, external_id)
    )
    """,
    # A long reply is several messages of the provider; each is on record before the next one goes out.
    """
    CREATE TABLE deliveries (
        outbox_id    bigint NOT NULL REFERENCES outbox ON DELETE CASCADE,
        part         integer NOT NULL,
        channel      text NOT NULL,
        external_id  text,
        receipt      jsonb NOT NULL DEFAULT '{}',
        status       text NOT NULL DEFAULT 'sent',
        status_rank  integer NOT NULL DEFAULT 1,
        status_at    timestamptz NOT NULL DEFAULT now(),
        error        text,
        created_at   timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (outbox_id, part)
    )
    """,
    "CREATE INDEX deliveries_external ON deliveries (channel, external_id)",
    "CREATE INDEX messages_key ON messages (channel, (meta->>'message_key')) WHERE meta ? 'message_key'",
    "CREATE INDEX messages_sender ON messages (principal_id, created_at) WHERE author = 'user'",
    "ALTER TABLE attachments ALTER COLUMN artifact DROP NOT NULL",
]
DOWN = [
    "DELETE FROM attachments WHERE artifact IS NULL",
    "ALTER TABLE attachments ALTER COLUMN artifact SET NOT NULL",
    "DROP INDEX messages_sender",
    "DROP INDEX messages_key",
    "DROP TABLE deliveries, arrivals, strangers, pairings",
    "ALTER TABLE principals DROP COLUMN blocked_at",
    "ALTER TABLE principals ADD COLUMN address text UNIQUE",
    """
    UPDATE principals p SET address = (
        SELECT a.address FROM addresses a WHERE a.principal_id = p.id ORDER BY a.created_at LIMIT 1)
    """,
    "DROP TABLE addresses",
]


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
