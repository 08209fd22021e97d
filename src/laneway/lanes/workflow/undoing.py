"""A change of a workflow taken back by a sentence: the last one made in the conversation, or of the workflow named."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from laneway.domain.workflow import Patch, Workflow
from laneway.engine.steps import Steps
from laneway.errors import NotFound
from laneway.lanes.contract import Request
from laneway.lanes.workflow.asking import Wanted
from laneway.lanes.workflow.drafting import Scene
from laneway.lanes.workflow.patches import undone
from laneway.lanes.workflow.sentences.grammar import unquote
from laneway.lanes.workflow.sentences.planner import LONGEST, normalize
from laneway.store import workflow_patches, workflows
from laneway.store.database import Connection, Database

_CHANGE = (
    r"(?:(?:that|this|the|my|your)(?: (?:last|latest|previous))?|(?:last|latest)) (?:change|patch|edit|modification)"
)
_WORKFLOW = (
    r"(?: (?:of|in|to|on|from) (?:(?:the|that|this|my) workflow(?: (?P<tag>[\w\"“”`'.-]{1,80}))?"
    r"|(?:the )?(?P<tag2>[\w\"“”`'.-]{1,80}) workflow))"
)
_UNDO = re.compile(
    rf"(?:undo|revert|take back|roll back|reverse) (?:{_CHANGE}{_WORKFLOW}?|(?:the )?workflow change)"
    rf"|(?:take|roll) {_CHANGE}{_WORKFLOW.replace('tag2', 'tag4').replace('<tag>', '<tag3>')}? back",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Undo:
    """What a sentence wants to have taken back; `tag` where it names the workflow."""

    tag: str | None


def undo_of(text: str) -> Undo | None:
    """The undoing that the words ask for, if they say exactly that."""
    found = _UNDO.fullmatch(normalize(text)) if len(text) <= LONGEST else None
    if found is None:
        return None
    tag = next((value for value in found.groupdict().values() if value), None)
    return Undo(unquote(tag) if tag else None)


async def undoing(db: Database, steps: Steps, request: Request, scene: Scene, undo: Undo) -> Wanted:
    """The change that takes back the meant one, or NotFound where there is none."""

    async def look() -> dict[str, Any]:
        async with db.transaction() as tx:
            found = await _meant(tx, request, scene, undo)
            return {} if found is None else {"patch": str(found[1].id), "tag": found[0].tag, "was": undone(found[1])}

    found = await steps.step("undoing", look)
    if not found:
        where = f"of the workflow `{undo.tag}`" if undo.tag else "of a workflow in this conversation"
        raise NotFound(
            f"There is no change {where} that could be undone.",
            hint="Say “undo the last change of the workflow NAME”; `laneway workflow list` names them.",
        )
    return Wanted(scene.owner, found["tag"], [], found["was"], undoes=found["patch"])


async def _meant(tx: Connection, request: Request, scene: Scene, undo: Undo) -> tuple[Workflow, Patch] | None:
    if undo.tag is None:
        patch = await workflow_patches.last_of_thread(tx, scene.owner, request.job.thread_id)
        workflow = None if patch is None else await workflows.by_id(tx, patch.workflow_id)
        if workflow is not None and patch is not None and scene.tag in (None, workflow.tag):
            return workflow, patch
    tag = undo.tag or scene.tag
    known = next((one for name, one in scene.workflows.items() if tag and name.lower() == tag.lower()), None)
    newest = None if known is None else await workflow_patches.newest_in_force(tx, known.id)
    return None if known is None or newest is None else (known, newest)
