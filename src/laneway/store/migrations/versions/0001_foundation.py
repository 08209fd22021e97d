"""The first tables: who talks, what was said, what was judged, what is done, sent and spent."""

from __future__ import annotations

from alembic import op

revision = "0001"
down_revision = None

CONVERSATION = """
CREATE TABLE principals (
    id          uuid PRIMARY KEY,
    role        text NOT NULL CHECK (role IN ('owner', 'operator', 'customer')),
    name        text NOT NULL,
    address     text UNIQUE,
    key_hash    text UNIQUE,
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE threads (
    id            uuid PRIMARY KEY,
    channel       text NOT NULL,
    external_id   text NOT NULL,
    principal_id  uuid NOT NULL REFERENCES principals,
    world         text NOT NULL CHECK (world IN ('owner', 'customer')),
    context_from  bigint NOT NULL DEFAULT 0,
    created_at    timestamptz NOT NULL DEFAULT now(),
    UNIQUE (channel, external_id)
);

CREATE TABLE messages (
    id            uuid PRIMARY KEY,
    seq           bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    thread_id     uuid NOT NULL REFERENCES threads,
    author        text NOT NULL CHECK (author IN ('user', 'assistant')),
    channel       text NOT NULL,
    external_id   text NOT NULL,
    principal_id  uuid REFERENCES principals,
    text          text NOT NULL,
    meta          jsonb NOT NULL DEFAULT '{}',
    created_at    timestamptz NOT NULL DEFAULT now(),
    UNIQUE (channel, external_id)
);
CREATE INDEX messages_thread ON messages (thread_id, seq);

CREATE TABLE artifacts (
    ref         text PRIMARY KEY,
    mime        text NOT NULL,
    size        bigint NOT NULL,
    content     bytea NOT NULL,
    meta        jsonb NOT NULL DEFAULT '{}',
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE attachments (
    id          uuid PRIMARY KEY,
    message_id  uuid NOT NULL REFERENCES messages ON DELETE CASCADE,
    kind        text NOT NULL,
    name        text NOT NULL,
    mime        text NOT NULL,
    size        bigint NOT NULL,
    artifact    text NOT NULL REFERENCES artifacts,
    preview     text NOT NULL DEFAULT '',
    meta        jsonb NOT NULL DEFAULT '{}',
    created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX attachments_message ON attachments (message_id);
"""

