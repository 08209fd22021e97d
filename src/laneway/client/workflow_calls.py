"""The calls about workflows and their patches."""

from __future__ import annotations

from typing import Any

from laneway.client.wire import Id, Json, Wire, given, part


class WorkflowCalls(Wire):
    """Workflows: kept, changed, and every change taken back again."""

    def workflows(
        self, limit: int = 50, before: int | str | None = None, owner: str | None = None, *, removed: bool = False
    ) -> Json:
        """Workflows, newest first; with `removed` those that can be brought back."""
        return self._get("/workflows", limit=limit, before=before, owner=owner, removed=removed or None)

    def workflow_schema(self) -> Json:
        """The JSON Schema of workflows."""
        return self._get("/workflows/schema")

    def workflow(self, tag: str, owner: str | None = None) -> Json:
        """One workflow as it is now."""
        return self._get(f"/workflows/{part(tag)}", owner=owner)

    def create_workflow(self, tag: str, document: Json, description: str = "") -> Json:
        """There is a workflow of this tag, at version 1."""
        return self._post("/workflows", json={"tag": tag, "document": document, "description": description})

    def replace_workflow(self, tag: str, document: Json, base_version: int, **more: Any) -> Json:
        """The workflow has this document as its next version; `more`: description, dry_run."""
        told = {"document": document, "base_version": base_version, **given(**more)}
        return self._request("PUT", f"/workflows/{part(tag)}", json=told)

    def remove_workflow(self, tag: str) -> Json:
        return self._delete(f"/workflows/{part(tag)}")

    def restore_workflow(self, tag: str) -> Json:
        """What was removed last under this tag is there again."""
        return self._post(f"/workflows/{part(tag)}/restore")

    def patch_workflow(self, tag: str, operations: list[Json], **more: Any) -> Json:
        """The patch is stored; `more`: description, base_version, dry_run, ask, valid_until."""
        return self._post(f"/workflows/{part(tag)}/patch", json={"operations": operations, **given(**more)})

    def workflow_versions(self, tag: str, limit: int = 50, before: int | str | None = None) -> Json:
        return self._get(f"/workflows/{part(tag)}/versions", limit=limit, before=before)

    def workflow_version(self, tag: str, number: int) -> Json:
        return self._get(f"/workflows/{part(tag)}/versions/{number}")

    def workflow_history(self, tag: str, limit: int = 50, before: int | str | None = None) -> Json:
        """The patches of a workflow."""
        return self._get(f"/workflows/{part(tag)}/history", limit=limit, before=before)

    def workflow_diff(self, tag: str, older: int, newer: int | None = None) -> Json:
        return self._get(f"/workflows/{part(tag)}/diff", older=older, newer=newer)

    def undo_patch(self, tag: str, patch: Id | None = None) -> Json:
        """The patch, or the last one, is taken back; later ones stay."""
        return self._post(f"/workflows/{part(tag)}/undo", json=_which(patch))

    def redo_patch(self, tag: str, patch: Id | None = None) -> Json:
        """What was undone holds again."""
        return self._post(f"/workflows/{part(tag)}/redo", json=_which(patch))

    def roll_back_workflow(self, tag: str, version: int) -> Json:
        """The workflow is what it was at a version, as a new version."""
        return self._post(f"/workflows/{part(tag)}/rollback", json={"version": version})


def _which(patch: Id | None) -> Json:
    return {} if patch is None else {"patch": str(patch)}
