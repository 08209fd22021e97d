"""Whether a call may run, by the rules of the guard and the reactors, and what the agent is told."""

from __future__ import annotations

from dataclasses import dataclass

from laneway.domain.action import Decision, Verdict, ask
from laneway.domain.keepable import texts_in
from laneway.domain.session import SessionEvent
from laneway.observe.hooks.answers import CANNOT_ASK, MARK
from laneway.observe.hooks.sessions import Heard
from laneway.observe.hooks.shapes import HookRequest
from laneway.reactors.border import Failed, attempted
from laneway.reactors.contract import ReactorContext
from laneway.sandbox.commands import judge_tool
from laneway.sandbox.tool_calls import kind_of

LEAVE = "leave"
"""Said instead of a decision: the agent's own permissions count."""


@dataclass(frozen=True, slots=True)
class Manners:
    """How decisions are told; see `settings/hooks.py`."""

    ordinary: str = LEAVE
    cannot_ask: str = "deny"


@dataclass(frozen=True, slots=True)
class Decided:
    """The verdict on a call, and what the agent is told: allow, ask, deny or leave."""

    verdict: Verdict
    said: str
    why: str


def decide(request: HookRequest, verdict: Verdict, manners: Manners) -> Decided:
    """What the agent is told about a call that was judged so."""
    said = _said(request, verdict, manners)
    reason = f"{verdict.why} ({verdict.rule})"
    if said != "deny":
        return Decided(verdict, said, f"Laneway: {reason}")
    if verdict.decision is Decision.ASK:
        reason += " This needs a person's consent, which cannot be asked for here; tell the user."
    return Decided(verdict, said, f"{MARK}: {reason}")


def judged(request: HookRequest, heard: Heard, event: SessionEvent, own: Verdict | None) -> Verdict:
    """The verdict of the guard, or a stricter one of the owner's own reactors; what cannot be judged is asked about."""
    if request.malformed:
        return own or ask("malformed", request.malformed)
    found = attempted(heard.guard.name, lambda: heard.guard.verdict(ReactorContext(event, heard.state)))
    if isinstance(found, Failed):
        found = ask("unknown-tool", "The tool call could not be judged.")
    return found if own is None else found.or_stricter(own)


def _said(request: HookRequest, verdict: Verdict, manners: Manners) -> str:
    if verdict.decision is Decision.DENY:
        return "deny"
    if verdict.decision is Decision.ASK:
        if request.agent not in CANNOT_ASK:
            return "ask"
        # Such an agent asks for an escalation itself.
        left = verdict.rule == "escalation" or _merely_unknown(request, verdict)
        return LEAVE if left else manners.cannot_ask
    return "allow" if _provably_reads(request, verdict) else _ordinary(verdict, manners)


def _merely_unknown(request: HookRequest, verdict: Verdict) -> bool:
    """Whether all that speaks against a call is that nobody knows the tool of an MCP server.

    Nobody knows what most of them do; denied, none of them could be used. A path they are given counts as written.
    """
    if not request.mcp or verdict.rule != "unknown-tool":
        return False
    paths = [text.strip() for text in texts_in(request.arguments) if text.strip().startswith(("/", "~", "."))]
    judgements = (judge_tool("write", {"path": path}, request.cwd or None) for path in paths[:50])
    return len(paths) <= 50 and all(one.decision is Decision.ALLOW for one in judgements)


def _ordinary(verdict: Verdict, manners: Manners) -> str:
    return LEAVE if verdict.rule == "read-outside" else manners.ordinary


def _provably_reads(request: HookRequest, verdict: Verdict) -> bool:
    """Whether an explicit allow, which spares the user a question, costs nothing.

    A tool of an MCP server may do anything, whatever it is called, and an address tells another host something.
    """
    if verdict.changes or request.mcp or verdict.rule == "read-outside":
        return False
    kind = kind_of(request.tool, request.arguments)
    return kind == "exec" or (kind == "read" and not any("://" in text for text in texts_in(request.arguments)))
