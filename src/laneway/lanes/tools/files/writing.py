"""`write_file`, `edit_file`, `delete_file`, `move_file`: what was there is on record before it is changed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

from laneway.domain.files import ABSENT, Change, Image, Kind
from laneway.lanes.tools.entry import Call, Outcome, failure, success
from laneway.lanes.tools.files.spot import NEW_FILE, Spot
from laneway.lanes.tools.snapshots import Snapshots
from laneway.sandbox.copies import name_of
from laneway.sandbox.images import content_of, replace
from laneway.sandbox.paths import PathRefused, place

MOST_WRITTEN = 10 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be different, how that is done, and what is said afterwards."""

    changes: list[Change]
    apply: Callable[[], None]
    result: dict[str, Any]


Prepare = Callable[[ExitStack], Plan]


class FileWriters:
    """The tools that change files of a workspace."""

    def __init__(self, snapshots: Snapshots) -> None:
        self._snapshots = snapshots

    async def write_file(self, call: Call, path: str, content: str) -> Outcome:
        """Makes a file in this thread's workspace hold exactly `content`; it is made, with its folders, if missing.

        The path is relative to the workspace. A file that was there is replaced, which `laneway undo` can take back.
        """
        return await self._change(call, "write_file", path, partial(self._write, call, path, content))

    async def edit_file(self, call: Call, path: str, old: str, new: str, all: bool = False) -> Outcome:
        """Replaces the text `old` by `new` in a text file of this thread's workspace.

        `old` must be there exactly as given, line breaks and spaces included, and only once; with `all` every
        occurrence is replaced.
        """
        return await self._change(call, "edit_file", path, partial(self._edit, call, path, old, new, all))

    async def delete_file(self, call: Call, path: str) -> Outcome:
        """Deletes one file, or one link, of this thread's workspace; `laneway undo` can bring it back."""
        return await self._change(call, "delete_file", path, partial(self._delete, call, path))

    async def move_file(self, call: Call, path: str, to: str) -> Outcome:
        """Moves or renames one file of this thread's workspace; nothing may be at `to` yet, its folders are made."""
        return await self._change(call, "move_file", path, partial(self._move, call, path, to))

    async def _change(self, call: Call, tool: str, path: str, prepare: Prepare) -> Outcome:
        with ExitStack() as stack:
            try:
                async with self._snapshots.locked(call.thread_id):
                    plan = await asyncio.to_thread(prepare, stack)
                    if plan.changes:
                        await self._snapshots.record(call, tool, plan.changes)
                    await asyncio.to_thread(plan.apply)
            except PathRefused as reason:
                return failure(str(reason))
            except OSError as reason:
                return failure(f"{path!r} could not be changed: {os.strerror(reason.errno or 0)}.")
        lost = [change.before.lost for change in plan.changes if change.before.lost and tool != "move_file"]
        return success({**plan.result, "note": f"This cannot be undone: {lost[0]}." if lost else None})

    def _write(self, call: Call, path: str, content: str, stack: ExitStack) -> Plan:
        data = _encoded(path, content)
        spot = stack.enter_context(Spot(place(call.workspace, path, writing=True), path))
        before = spot.keep(self._snapshots.copies)
        created = before.kind is Kind.ABSENT
        return self._filled(spot, data, {"path": spot.path, "bytes": len(data), "created": created})

    def _edit(self, call: Call, path: str, old: str, new: str, all: bool, stack: ExitStack) -> Plan:
        if not old or old == new:
            raise PathRefused("edit.nothing", "`old` is empty or the same as `new`, so there is nothing to replace.")
        spot = stack.enter_context(Spot(place(call.workspace, path, writing=True), path))
        spot.need(self._snapshots.copies)
        text = _text(path, content_of(spot.at, spot.name, MOST_WRITTEN))
        found = text.count(old)
        if found == 0:
            raise PathRefused(
                "edit.missing", f"`old` was not found in {path!r}. Read the file and give its exact text."
            )
        if found > 1 and not all:
            raise PathRefused(
                "edit.several",
                f"`old` was found {found} times in {path!r}. Give more of the text around it, or set `all`.",
            )
        data = _encoded(path, text.replace(old, new))
        return self._filled(spot, data, {"path": spot.path, "bytes": len(data), "replaced": found})

    def _filled(self, spot: Spot, data: bytes, result: dict[str, Any]) -> Plan:
        before = spot.before
        mode = before.mode if before.kind is Kind.FILE else NEW_FILE
        after = Image(Kind.FILE, name_of(data), len(data), mode, *spot.owner)
        if after.same(before):
            return Plan([], lambda: None, {**result, "changed": False})

        def apply() -> None:
            replace(spot.ready(), spot.name, data, mode, spot.owner)

        return Plan(spot.changes(after), apply, {**result, "changed": True})

    def _delete(self, call: Call, path: str, stack: ExitStack) -> Plan:
        spot = stack.enter_context(Spot(place(call.workspace, path, follow=False, writing=True), path))
        spot.need(self._snapshots.copies)

        def apply() -> None:
            os.unlink(spot.name, dir_fd=spot.ready())

        return Plan(spot.changes(ABSENT), apply, {"path": spot.path, "deleted": True})

    def _move(self, call: Call, path: str, to: str, stack: ExitStack) -> Plan:
        source = stack.enter_context(Spot(place(call.workspace, path, follow=False, writing=True), path))
        target = stack.enter_context(Spot(place(call.workspace, to, follow=False, writing=True), to))
        moved = source.need(self._snapshots.copies)
        if target.keep(self._snapshots.copies).kind is not Kind.ABSENT:
            raise PathRefused("move.taken", f"There is a file {to!r} already. Delete it first, or choose another name.")

        def apply() -> None:
            into = target.ready()
            os.rename(source.name, target.name, src_dir_fd=source.ready(), dst_dir_fd=into)

        changes = [*source.changes(ABSENT), *target.changes(moved)]
        return Plan(changes, apply, {"path": source.path, "to": target.path})


def _encoded(path: str, content: str) -> bytes:
    try:
        data = content.encode()
    except UnicodeEncodeError:
        raise PathRefused("write.text", f"The text for {path!r} holds broken characters.") from None
    if len(data) > MOST_WRITTEN:
        raise PathRefused("write.large", f"{path!r} would be larger than {MOST_WRITTEN // 1024**2} MB.")
    return data


def _text(path: str, content: bytes) -> str:
    if len(content) > MOST_WRITTEN:
        raise PathRefused("edit.large", f"{path!r} is larger than {MOST_WRITTEN // 1024**2} MB, so it is not edited.")
    try:
        if b"\0" in content:
            raise ValueError
        return content.decode()
    except ValueError:
        raise PathRefused("edit.binary", f"{path!r} is not a text file in UTF-8, so it is not edited.") from None
