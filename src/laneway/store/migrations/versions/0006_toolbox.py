"""The toolbox of a thread: tools found often enough to stay."""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision = "0005"

TOOLBOX = """
CREATE TABLE toolbox (
    thread_id  uuid NOT NULL REFERENCES threads ON DELETE CASCADE,
    tool       text NOT NULL,
    found      integer NOT NULL DEFAULT 0,
    kept       boolean NOT NULL DEFAULT false,
    job_id     uuid,
    found_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (thread_id, tool)
)
"""
UP: list[str] = [TOOLBOX]
DOWN: list[str] = ["DROP TABLE toolbox"]


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
