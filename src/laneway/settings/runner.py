"""The settings of the runner: jobs from Redis, pipelines, workflows, and the mail they send."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, SecretStr

from laneway.settings.field import setting


class RunnerSettings(BaseModel):
    """What the owner decided about pipelines and workflows, and about the queue they may come from."""

    redis_url: SecretStr | None = setting(None, "redis.url", "REDIS_URL", "Redis for the queue channel; unset = off.")
    redis_jobs: str = setting("agent:jobs", "redis.jobs", "LANEWAY_REDIS_JOBS", "List that jobs are taken from.")
    redis_stream: str | None = setting(
        None, "redis.stream", "LANEWAY_REDIS_STREAM", "Stream that jobs are taken from as well; unset = none."
    )
    redis_tokens: bool = setting(
        False, "redis.tokens", "LANEWAY_REDIS_TOKENS",
        "Take the tokens of the stream wf.tasks.agent too, and tell completion_signals.",
    )  # fmt: skip
    redis_result_seconds: int = setting(
        86_400, "redis.result_seconds", "LANEWAY_REDIS_RESULT_SECONDS", "How long a result lies in Redis.", ge=1
    )
    redis_role: Literal["owner", "operator"] = setting(
        "operator", "redis.role", "LANEWAY_REDIS_ROLE", "As whom jobs from Redis act."
    )
    redis_owners: dict[str, str] = setting(
        {}, "redis.owners", "LANEWAY_REDIS_OWNERS",
        "workflow_owner of a job → name of a principal of ours; if any is named, all others are refused.",
    )  # fmt: skip
    redis_jobs_per_minute: int = setting(
        600, "redis.jobs_per_minute", "LANEWAY_REDIS_JOBS_PER_MINUTE", "Jobs of one owner taken in a minute.", ge=1
    )
    redis_unfinished: int = setting(
        100, "redis.unfinished", "LANEWAY_REDIS_UNFINISHED",
        "Jobs from Redis that may be queued or running at once; more stay in Redis.", ge=1,
    )  # fmt: skip
    redis_job_bytes: int = setting(
        2_000_000, "redis.job_bytes", "LANEWAY_REDIS_JOB_BYTES", "Largest job that is taken from Redis.",
        ge=1000, le=64_000_000,
    )  # fmt: skip
    pipeline_rows: int = setting(
        2_000_000, "pipeline.rows", "LANEWAY_PIPELINE_ROWS", "Most rows a pipeline may hold.", ge=1000
    )
    workflow_approval: bool = setting(
        True, "workflow.approval", "LANEWAY_WORKFLOW_APPROVAL",
        "Ask before a change of a workflow is stored; off = the owner's own requests are stored at once.",
    )  # fmt: skip
    workflow_replays: int = setting(
        10, "workflow.replays", "LANEWAY_WORKFLOW_REPLAYS",
        "How many recorded runs a change is tried on before it is shown.", ge=0, le=200,
    )  # fmt: skip
    orchestrator_url: str | None = setting(
        None,
        "workflow.orchestrator_url",
        "ORCHESTRATOR_URL",
        "API that accepted patches are forwarded to; unset = none.",
    )
    smtp_url: SecretStr | None = setting(
        None, None, "LANEWAY_SMTP_URL", "Mail server, smtp://user:password@host:587 or smtps://…; unset = no mail."
    )
    mail_from: str | None = setting(None, "mail.from", "LANEWAY_MAIL_FROM", "Address that mail is sent from.")
    mail_to: str | None = setting(None, "mail.to", "LANEWAY_MAIL_TO", "The owner's address: who is mailed by default.")
