"""What is reserved for a call stands beside what calls cost, and in no sum of it."""

from __future__ import annotations

from alembic import op

revision = "0025"
down_revision = "0024"

# The same function; only where it reads what is reserved differs.
ADD_UP = r"""
DO $do$ BEGIN EXECUTE regexp_replace(regexp_replace(pg_get_functiondef('token_ledger_add_up'::regproc),
    'THEN (OLD|NEW)\.{cost} ELSE', 'THEN \1.{to_cost} ELSE', 'g'),
    'THEN (OLD|NEW)\.{tokens} ELSE', 'THEN \1.{to_tokens} ELSE', 'g');
END $do$
"""
UP: list[str] = [
    ADD_UP.format(cost="cost", to_cost="reserved_cost", tokens="tokens_total", to_tokens="reserved_tokens"),
    "UPDATE token_ledger SET cost = 0, tokens_total = 0 WHERE state = 'reserved'",
    "CREATE INDEX token_ledger_open ON token_ledger (created_at) WHERE state = 'reserved'",
]
DOWN: list[str] = [
    "DROP INDEX token_ledger_open",
    "UPDATE token_ledger SET cost = reserved_cost, tokens_total = reserved_tokens WHERE state = 'reserved'",
    ADD_UP.format(cost="reserved_cost", to_cost="cost", tokens="reserved_tokens", to_tokens="tokens_total"),
]


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
