"""No password, key or token is written out in a workflow, in a patch, or in the words that ask for one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import reduce
from typing import Any

from laneway.classify.lane_structure import LASTING, clauses, first_rule
from laneway.domain.conversation import Incoming, Role
from laneway.domain.redaction import exposed, holds_secret, without_secrets
from laneway.lanes.workflow.finding import Finding
from laneway.lanes.workflow.patching import pointer
from laneway.lanes.workflow.quoting import quoted
from laneway.lanes.workflow.refusing import refuse

REPAIR = "Keep it with `laneway secrets set NAME` and write $secrets.NAME there, within a text ${$secrets.NAME}."
_ADDRESS = re.compile(r"https?://\S+")
READ = 4_000
"""Characters by which a text is judged to ask for a workflow."""


def secrets(document: Any) -> Iterator[Finding]:
    """secret: every one that is written out in a document, of whatever shape its nodes are."""
    for path in exposed(document):
        node = path[1] if path[:1] == ("nodes",) and len(path) > 2 else None
        held = document["nodes"][node] if isinstance(node, int) else {"id": node}
        node = without_secrets(str(held["id"])) if isinstance(held, dict) and held.get("id") else None
        where = f"Node {quoted(node)} holds" if node else "There is"
        message = f"{where} a secret written out at {pointer(path[2:] if node else path)}."
        yield Finding("secret", message, REPAIR, node, pointer(path))


def secrets_in_patch(operations: Any) -> Iterator[Finding]:
    """The same of what the operations of a patch write, whether it stays or not."""
    for number, operation in enumerate(operations if isinstance(operations, list | tuple) else ()):
        # The names in the path may be what makes a value a secret; the last ones are enough.
        names = str(operation.get("path", "")).split("/")[:0:-1] if isinstance(operation, dict) else []
        value = operation.get("value") if names else operation
        if holds_secret(reduce(lambda inner, name: {name: inner}, names[:20], value)):
            message = f"Operation {number + 1} writes a secret out."
            yield Finding("secret", message, REPAIR, None, f"/operations/{number}/value")


def check_secrets(incoming: Incoming) -> None:
    """Returns only if no secret is in a workflow or a patch that a message brings, nor in its words for one."""
    runner, patch = incoming.payload.get("runner"), incoming.payload.get("patch")
    sent = runner.get("current_workflow") if isinstance(runner, dict) else None
    patch = patch if isinstance(patch, dict) else {}
    words = {name: patch.get(name) for name in ("description", "workflow_tag")}
    refuse([*secrets(sent), *secrets_in_patch(patch.get("operations")), *secrets(words)])
    if incoming.principal.role is not Role.CUSTOMER and holds_secret(incoming.text):
        asks = sent is not None or incoming.lane == "workflow" or _asks_for_one(incoming.text)
        refuse([Finding("secret", "The text holds a secret.", REPAIR, None, "/text")] if asks else [])


def _asks_for_one(text: str) -> bool:
    """Whether the words, by grammar alone and without their addresses, want something that lasts."""
    plain = _ADDRESS.sub("https://a.example", text[:READ])
    return "workflow" in plain.casefold() or first_rule(clauses(plain)) in LASTING
