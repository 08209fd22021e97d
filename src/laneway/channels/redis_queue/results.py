"""What a result looks like: the seed's shape, from what the lanes and the engine know of a job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from laneway.domain.judgement import Approval, ApprovalState
from laneway.errors import failure

VERSION = "1.0"
LONGEST_PREVIEW = 2000
TOLD = ("plan", "sentence", "counts", "sources_of_rows", "notes", "offer")
"""What else is said of a table, where the lane says it: how it came about, and what to know of it."""
NOT_APPROVED = {
    ApprovalState.REJECTED: "Somebody who was asked said no.",
    ApprovalState.EXPIRED: "Nobody answered the question in time.",
    ApprovalState.SUPERSEDED: "A newer request of the same session took its place.",
}


def failed_of(meta: Mapping[str, Any], text: str, not_approved: ApprovalState | None) -> dict[str, Any] | None:
    """How the job failed, if it did: what the lane or the border says counts, else how its last question ended."""
    if isinstance(meta.get("failed"), dict):
        return dict(meta["failed"])
    if meta.get("stopped"):
        return failure(str(meta["stopped"]).replace(" ", "-"), text)
    if "result_ref" in meta or "result_preview" in meta or not_approved is None:
        return None
    return failure(str(not_approved), f"{NOT_APPROVED[not_approved]} {text}".strip())


def completed(job_id: str, took: Mapping[str, int], meta: Mapping[str, Any], text: str, ref: str) -> dict[str, Any]:
    """The result of a job that did what it was asked."""
    preview = meta.get("result_preview") or {"kind": "text", "text": text[:LONGEST_PREVIEW]}
    return {
        "version": VERSION, "job_id": job_id, "status": "completed", "result_ref": ref, "result_preview": preview,
        "metadata": metadata(took, meta), **{key: meta[key] for key in TOLD if key in meta},
    }  # fmt: skip


def waiting(job_id: str, approval: Approval, text: str) -> dict[str, Any]:
    """What lies in place of a result while a person is asked."""
    asked = {
        "id": str(approval.id), "why": approval.why, "text": text, "choices": approval.choices,
        "deadline": approval.deadline.isoformat(),
    }  # fmt: skip
    return {"version": VERSION, "job_id": job_id, "status": "waiting", "approval": asked}


def failed(job_id: str, error: Mapping[str, Any], took: Mapping[str, int], meta: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a job that did not."""
    told = {"error": dict(error), "metadata": metadata(took, meta)}
    return {"version": VERSION, "job_id": job_id, "status": "failed", **told}


def metadata(took: Mapping[str, int], meta: Mapping[str, Any]) -> dict[str, Any]:
    """What it took, and what the lane says of how it was done."""
    given = meta.get("metadata")
    known: dict[str, Any] = {
        "tool_calls": list(meta.get("tool_calls") or []),
        "tokens_used": 0,
        "cache_hit": False,
        "cache_kind": None,
        "execution_time_ms": 0,
        "llm_model": meta.get("model"),
    }
    return known | (dict(given) if isinstance(given, dict) else {}) | dict(took)


def signal(result: Mapping[str, Any], named: Mapping[str, Any], whole: Any) -> dict[str, Any]:
    """The same for `completion_signals`, where whoever runs the workflow looks."""
    about = {
        "version": VERSION, "job_id": result["job_id"], "run_id": named.get("run_id"), "node_id": named.get("node_id"),
        "status": result["status"],
    }  # fmt: skip
    if result["status"] == "completed":
        return {**about, "result_ref": result["result_ref"], "result_data": whole, "metadata": result["metadata"]}
    error = result["error"]
    told = {"error_type": error["type"], "error_message": error["message"], "retryable": error["retryable"]}
    return {**about, "result_ref": "", "metadata": {**told, "metrics": result["metadata"]}}
