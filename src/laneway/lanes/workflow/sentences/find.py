"""What a sentence is read against, the change it asks for, and which workflow and which step its words mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from laneway.domain.workflow import Document, Operations
from laneway.lanes.workflow.sentences.grammar import unquote
from laneway.language.names import suggest
from laneway.language.refusal import NotUnderstood
from laneway.language.tokens import split_name, stem

THIS = frozenset({"it", "this", "that", "workflow"})
"""Names of the workflow at hand."""
_NOISE = frozenset({"the", "a", "an", "step", "node", "steps", "task", "my", "our", "this", "that", "its", "of"})
_TYPES = {"approval": "hitl", "confirmation": "hitl", "question": "hitl", "notification": "notify", "delay": "wait"}
"""What people call steps of these types."""


@dataclass(frozen=True)
class DraftContext:
    """What the words may be about."""

    now: datetime
    zone: str = "UTC"
    tag: str | None = None
    """The workflow the request belongs to, where it says so."""
    workflows: Mapping[str, Document] = field(default_factory=dict)
    """All workflows of the owner, by tag."""
    offer: Mapping[str, Any] | None = None
    """What was last offered to be made permanent in this conversation: its plan and its sentence."""


@dataclass(frozen=True)
class WorkflowDraft:
    """A change that is meant, for the workflow `tag`; there may be none of that tag yet."""

    tag: str
    operations: Operations
    description: str
    valid_until: datetime | None = None
    notes: tuple[str, ...] = ()
    """What whoever approves it should know besides."""


def workflow(context: DraftContext, *names: str | None) -> tuple[str, Document]:
    """The workflow that is meant: the one of the first name, the request's own, or the only one there is."""
    tags = list(context.workflows)
    there = f"There are {', '.join(f'`{tag}`' for tag in tags[:12])}." if tags else "There is none yet."
    named = next((one for one in names if one and one.lower() not in THIS), context.tag)
    if named is None and len(tags) != 1:
        reason = "There are several workflows." if tags else "There is no workflow to change."
        raise NotUnderstood(reason, f"Say which one, like “in the workflow NAME”. {there}" if tags else there)
    found = [tag for tag in tags if named is None or tag.lower() == named.lower()]
    found = found or [tag for tag in tags if _stems(tag) == _stems(str(named))]
    if len(found) != 1:
        raise NotUnderstood(f"There is no workflow `{str(named)[:60]}`.", suggest(str(named), tags) or there)
    return found[0], context.workflows[found[0]]


def step(context: DraftContext, step: str, named: str | None) -> tuple[str, Document, dict[str, Any]]:
    """The workflow and in it the step of this name; without a workflow said, the only one that has such a step."""
    if named is None and context.tag is None and len(context.workflows) > 1:
        having = [tag for tag, document in context.workflows.items() if nodes(document, step)]
        if len(having) != 1:
            names = ", ".join(f"`{tag}`" for tag in having[:10])
            reason = f"Several workflows have a step like `{step[:60]}`: {names}." if having else ""
            raise NotUnderstood(reason or f"No workflow has a step `{step[:60]}`.", "Say in which one.")
        named = having[0]
    tag, document = workflow(context, named)
    found = nodes(document, step)
    if not found:
        hint = suggest(step, [one["id"] for one in document["nodes"]]) or f"There are {ids(document['nodes'])}."
        raise NotUnderstood(f"There is no step `{step[:60]}`.", hint)
    if len(found) > 1:
        raise NotUnderstood(f"`{step[:60]}` may be several steps: {ids(found)}.", "Say the whole name of one.")
    return tag, document, found[0]


def nodes(document: Document, step: str) -> list[dict[str, Any]]:
    """The steps these words may name: by id, by name, by the words of it, by its type, in that order."""
    nodes, said = document["nodes"], unquote(step).lower()
    if said in THIS - {"workflow"}:
        return []  # A pronoun is no part of a step's name.
    wanted, kind = _stems(said), _TYPES.get(re.sub(r"^(?:the|an?|my) ", "", said))
    ways: Iterable[list[dict[str, Any]]] = (
        [one for one in nodes if one["id"].lower() == said],
        [one for one in nodes if str(one.get("name", "")).lower() == said],
        [one for one in nodes if wanted and _stems(one["id"]) == wanted],
        [one for one in nodes if wanted and wanted <= _stems(f"{one['id']} {one.get('name', '')}")],
        [one for one in nodes if one["type"] == kind or (wanted and wanted == _stems(one["type"]))],
        [one for one in nodes if wanted and wanted == _stems(str(one.get("config", {}).get("channel", "")))],
    )
    return next((found for found in ways if found), [])


def ids(nodes: Iterable[dict[str, Any]]) -> str:
    """The first of the steps, by their ids."""
    return ", ".join(f"`{one['id']}`" for one in list(nodes)[:12])


def joined(name: str) -> str:
    """The stems of a name's words in one: `user.signed_up` is called like `on_user_signup`."""
    return "".join(stem(word) for word in split_name(name) if word not in _NOISE)


def _stems(text: str) -> frozenset[str]:
    text = re.sub(r"\be-mail", "email", text, flags=re.IGNORECASE)
    return frozenset(stem(word) for word in split_name(text) if word not in _NOISE)
