"""The tokens of the stream `wf.tasks.agent`, as an orchestrator of the first implementation writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from laneway.channels.redis_queue.job_message import Unreadable, readable_id

STREAM, GROUP, SIGNALS = "wf.tasks.agent", "agent_workers", "completion_signals"
READ = frozenset({"id", "run_id", "to_node", "metadata", "workflow_owner"})


def fields_of_token(token: Mapping[str, Any]) -> dict[str, Any]:
    """The token with the names that a job's fields have; what has no place in a job is kept beside them."""
    told = token.get("metadata")
    if told is not None and not isinstance(told, dict):
        raise Unreadable("malformed", "`metadata` of the token must be an object.", readable_id(token.get("id")))
    told = dict(told or {})
    config = token.get("config")
    task = told.pop("task", None)
    if task is None and isinstance(config, dict):
        task = config.get("task") or config.get("prompt")
    fields = {
        "job_id": token.get("id"), "run_id": token.get("run_id"), "node_id": token.get("to_node"), "task": task,
        "context": told.pop("context", None), "workflow_tag": told.pop("workflow_tag", None),
        "workflow_owner": token.get("workflow_owner"), "version": token.get("version"),
        "timeout_sec": told.pop("timeout_sec", None), "current_workflow": token.get("current_workflow"),
    }  # fmt: skip
    more = {key: value for key, value in token.items() if key not in READ and key not in fields}
    return {**more, **{name: value for name, value in fields.items() if value is not None}} | (
        {"metadata": told} if told else {}
    )
