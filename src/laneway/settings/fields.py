"""The settings themselves: one field each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from zoneinfo import available_timezones

from pydantic import ConfigDict, Field, SecretStr, ValidationError, field_validator

from laneway.connections import Host, McpServer, Name, OpenApiDocument
from laneway.errors import SettingsError
from laneway.settings.channels import ChannelSettings
from laneway.settings.field import UserPath, setting
from laneway.settings.hooks import HookSettings
from laneway.settings.observe import ObserveSettings
from laneway.settings.reactors import ReactorSettings
from laneway.settings.runner import RunnerSettings
from laneway.settings.telemetry import TelemetrySettings


def _cap(default: float | None, name: str, meaning: str) -> Any:
    """A field that limits spending; null takes the limit away."""
    return setting(default, f"budget.{name}", f"LANEWAY_BUDGET_{name.upper()}", meaning, ge=0)


class Settings(ChannelSettings, HookSettings, ObserveSettings, ReactorSettings, RunnerSettings, TelemetrySettings):
    """What the owner decided; read once at the start and handed down as values."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    home: Path = Field(default=Path("~/.laneway"), description="Data directory.", exclude=True)

    host: str = setting("127.0.0.1", "host", "LANEWAY_HOST", "Address the server binds to.")
    port: int = setting(8600, "port", "LANEWAY_PORT", "Port the server listens on.", ge=0, le=65535)
    database_url: SecretStr | None = setting(
        None, None, "DATABASE_URL", "PostgreSQL to use; unset = an embedded server in the data directory."
    )
    workers: int = setting(16, "workers", "LANEWAY_WORKERS", "Jobs one process runs at once.", ge=1, le=256)
    owner_slots: int = setting(
        4, "owner_slots", "LANEWAY_OWNER_SLOTS", "Further slots only the owner's jobs may take.", ge=1, le=64
    )
    message_history_limit: int = setting(
        30,
        "message_history_limit",
        "MESSAGE_HISTORY_LIMIT",
        "Messages of a thread a model sees.",
        ge=1,
        le=1000,
    )
    context_tokens: int = setting(
        12_000, "context_tokens", "LANEWAY_CONTEXT_TOKENS", "Token budget of that history.", ge=500
    )
    approval_timeout_seconds: int = setting(
        3600,
        "approval_timeout_seconds",
        "APPROVAL_TIMEOUT_SECONDS",
        "How long an approval can be answered.",
        ge=1,
    )
    files: UserPath | None = setting(
        None,
        "files",
        "LANEWAY_FILES",
        "The one folder `read_file` may read besides a thread's workspace; unset = none.",
    )

    sandbox: Literal["auto", "bubblewrap", "sandlock", "landlock", "off"] = setting(
        "auto", "sandbox.boundary", "LANEWAY_SANDBOX", "What `bash` runs in; auto = the strongest that works here."
    )
    sandbox_memory_mb: int = setting(
        1024, "sandbox.memory_mb", "LANEWAY_SANDBOX_MEMORY_MB", "Most memory of one command.", ge=16
    )
    sandbox_disk_mb: int = setting(
        1024, "sandbox.disk_mb", "LANEWAY_SANDBOX_DISK_MB", "Most a thread's workspace may hold.", ge=1
    )
    bash_seconds: int = setting(
        600, "sandbox.bash_seconds", "LANEWAY_BASH_SECONDS", "Longest time a command may ask for.", ge=1, le=86_400
    )

    zone: str | None = setting(
        None, "zone", "LANEWAY_ZONE", "The owner's time zone, like Europe/Berlin; unset = the machine's."
    )

    haiku_model: str = setting(
        "claude-haiku-5-5", "models.classify.model", "HAIKU_MODEL", "Small model: classification."
    )
    haiku_temperature: float = setting(
        0.0, "models.classify.temperature", "LANEWAY_CLASSIFY_TEMPERATURE", "Its temperature.", ge=0, le=2
    )
    haiku_max_tokens: int = setting(
        400, "models.classify.max_tokens", "LANEWAY_CLASSIFY_MAX_TOKENS", "Its longest answer.", ge=1
    )
    haiku_timeout_seconds: float = setting(
        30.0, "models.classify.timeout_seconds", "LANEWAY_CLASSIFY_TIMEOUT", "Its time limit.", gt=0
    )
    claude_model: str = setting("claude-sonnet-5-5", "models.execute.model", "CLAUDE_MODEL", "Strong model: execution.")
    claude_temperature: float | None = setting(
        None, "models.execute.temperature", "LANEWAY_EXECUTE_TEMPERATURE", "Its temperature; unset = the provider's.",
        ge=0, le=2,
    )  # fmt: skip
    claude_max_tokens: int = setting(
        4000, "models.execute.max_tokens", "LANEWAY_EXECUTE_MAX_TOKENS", "Its longest answer.", ge=1
    )
    claude_timeout_seconds: float = setting(
        120.0, "models.execute.timeout_seconds", "LANEWAY_EXECUTE_TIMEOUT", "Its time limit.", gt=0
    )
    default_model: str | None = setting(
        None, "models.default", "DEFAULT_MODEL",
        "`provider:model` for both roles (anthropic:, openai:, offline, scripted); unset = by the keys present.",
    )  # fmt: skip
    fallback_models: tuple[str, ...] = setting(
        (), "models.fallback", "LANEWAY_FALLBACK_MODELS", "Models tried in turn when the first cannot answer."
    )
    cheaper_model: str | None = setting(
        None, "models.cheaper", "LANEWAY_CHEAPER_MODEL",
        "`provider:model` that answers when a budget has no room for the strong one; unset = the small model.",
    )  # fmt: skip
    cooldown_seconds: float = setting(
        60.0,
        "models.cooldown_seconds",
        "LANEWAY_COOLDOWN_SECONDS",
        "How long a failing model is passed over.",
        ge=0,
    )
    openai_base_url: str | None = setting(
        None,
        "models.openai_base_url",
        "OPENAI_BASE_URL",
        "Any OpenAI-compatible server (Ollama, vLLM, llama.cpp).",
    )
    anthropic_base_url: str | None = setting(
        None, "models.anthropic_base_url", "ANTHROPIC_BASE_URL", "Another address of the Anthropic API."
    )
    anthropic_api_key: SecretStr | None = setting(None, None, "ANTHROPIC_API_KEY", "Key for Anthropic's models.")
    claude_code_oauth_token: SecretStr | None = setting(
        None, None, "CLAUDE_CODE_OAUTH_TOKEN", "OAuth token accepted instead of that key."
    )
    haiku_api_key: SecretStr | None = setting(
        None, None, "HAIKU_API_KEY", "Key for the small model only; falls back to the two above."
    )
    openai_api_key: SecretStr | None = setting(None, None, "OPENAI_API_KEY", "Key for OpenAI or a compatible server.")

    question_seconds: int = setting(
        900,
        "question_seconds",
        "LANEWAY_QUESTION_SECONDS",
        "How long a question about what was meant waits before the safe reading counts.",
        ge=1,
    )
    local_classifier: bool = setting(
        True, "local_classifier", "LANEWAY_LOCAL_CLASSIFIER", "Judge messages with the encoders on this machine first."
    )

    budget_day_usd: float | None = _cap(5.0, "day_usd", "Most money a day (UTC) in the owner's world; null = no cap.")
    budget_day_tokens: int | None = _cap(None, "day_tokens", "Most tokens a day (UTC) there.")
    budget_month_usd: float | None = _cap(None, "month_usd", "Most money a month (UTC) there.")
    budget_month_tokens: int | None = _cap(None, "month_tokens", "Most tokens a month (UTC) there.")
    budget_customers_day_usd: float | None = _cap(
        2.0, "customers_day_usd", "Most money a day (UTC) for all customers together."
    )
    budget_customers_day_tokens: int | None = _cap(
        None, "customers_day_tokens", "Most tokens a day (UTC) for all customers together."
    )
    budget_principal_day_usd: float | None = _cap(
        None, "principal_day_usd", "Most money a day (UTC) for one principal."
    )
    budget_principal_day_tokens: int | None = _cap(
        None, "principal_day_tokens", "Most tokens a day (UTC) for one principal."
    )
    budget_thread_usd: float | None = _cap(None, "thread_usd", "Most money for one thread.")
    budget_thread_tokens: int | None = _cap(None, "thread_tokens", "Most tokens for one thread.")
    budget_lane_day_usd: float | None = _cap(None, "lane_day_usd", "Most money a day (UTC) for one lane.")
    budget_lane_day_tokens: int | None = _cap(None, "lane_day_tokens", "Most tokens a day (UTC) for one lane.")
    budget_proactive_day_usd: float | None = _cap(
        None, "proactive_day_usd", "Most money a day (UTC) for what schedules start."
    )
    budget_proactive_day_tokens: int | None = _cap(
        None, "proactive_day_tokens", "Most tokens a day (UTC) for what schedules start."
    )
    budget_job_usd: float | None = _cap(1.0, "job_usd", "Most money for one job.")
    budget_job_tokens: int | None = _cap(None, "job_tokens", "Most tokens for one job.")
    budget_at_cap: Literal["refuse", "step_down"] = setting(
        "refuse",
        "budget.at_cap",
        "LANEWAY_BUDGET_AT_CAP",
        "When a call does not fit: refuse it, or step down to the cheaper model if its call fits.",
    )
    allow_unknown_price: bool = setting(
        False,
        "budget.allow_unknown_price",
        "LANEWAY_ALLOW_UNKNOWN_PRICE",
        "Call models whose price nobody knows.",
    )

    job_attempts: int = setting(
        5,
        "jobs.attempts",
        "LANEWAY_JOB_ATTEMPTS",
        "Runs of a job before a transient fault fails it.",
        ge=1,
        le=100,
    )
    retry_seconds: float = setting(
        2.0,
        "jobs.retry_seconds",
        "LANEWAY_RETRY_SECONDS",
        "First pause between those runs; it doubles.",
        ge=0,
    )
    allowed_hosts: tuple[Host, ...] = setting(
        (), "tools.allowed_hosts", "LANEWAY_ALLOWED_HOSTS",
        "Inner hosts that tools may reach all the same: host, host:port or a range (10.0.0.0/8).",
    )  # fmt: skip
    mcp: dict[Name, McpServer] = setting(
        {}, "tools.mcp", "LANEWAY_MCP", "MCP servers whose tools may be used (docs/tools-from-outside.md)."
    )
    openapi: dict[Name, OpenApiDocument] = setting(
        {}, "tools.openapi", "LANEWAY_OPENAPI", "APIs whose operations may be called (docs/tools-from-outside.md)."
    )
    orchestrator_url: str | None = setting(
        None,
        "orchestrator.url",
        "ORCHESTRATOR_URL",
        "External API accepted workflow patches are forwarded to.",
    )
    max_text_bytes: int = setting(
        262_144, "storage.max_text_bytes", "LANEWAY_MAX_TEXT_BYTES", "Longest text of one message.", ge=1
    )
    max_file_bytes: int = setting(
        20_971_520, "storage.max_file_bytes", "LANEWAY_MAX_FILE_BYTES", "Largest attached file.", ge=1
    )
    keep_events_days: int = setting(
        90,
        "storage.keep_events_days",
        "LANEWAY_KEEP_EVENTS_DAYS",
        "How long events, and copies for undo, are kept.",
        ge=1,
    )
    log_format: Literal["text", "json"] = setting(
        "text", "log.format", "LANEWAY_LOG_FORMAT", "Log lines for people or for machines."
    )
    log_level: Literal["debug", "info", "warning", "error"] = setting(
        "info", "log.level", "LANEWAY_LOG_LEVEL", "How much is logged."
    )

    @field_validator("zone")
    @classmethod
    def _a_zone_there_is(cls, name: str | None) -> str | None:
        if name is not None and name not in available_timezones():
            raise ValueError("there is no such time zone; use a name like Europe/Berlin")
        return name

    @field_validator("mcp", "openapi", mode="before")
    @classmethod
    def _an_empty_section_names_nothing(cls, given: Any) -> Any:
        return {} if given is None else given

    @property
    def embedded(self) -> bool:
        """Whether Laneway runs its own PostgreSQL."""
        return self.database_url is None

    @classmethod
    def load(cls, environ: Mapping[str, str] | None = None, here: Path | None = None) -> Settings:
        """The settings in force, or one SettingsError that names every wrong key and value."""
        # The sources know every field of this class, so they are looked at when it is there.
        from laneway.settings.sources import explained, values_in_force

        try:
            return cls.model_validate(values_in_force(environ, here))
        except ValidationError as error:
            raise SettingsError(explained(error)) from None