WORK = """
CREATE TABLE jobs (
    id                   uuid PRIMARY KEY,
    seq                  bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    thread_id            uuid NOT NULL REFERENCES threads,
    message_id           uuid NOT NULL REFERENCES messages,
    mode                 text NOT NULL CHECK (mode IN ('AUTO', 'CLASSIFY', 'EXECUTE', 'ANSWER', 'PLAN')),
    lane                 text,
    scope                text NOT NULL DEFAULT 'reactive' CHECK (scope IN ('reactive', 'proactive')),
    owner                boolean NOT NULL,
    aside                boolean NOT NULL DEFAULT false,
    status               text NOT NULL DEFAULT 'queued'
                         CHECK (status IN ('queued', 'running', 'waiting', 'done', 'failed', 'cancelled')),
    run                  integer NOT NULL DEFAULT 0,
    epoch                integer NOT NULL DEFAULT 0,
    worker               text,
    attempts             integer NOT NULL DEFAULT 0,
    deaths               integer NOT NULL DEFAULT 0,
    resume               boolean NOT NULL DEFAULT false,
    not_before           timestamptz,
    cancel_requested_at  timestamptz,
    payload              jsonb NOT NULL DEFAULT '{}',
    result               jsonb,
    error                jsonb,
    created_at           timestamptz NOT NULL DEFAULT now(),
    started_at           timestamptz,
    finished_at          timestamptz
);
-- Order within a thread is kept by the database itself: a second running job cannot exist.
-- Chat commands (/stop, /status) go aside of that order, or they could not reach a busy thread.
CREATE UNIQUE INDEX jobs_one_running ON jobs (thread_id) WHERE status = 'running' AND NOT aside;
CREATE INDEX jobs_open ON jobs (thread_id, seq) WHERE status IN ('queued', 'running') AND NOT aside;
CREATE INDEX jobs_queued ON jobs (owner DESC, seq) WHERE status = 'queued';
CREATE INDEX jobs_worker ON jobs (worker) WHERE status = 'running';
CREATE INDEX jobs_status ON jobs (status, seq);
CREATE INDEX jobs_message ON jobs (message_id);

CREATE TABLE classifications (
    id                  uuid PRIMARY KEY,
    message_id          uuid NOT NULL REFERENCES messages ON DELETE CASCADE,
    job_id              uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    intent              text NOT NULL CHECK (intent IN ('question', 'command', 'other')),
    lane                text NOT NULL,
    summary             text NOT NULL,
    plan                text NOT NULL,
    needs_confirmation  boolean NOT NULL,
    confidence          double precision NOT NULL,
    decided_by          text NOT NULL,
    runner_up           text,
    milliseconds        double precision NOT NULL,
    created_at          timestamptz NOT NULL DEFAULT now(),
    UNIQUE (job_id)
);

-- `xact` makes a gapless order: readers see only what every earlier transaction has finished writing.
CREATE TABLE events (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    xact        xid8 NOT NULL DEFAULT pg_current_xact_id(),
    thread_id   uuid,
    job_id      uuid,
    kind        text NOT NULL,
    body        jsonb NOT NULL DEFAULT '{}',
    created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX events_order ON events (xact, id);
CREATE INDEX events_job ON events (job_id, id);

CREATE TABLE effects (
    job_id       uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    key          text NOT NULL,
    tool         text NOT NULL,
    state        text NOT NULL CHECK (state IN ('intent', 'done', 'uncertain')),
    outcome      jsonb,
    created_at   timestamptz NOT NULL DEFAULT now(),
    finished_at  timestamptz,
    PRIMARY KEY (job_id, key)
);

CREATE TABLE approvals (
    id             uuid PRIMARY KEY,
    job_id         uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    thread_id      uuid NOT NULL REFERENCES threads,
    action         jsonb NOT NULL,
    action_hash    text NOT NULL,
    why            text NOT NULL,
    estimated_cost numeric(18, 9),
    may_answer     text[] NOT NULL DEFAULT '{owner}',
    state          text NOT NULL DEFAULT 'pending'
                   CHECK (state IN ('pending', 'approved', 'rejected', 'superseded', 'expired')),
    deadline       timestamptz NOT NULL,
    answered_by    uuid REFERENCES principals,
    answered_at    timestamptz,
    created_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX approvals_pending ON approvals (deadline) WHERE state = 'pending';
CREATE INDEX approvals_job ON approvals (job_id);

CREATE TABLE outbox (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    message_id  uuid NOT NULL UNIQUE REFERENCES messages ON DELETE CASCADE,
    thread_id   uuid NOT NULL REFERENCES threads,
    channel     text NOT NULL,
    state       text NOT NULL DEFAULT 'pending'
                CHECK (state IN ('pending', 'sending', 'uncertain', 'sent', 'undeliverable')),
    attempts    integer NOT NULL DEFAULT 0,
    resent      boolean NOT NULL DEFAULT false,
    worker      text,
    not_before  timestamptz,
    receipt     jsonb,
    error       text,
    created_at  timestamptz NOT NULL DEFAULT now(),
    sent_at     timestamptz
);
CREATE INDEX outbox_open ON outbox (thread_id, id) WHERE state IN ('pending', 'sending', 'uncertain');

CREATE TABLE schedules (
    id          uuid PRIMARY KEY,
    name        text NOT NULL UNIQUE,
    thread_id   uuid NOT NULL REFERENCES threads,
    text        text NOT NULL,
    cron        text NOT NULL,
    zone        text NOT NULL DEFAULT 'UTC',
    paused      boolean NOT NULL DEFAULT false,
    next_at     timestamptz,
    last_at     timestamptz,
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE workers (
    id          text PRIMARY KEY,
    host        text NOT NULL,
    pid         integer NOT NULL,
    born        double precision NOT NULL,
    version     text NOT NULL,
    slots       integer NOT NULL,
    started_at  timestamptz NOT NULL DEFAULT now(),
    beat_at     timestamptz NOT NULL DEFAULT now(),
    gone_at     timestamptz
);
"""

MONEY = """
CREATE TABLE token_ledger (
    id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    scope             text NOT NULL CHECK (scope IN ('reactive', 'proactive')),
    provider          text NOT NULL,
    model             text NOT NULL DEFAULT '',
    tokens_input      bigint NOT NULL DEFAULT 0,
    tokens_output     bigint NOT NULL DEFAULT 0,
    tokens_total      bigint NOT NULL DEFAULT 0,
    tokens_cached     bigint NOT NULL DEFAULT 0,
    tokens_reasoning  bigint NOT NULL DEFAULT 0,
    cost              numeric(18, 9) NOT NULL DEFAULT 0,
    state             text NOT NULL DEFAULT 'settled'
                      CHECK (state IN ('reserved', 'settled', 'cut', 'released')),
    reserved_tokens   bigint NOT NULL DEFAULT 0,
    reserved_cost     numeric(18, 9) NOT NULL DEFAULT 0,
    thread            uuid,
    job               uuid,
    meta_json         jsonb NOT NULL DEFAULT '{}',
    created_at        timestamptz NOT NULL DEFAULT now(),
    settled_at        timestamptz
);
CREATE INDEX token_ledger_day ON token_ledger (created_at);
CREATE INDEX token_ledger_thread ON token_ledger (thread);
CREATE INDEX token_ledger_job ON token_ledger (job);
"""

SEED_VIEWS = """
CREATE VIEW reactive_jobs AS
SELECT id, thread_id, message_id AS trigger_message_id, mode, status, payload AS payload_json,
       result AS result_json, error->>'message' AS error, created_at, started_at, finished_at AS completed_at
FROM jobs WHERE scope = 'reactive';
"""


def upgrade() -> None:
    for statements in (CONVERSATION, WORK, MONEY, SEED_VIEWS):
        op.execute(statements)


TABLES = (
    "token_ledger, workers, schedules, outbox, approvals, effects, events, classifications, jobs, "
    "attachments, artifacts, messages, threads, principals"
)


def downgrade() -> None:
    op.execute("DROP VIEW reactive_jobs")
    op.execute(f"DROP TABLE {TABLES}")
