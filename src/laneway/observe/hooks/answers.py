"""What each agent understands as an answer.

Only built-in types here: the command an agent starts for every tool call imports this file, and must be quick.
"""

from __future__ import annotations

AGENTS = ("claude-code", "codex", "gemini")
BEFORE = {"claude-code": "PreToolUse", "codex": "PreToolUse", "gemini": "BeforeTool"}
"""The event that waits for a decision."""
CANNOT_ASK = frozenset({"codex"})
"""A hook of theirs that says `ask` counts as broken, and the call runs."""
MARK = "Denied by Laneway"
"""How every denial begins, so that it is recognised in the agent's log."""

Answer = dict[str, object]


def before_tool(agent: str, said: str, why: str, context: str = "") -> Answer:
    """The answer to an agent that asks whether a tool may run; `leave` lets its own permissions decide."""
    if agent == "gemini":
        return _gemini(said, _together(why, context))
    told: Answer = {"hookEventName": BEFORE[agent]}
    # Codex takes an explicit allow for a mistake, and goes on all the same.
    if said in ("ask", "deny") or (said == "allow" and agent != "codex"):
        told |= {"permissionDecision": said, "permissionDecisionReason": _together(why, context)}
    if context:
        told["additionalContext"] = context
    return {"hookSpecificOutput": told} if len(told) > 1 else {}


def _gemini(said: str, why: str) -> Answer:
    if said == "deny":
        return {"decision": "deny", "reason": why}
    if said == "ask":
        return {"decision": "ask", "reason": why, "systemMessage": why}
    return {"decision": "allow"} if said == "allow" else {}


def permission(said: str, why: str) -> Answer:
    """The answer to an agent that is about to ask its user; only a denial needs no user."""
    if said != "deny":
        return {}
    return {
        "hookSpecificOutput": {
            "hookEventName": "PermissionRequest",
            "decision": {"behavior": "deny", "message": why},
        }
    }


def with_context(event: str, context: str) -> Answer:
    """A neutral answer; the agent reads the text, if there is one."""
    if not context:
        return {}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}


def carries_context(agent: str, event: str) -> bool:
    """Whether the agent reads a text that comes with a neutral answer to this event."""
    if agent == "gemini":
        return event == "AfterTool"
    return event in ("PreToolUse", "PostToolUse") or (agent == "claude-code" and event == "PostToolUseFailure")


def when_down(agent: str, event: str, rule: str, why: str, *, cannot_ask: str = "deny") -> Answer:
    """What the hook says by itself while Laneway does not answer."""
    if event != BEFORE[agent]:
        return {}
    if rule == "ask" and agent in CANNOT_ASK:
        rule = cannot_ask
    if rule in ("allow", "leave"):
        return {"systemMessage": f"{why} This call was not judged."}
    told = f"{MARK}'s hook: {why}" if rule == "deny" else why
    return before_tool(agent, rule, told)


def denial(answer: Answer) -> str:
    """Why the answer denies the call; empty if it does not."""
    inner = answer.get("hookSpecificOutput")
    if isinstance(inner, dict):
        decision = inner.get("decision")
        if isinstance(decision, dict) and decision.get("behavior") == "deny":
            return str(decision.get("message") or MARK)
        if inner.get("permissionDecision") == "deny":
            return str(inner.get("permissionDecisionReason") or MARK)
    if answer.get("decision") in ("deny", "block"):
        return str(answer.get("reason") or MARK)
    return ""


def _together(why: str, context: str) -> str:
    return f"{why} {context}".strip()
