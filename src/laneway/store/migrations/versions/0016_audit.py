"""The audit: entries that nobody changes, each bound to the one before; and counters that outlive processes."""

from __future__ import annotations

from alembic import op

revision = "0016"
down_revision = "0015"

UP = [
    # The body is text, not jsonb: its very characters are hashed.
    """
    CREATE TABLE audit (
        number    bigint PRIMARY KEY CHECK (number > 0),
        at        timestamptz NOT NULL,
        actor     text NOT NULL,
        what      text NOT NULL,
        body      text NOT NULL,
        previous  text NOT NULL,
        hash      text NOT NULL UNIQUE
    )
    """,
    "CREATE INDEX audit_what ON audit (what, number)",
    """
    CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'The audit is append-only: % is refused.', TG_OP USING ERRCODE = 'insufficient_privilege';
    END $$
    """,
    """
    CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
        FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only()
    """,
    """
    CREATE TABLE audit_place (
        one       boolean PRIMARY KEY DEFAULT true CHECK (one),
        cursor    text NOT NULL,
        moved_at  timestamptz NOT NULL DEFAULT now()
    )
    """,
    """
    CREATE TABLE counters (
        name    text NOT NULL,
        labels  jsonb NOT NULL,
        value   numeric NOT NULL,
        PRIMARY KEY (name, labels)
    )
    """,
]
DOWN = [
    "DROP TABLE counters",
    "DROP TABLE audit_place",
    "DROP TABLE audit",
    "DROP FUNCTION audit_is_append_only",
]


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
