"""The file tools as the toolbox keeps them: what each may do, and how its paths are judged beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from laneway.domain.action import Verdict, allow, ask, deny
from laneway.lanes.tools.entry import Arguments, Call, Outcome, ToolEntry
from laneway.lanes.tools.files.grep import grep
from laneway.lanes.tools.files.looking import glob, list_files
from laneway.lanes.tools.files.writing import FileWriters
from laneway.lanes.tools.read_file import USUAL_BYTES, read_workspace_or
from laneway.lanes.tools.snapshots import Snapshots
from laneway.sandbox.images import MOST_KEPT, TOO_LARGE
from laneway.sandbox.paths import PathRefused, place
from laneway.sandbox.scan import look_at

INSIDE = allow("files.workspace", "It changes a file of this thread's own workspace, which can be undone.")


def file_entries(files: Path | None, snapshots: Snapshots) -> list[ToolEntry]:
    """The eight file tools; `files` is the folder the owner opened for reading, if any."""
    writers = FileWriters(snapshots)

    async def read_file(call: Call, path: str, offset: int = 0, max_bytes: int = USUAL_BYTES) -> Outcome:
        """The text of one file: of this thread's workspace or, if it is not there, of the folder the owner opened.

        The path is relative to either; the second folder (the setting LANEWAY_FILES) can only be read. Of a long file
        a part is shown: go on with `offset`.
        """
        outcome = await read_workspace_or(files, call.workspace, path, max_bytes, offset)
        whole = _worked(outcome) and not offset and not outcome["result"]["truncated"]
        if whole and await snapshots.is_own(call, outcome["result"]["text"]):
            outcome["result"]["own"] = True
        return outcome

    named = partial(_judge, ("path",))
    itself = partial(_judge, ("path",), follow=False)
    both = partial(_judge, ("path", "to"), follow=False, keeps=True)
    return [
        ToolEntry(read_file, source=_file_read, tags=("file", "show", "cat", "open")),
        ToolEntry(list_files, source=_names_listed, tags=("folder", "directory", "ls")),
        ToolEntry(glob, source=_names_matched, tags=("find", "files", "names")),
        ToolEntry(grep, source=_lines_found, tags=("search", "find", "text", "files")),
        ToolEntry(writers.write_file, changes=True, judge=named, tags=("file", "create", "save")),
        ToolEntry(writers.edit_file, changes=True, idempotent=False, judge=named, tags=("file", "replace", "change")),
        ToolEntry(writers.delete_file, changes=True, idempotent=False, judge=itself, tags=("file", "remove", "rm")),
        ToolEntry(writers.move_file, changes=True, idempotent=False, judge=both, tags=("file", "rename", "mv")),
    ]


def _judge(
    names: Sequence[str], arguments: Arguments, call: Call, *, follow: bool = True, keeps: bool = False
) -> Verdict:
    """Allowed inside the workspace; asked where no copy could be kept; a refused path is denied by its rule."""
    for name in names:
        asked = str(arguments.get(name, ""))
        try:
            where = place(call.workspace, asked, follow=follow, writing=True)
        except PathRefused as reason:
            return deny(reason.rule, str(reason))
        if not keeps and look_at(where.root, "/".join(where.parts), shallow=True).size > MOST_KEPT:
            return ask("files.unrecoverable", f"{asked!r} could not be restored afterwards: {TOO_LARGE}.")
    return INSIDE


def _file_read(arguments: Arguments, outcome: Outcome) -> str | None:
    own = _worked(outcome) and outcome["result"].get("own")
    return f"the file {_told(outcome, 'path')}" if _worked(outcome) and not own else None


def _names_listed(arguments: Arguments, outcome: Outcome) -> str | None:
    # Names come with archives and repositories: they are somebody's words, too.
    return f"the names in the folder {_told(outcome, 'path')}" if _worked(outcome, "entries") else None


def _names_matched(arguments: Arguments, outcome: Outcome) -> str | None:
    return f"the names of files like {_told(outcome, 'pattern')}" if _worked(outcome, "paths") else None


def _lines_found(arguments: Arguments, outcome: Outcome) -> str | None:
    if not _worked(outcome, "matches"):
        return None
    files = sorted({str(match["path"]) for match in outcome["result"]["matches"]})
    return f"lines of the file {files[0]}" if len(files) == 1 else f"lines of {len(files)} files, {files[0]} among them"


def _worked(outcome: Outcome, brought: str | None = None) -> bool:
    """Whether the outcome brings anything in; an empty list has nobody's words in it."""
    return outcome.get("status") == "success" and (brought is None or bool(outcome["result"][brought]))


def _told(outcome: Outcome, field: str) -> str:
    return str(outcome["result"][field])
