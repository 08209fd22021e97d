"""Other agents' sessions, kept longer than the agents keep them."""

from __future__ import annotations

from alembic import op

revision = "0014"
down_revision = "0013"

UP = [
    # A sub-agent's file carries its parent's session id, so the file belongs to the name.
    """
    CREATE TABLE sessions (
        id            uuid PRIMARY KEY,
        provider      text NOT NULL,
        session_id    text NOT NULL,
        source        text NOT NULL,
        cwd           text NOT NULL DEFAULT '',
        model         text NOT NULL DEFAULT '',
        started_at    timestamptz,
        last_activity timestamptz,
        ended         boolean NOT NULL DEFAULT false,
        state         jsonb NOT NULL DEFAULT '{}',
        life          integer NOT NULL DEFAULT 0,
        read_to       bigint NOT NULL DEFAULT 0,
        file_id       text NOT NULL DEFAULT '',
        gone_at       timestamptz,
        created_at    timestamptz NOT NULL DEFAULT now(),
        changed_at    timestamptz NOT NULL DEFAULT now(),
        UNIQUE (provider, session_id, source)
    )
    """,
    "CREATE INDEX sessions_activity ON sessions (last_activity DESC NULLS LAST, id)",
    """
    CREATE TABLE session_events (
        id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        session     uuid NOT NULL REFERENCES sessions ON DELETE CASCADE,
        life        integer NOT NULL,
        place       bigint NOT NULL,
        part        integer NOT NULL,
        kind        text NOT NULL,
        at          timestamptz NOT NULL,
        body        jsonb NOT NULL,
        created_at  timestamptz NOT NULL DEFAULT now(),
        UNIQUE (session, life, place, part)
    )
    """,
    "CREATE INDEX session_events_at ON session_events (at)",
]
DOWN = ["DROP TABLE session_events", "DROP TABLE sessions"]


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
