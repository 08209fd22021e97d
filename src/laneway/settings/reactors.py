"""The settings of reactors: what they watch for, and what they may end."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from laneway.settings.field import UserPath, setting

KillOn = Literal["danger", "loop", "budget", "reactor"]


class ReactorSettings(BaseModel):
    """What the owner decided about watching sessions and jobs."""

    reactor_folder: UserPath | None = setting(
        None, "reactors.folder", "LANEWAY_REACTORS",
        "Folder of your own reactors (*.py) and rules (*.toml); unset = `reactors` in the data directory.",
    )  # fmt: skip
    reactor_kill_on: tuple[KillOn, ...] = setting(
        (), "reactors.kill_on", "LANEWAY_REACTORS_KILL_ON",
        "What ends another agent's session: danger, loop, budget, reactor (one of your own); otherwise you are told.",
    )  # fmt: skip
    reactor_budget_tokens: int | None = setting(
        None, "reactors.budget_tokens", "LANEWAY_REACTORS_BUDGET_TOKENS", "Most tokens of one session.", gt=0
    )
    reactor_budget_usd: float | None = setting(
        None, "reactors.budget_usd", "LANEWAY_REACTORS_BUDGET_USD", "Most money one session may cost.", gt=0
    )
    reactor_max_minutes: float | None = setting(
        None, "reactors.max_minutes", "LANEWAY_REACTORS_MAX_MINUTES", "Most minutes of one session.", gt=0
    )
    reactor_idle_seconds: float = setting(
        60.0, "reactors.idle_seconds", "LANEWAY_REACTORS_IDLE_SECONDS",
        "How long a session waits for you before you are told.", gt=0,
    )  # fmt: skip
    reactor_permission_seconds: float = setting(
        60.0, "reactors.permission_seconds", "LANEWAY_REACTORS_PERMISSION_SECONDS",
        "The same where it may be waiting for your permission.", gt=0,
    )  # fmt: skip
    reactor_tool_seconds: float = setting(
        600.0, "reactors.tool_seconds", "LANEWAY_REACTORS_TOOL_SECONDS",
        "How long a tool or background work may run without a sign.", gt=0,
    )  # fmt: skip
    reactor_cool_down_seconds: float = setting(
        300.0, "reactors.cool_down_seconds", "LANEWAY_REACTORS_COOL_DOWN_SECONDS",
        "Shortest time between two such notices of one session.", ge=0,
    )  # fmt: skip
    reactor_errors: int = setting(
        5, "reactors.errors", "LANEWAY_REACTORS_ERRORS", "Errors in a row before you are told.", ge=1
    )
    reactor_loop_exceptions: tuple[Annotated[str, Field(min_length=1)], ...] = setting(
        (), "reactors.loop_exceptions", "LANEWAY_REACTORS_LOOP_EXCEPTIONS",
        "Calls that may repeat: Tool or Tool(command), with * for anything.",
    )  # fmt: skip
    reactor_cheaper_ways: bool = setting(
        True, "reactors.cheaper_ways", "LANEWAY_REACTORS_CHEAPER_WAYS", "Point out cheaper ways of working."
    )
    reactor_audit_file: UserPath | None = setting(
        None, "reactors.audit_file", "LANEWAY_REACTORS_AUDIT_FILE",
        "File that other agents' calls which can change something are put down in; unset = none.",
    )  # fmt: skip
