"""Which workflow and which step the words mean: one, or none and then the sentence says why."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from laneway.domain.workflow import Document
from laneway.lanes.workflow.sentences.draft import Known, NotPlanned
from laneway.lanes.workflow.sentences.words import unquoted

_NOISE = frozenset({"the", "a", "an", "step", "node", "steps", "task", "my", "our", "this", "that", "its", "of"})
_TYPES = {
    "approval": "hitl", "confirmation": "hitl", "question": "hitl", "sign-off": "hitl", "notification": "notify",
    "delay": "wait", "pause": "wait",
}  # fmt: skip
"""What people call steps of these types."""
_ENDINGS = ("ations", "ation", "ings", "ing", "ers", "er", "ed", "es", "s", "e")


def target(known: Known, named: str | None = None) -> tuple[str, Document]:
    """The workflow that is meant: the one named, the request's own, or the only one there is."""
    if named is not None:
        wanted = unquoted(named)
        found = [tag for tag in known.workflows if tag.lower() == wanted.lower()]
        found = found or [tag for tag in known.workflows if _stems(tag) == _stems(wanted)]
        if len(found) != 1:
            raise NotPlanned(f"There is no workflow `{wanted[:60]}`.", _listed(known))
        return found[0], known.workflows[found[0]]
    if known.tag is not None and known.tag in known.workflows:
        return known.tag, known.workflows[known.tag]
    if known.tag is not None or not known.workflows:
        raise NotPlanned("There is no workflow to change yet.", "Say what shall happen when, or import one.")
    if len(known.workflows) > 1:
        raise NotPlanned(
            "There are several workflows.", f"Say which one, like “in the workflow NAME”. {_listed(known)}"
        )
    return next(iter(known.workflows.items()))


def holder(known: Known, step: str, named: str | None = None) -> tuple[str, Document, dict[str, Any]]:
    """The workflow and in it the step of this name; without a workflow said, the only one that has such a step."""
    if named is not None or known.tag is not None or len(known.workflows) < 2:
        tag, document = target(known, named)
        return tag, document, node(document, step)
    having = [(tag, document) for tag, document in known.workflows.items() if matching(document, step)]
    if len(having) > 1:
        names = ", ".join(f"`{tag}`" for tag, _ in having[:10])
        raise NotPlanned(f"Several workflows have a step like `{step[:60]}`: {names}.", "Say in which one.")
    if not having:
        raise NotPlanned(f"No workflow has a step `{step[:60]}`.", _listed(known))
    return having[0][0], having[0][1], node(having[0][1], step)


def node(document: Document, step: str) -> dict[str, Any]:
    """The one step that these words name, or a sentence with those there are."""
    found = matching(document, step)
    ids = ", ".join(f"`{one['id']}`" for one in (found or document["nodes"])[:12])
    if not found:
        raise NotPlanned(f"There is no step `{unquoted(step)[:60]}`.", f"There are {ids}." if ids else "")
    if len(found) > 1:
        raise NotPlanned(f"`{unquoted(step)[:60]}` may be several steps: {ids}.", "Say the whole name of one.")
    return found[0]


def matching(document: Document, step: str) -> list[dict[str, Any]]:
    """The steps these words may name: by id, by name, by the words of it, by its type, in that order."""
    nodes, said = document["nodes"], unquoted(step).lower()
    wanted = _stems(said)
    ways: Iterable[list[dict[str, Any]]] = (
        [one for one in nodes if one["id"].lower() == said],
        [one for one in nodes if str(one.get("name", "")).lower() == said],
        [one for one in nodes if wanted and _stems(one["id"]) == wanted],
        [one for one in nodes if wanted and wanted <= _stems(f"{one['id']} {one.get('name', '')}")],
        [one for one in nodes if wanted and wanted == _stems(one["type"])],
        [one for one in nodes if one["type"] == _TYPES.get(re.sub(r"^(?:the|an?|my) ", "", said))],
        [one for one in nodes if wanted and wanted == _stems(str(one.get("config", {}).get("channel", "")))],
    )
    return next((found for found in ways if found), [])


def free_id(document: Document, wanted: str) -> str:
    """An id like this that no step has yet."""
    taken = {one["id"] for one in document["nodes"]}
    number, free = 2, wanted
    while free in taken:
        free, number = f"{wanted}_{number}", number + 1
    return free


def stem(word: str) -> str:
    """What processing, processed and processes share."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word[: -len(ending)]
    return word


def _stems(text: str) -> frozenset[str]:
    text = re.sub(r"e-?mails?\b", "email", re.sub(r"([a-z])([A-Z])", r"\1 \2", text), flags=re.IGNORECASE).lower()
    return frozenset(stem(word) for word in re.findall(r"[a-z0-9]+", text) if word not in _NOISE)


def _listed(known: Known) -> str:
    tags = ", ".join(f"`{tag}`" for tag in list(known.workflows)[:12])
    return f"There are {tags}." if tags else "There is none yet."
