"""Budgets: caps by principal, thread, lane, job, day and month; the ledger knows whose each call was."""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"

# An open call counts at its worst case in the very columns everybody adds up, so that any SUM is the right one.
OPEN_CALLS = """
UPDATE token_ledger SET tokens_total = reserved_tokens, cost = reserved_cost WHERE state IN ('reserved', 'cut')
"""
WHOSE = """
ALTER TABLE token_ledger
    ADD COLUMN world text NOT NULL DEFAULT 'owner' CHECK (world IN ('owner', 'customer')),
    ADD COLUMN principal uuid,
    ADD COLUMN lane text,
    ADD COLUMN schedule text
"""
WHOSE_IT_WAS = """
UPDATE token_ledger l
SET world = t.world, principal = coalesce(m.principal_id, t.principal_id), lane = j.lane
FROM jobs j JOIN messages m ON m.id = j.message_id JOIN threads t ON t.id = j.thread_id WHERE j.id = l.job
"""

# What the ledger adds up to, one row for each day and account: a month is a few rows, however many calls it had.
DAYS = """
CREATE TABLE ledger_days (
    world            text NOT NULL,
    day              date NOT NULL,
    principal        text NOT NULL,
    thread           text NOT NULL,
    lane             text NOT NULL,
    scope            text NOT NULL,
    schedule         text NOT NULL,
    spent            numeric NOT NULL,
    reserved         numeric NOT NULL,
    spent_tokens     bigint NOT NULL,
    reserved_tokens  bigint NOT NULL,
    PRIMARY KEY (world, day, principal, thread, lane, scope, schedule)
) WITH (fillfactor = 70)
"""
FILL_DAYS = """
INSERT INTO ledger_days
SELECT world, (created_at AT TIME ZONE 'UTC')::date, coalesce(principal::text, ''), coalesce(thread::text, ''),
       coalesce(lane, ''), scope, coalesce(schedule, ''),
       sum(CASE WHEN state = 'reserved' THEN 0 ELSE cost END), sum(CASE WHEN state = 'reserved' THEN cost ELSE 0 END),
       sum(CASE WHEN state = 'reserved' THEN 0 ELSE tokens_total END),
       sum(CASE WHEN state = 'reserved' THEN tokens_total ELSE 0 END)
FROM token_ledger GROUP BY 1, 2, 3, 4, 5, 6, 7
"""
ADD_UP = """
CREATE FUNCTION token_ledger_add_up() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        UPDATE ledger_days SET
            spent = spent - CASE WHEN OLD.state = 'reserved' THEN 0 ELSE OLD.cost END,
            reserved = reserved - CASE WHEN OLD.state = 'reserved' THEN OLD.cost ELSE 0 END,
            spent_tokens = spent_tokens - CASE WHEN OLD.state = 'reserved' THEN 0 ELSE OLD.tokens_total END,
            reserved_tokens = reserved_tokens - CASE WHEN OLD.state = 'reserved' THEN OLD.tokens_total ELSE 0 END
        WHERE world = OLD.world AND day = (OLD.created_at AT TIME ZONE 'UTC')::date
          AND principal = coalesce(OLD.principal::text, '') AND thread = coalesce(OLD.thread::text, '')
          AND lane = coalesce(OLD.lane, '') AND scope = OLD.scope AND schedule = coalesce(OLD.schedule, '');
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO ledger_days AS d VALUES (
            NEW.world, (NEW.created_at AT TIME ZONE 'UTC')::date, coalesce(NEW.principal::text, ''),
            coalesce(NEW.thread::text, ''), coalesce(NEW.lane, ''), NEW.scope, coalesce(NEW.schedule, ''),
            CASE WHEN NEW.state = 'reserved' THEN 0 ELSE NEW.cost END,
            CASE WHEN NEW.state = 'reserved' THEN NEW.cost ELSE 0 END,
            CASE WHEN NEW.state = 'reserved' THEN 0 ELSE NEW.tokens_total END,
            CASE WHEN NEW.state = 'reserved' THEN NEW.tokens_total ELSE 0 END)
        ON CONFLICT (world, day, principal, thread, lane, scope, schedule) DO UPDATE SET
            spent = d.spent + EXCLUDED.spent,
            reserved = d.reserved + EXCLUDED.reserved,
            spent_tokens = d.spent_tokens + EXCLUDED.spent_tokens,
            reserved_tokens = d.reserved_tokens + EXCLUDED.reserved_tokens;
    END IF;
    RETURN NULL;
END $$
"""
START_ANEW = """
CREATE FUNCTION token_ledger_start_anew() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM ledger_days;
    RETURN NULL;
END $$
"""
BUDGETS = """
CREATE TABLE budgets (
    subject     text NOT NULL CHECK (subject IN ('all', 'principal', 'thread', 'lane', 'scope', 'schedule', 'job')),
    name        text NOT NULL,
    world       text NOT NULL CHECK (world IN ('', 'owner', 'customer')),
    period      text NOT NULL CHECK (period IN ('day', 'month', 'ever')),
    usd         numeric(18, 9) CHECK (usd >= 0),
    tokens      bigint CHECK (tokens >= 0),
    set_by      uuid REFERENCES principals,
    set_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (subject, name, world, period),
    CHECK (usd IS NOT NULL OR tokens IS NOT NULL)
)
"""
UP = [
    WHOSE,
    WHOSE_IT_WAS,
    OPEN_CALLS,
    DAYS,
    FILL_DAYS,
    "CREATE INDEX ledger_days_principal ON ledger_days (principal, day)",
    "CREATE INDEX ledger_days_thread ON ledger_days (thread, day)",
    "CREATE INDEX ledger_days_schedule ON ledger_days (schedule, day) WHERE schedule <> ''",
    ADD_UP,
    "CREATE TRIGGER token_ledger_add_up AFTER INSERT OR UPDATE OR DELETE ON token_ledger "
    "FOR EACH ROW EXECUTE FUNCTION token_ledger_add_up()",
    START_ANEW,
    "CREATE TRIGGER token_ledger_start_anew AFTER TRUNCATE ON token_ledger "
    "FOR EACH STATEMENT EXECUTE FUNCTION token_ledger_start_anew()",
    BUDGETS,
    # What the owner has been told of a budget, so that it is said once.
    "CREATE TABLE budget_notices (key text PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT now())",
]
DOWN = [
    "DROP TABLE budget_notices, budgets, ledger_days",
    "DROP FUNCTION token_ledger_add_up, token_ledger_start_anew CASCADE",
    "UPDATE token_ledger SET tokens_total = 0, cost = 0 WHERE state IN ('reserved', 'cut')",
    "ALTER TABLE token_ledger DROP COLUMN world, DROP COLUMN principal, DROP COLUMN lane, DROP COLUMN schedule",
]


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
