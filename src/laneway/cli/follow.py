"""Follows one job over the event stream until it ends or asks, telling a listener what happens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from laneway.client import Client, ServerEvent

ENDS = {"job.done": "done", "job.failed": "failed", "job.cancelled": "cancelled"}


class Listener(Protocol):
    """Whoever wants to know what a job does."""

    def wrote(self, call: str, number: int, text: str) -> None:
        """A model wrote a piece of text; `number` counts the pieces of one `call`."""
        ...

    def finished_call(self) -> None:
        """A model has said all it wanted to; what it writes next belongs to another call."""
        ...

    def used_tool(self, tool: str) -> None: ...

    def replied(self, text: str) -> None: ...

    def asked(self, question: Asked) -> bool:
        """The job waits for an approval; True if it was answered and the job goes on."""
        ...


@dataclass(frozen=True)
class Asked:
    """What a job waits for: a yes, or one of the choices."""

    approval_id: str
    why: str
    choices: list[dict[str, str]] = field(default_factory=list)
    action: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    """The question as channels put it."""

    def shown(self) -> str:
        """What would be done, a line for each argument; ready for the reason to follow."""
        tool, arguments = self.action.get("tool"), self.action.get("arguments", {})
        if not tool:
            return "May I do this? "
        if tool == "patch_workflow" and self.text:
            # A patch is told in words; its operations are for programs, and a terminal draws no diagrams.
            return self.text.partition("```")[0].partition("\nAnswer yes")[0].rstrip() + "\n"
        lines = [f"  {name}: {value}" for name, value in arguments.items() if value is not None]
        return "\n".join([f"May I do this? [{tool}]", *lines, ""])


def follow(client: Client, job_id: str, listener: Listener) -> str:
    """What became of the job: done, failed, cancelled, or waiting for an approval nobody here answered."""
    question: Asked | None = None
    for event in _events(client, job_id):
        if event.event in ENDS:
            return ENDS[event.event]
        body = event.data.get("body", {})
        match event.event:
            case "delta":
                listener.wrote(event.data["call"], event.data["n"], event.data["text"])
            case "model.finished":
                listener.finished_call()
            case "tool.started":
                listener.used_tool(str(body.get("tool", "")))
            case "approval.asked":
                question = Asked(body["approval_id"], body["why"], body.get("choices", []), body.get("action", {}))
            case "reply.written" if question is None:
                listener.replied(body["text"])
            case "reply.written" if question is not None:
                # The reply that belongs to a question repeats it for channels that cannot ask.
                question = replace(question, text=body["text"])
            case "job.waiting" if question is not None and (exact := _as_stored(client, job_id, question)) is not None:
                if not listener.asked(exact):
                    return "waiting"
                question = None
            case "approval.approved" | "approval.rejected" | "approval.expired" | "approval.superseded":
                question = None
    return "lost"


def _as_stored(client: Client, job_id: str, question: Asked) -> Asked | None:
    """The question with the exact action, which events show without its secrets; None if nobody waits any more."""
    job = client.job(job_id)
    stored = [one for one in job["approvals"] if one["id"] == question.approval_id]
    if job["status"] != "waiting" or not stored:
        return None
    return replace(question, action=stored[0]["action"])


def _events(client: Client, job_id: str) -> Iterator[ServerEvent]:
    return client.events(job=job_id, since="start")
