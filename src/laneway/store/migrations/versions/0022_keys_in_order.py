"""What people send and see keeps the order of its keys, which are the columns of their tables."""

from __future__ import annotations

from alembic import op

revision = "0022"
down_revision = "0021"

# As json and not jsonb, which sorts keys. `messages.meta` stays jsonb: it is looked into for every message of a
# conversation, which json makes twelve times as slow; the one part of it that holds rows is kept beside it.
COLUMNS: dict[str, tuple[str, ...]] = {
    "jobs": ("payload", "result"),
    "effects": ("outcome",),
    "pauses": ("messages", "calls"),
    "plans": ("plan",),
    "results": ("plan",),
    "reminders": ("meta",),
    "workflow_runs": ("input", "pinned", "output"),
    "workflow_nodes": ("input", "output"),
}
VIEW = """
CREATE VIEW reactive_jobs AS
SELECT id, thread_id, message_id AS trigger_message_id, mode, status, payload AS payload_json,
       result AS result_json, error->>'message' AS error, created_at, started_at, finished_at AS completed_at
FROM jobs WHERE scope = 'reactive'
"""


def _become(kind: str) -> None:
    op.execute("DROP VIEW reactive_jobs")
    for table, names in COLUMNS.items():
        # One statement per table, so that it is written once. A default is of the old type and steps aside meanwhile.
        changes = [f"ALTER {name} DROP DEFAULT, ALTER {name} TYPE {kind} USING {name}::{kind}" for name in names]
        op.execute(f"ALTER TABLE {table} {', '.join(changes)}")
    for table, name in DEFAULTS:
        op.execute(f"ALTER TABLE {table} ALTER {name} SET DEFAULT '{{}}'")
    op.execute(VIEW)


DEFAULTS = [
    ("jobs", "payload"), ("reminders", "meta"), ("workflow_runs", "input"), ("workflow_runs", "pinned"),
    ("workflow_nodes", "input"),
]  # fmt: skip


def upgrade() -> None:
    op.execute("ALTER TABLE messages ADD COLUMN result_preview json")
    _become("json")


def downgrade() -> None:
    _become("jsonb")
    op.execute("ALTER TABLE messages DROP COLUMN result_preview")
