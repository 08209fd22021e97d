"""The settings of hooks: what other agents are told before their tools run."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, SecretStr

from laneway.settings.field import setting


class HookSettings(BaseModel):
    """What the owner decided about the hooks of other agents (docs/hooks.md)."""

    hooks_when_down: Literal["ask", "allow", "deny"] = setting(
        "ask", "hooks.when_down", "LANEWAY_HOOKS_WHEN_DOWN",
        "What an agent's hook says of a tool call while Laneway does not answer.",
    )  # fmt: skip
    hooks_ordinary: Literal["leave", "allow"] = setting(
        "leave", "hooks.ordinary", "LANEWAY_HOOKS_ORDINARY",
        "A call that may change something and holds no danger: leave it to the agent's own permissions, or allow it.",
    )  # fmt: skip
    hooks_cannot_ask: Literal["deny", "leave"] = setting(
        "deny", "hooks.cannot_ask", "LANEWAY_HOOKS_CANNOT_ASK",
        "What `ask` becomes for an agent whose hooks cannot ask (Codex): deny it, or leave it to the agent.",
    )  # fmt: skip
    hooks_key: SecretStr | None = setting(
        None, None, "LANEWAY_HOOKS_KEY",
        "Key that opens /hooks and nothing else; unset = the one in the file `hooks-key` of the data directory.",
    )  # fmt: skip
