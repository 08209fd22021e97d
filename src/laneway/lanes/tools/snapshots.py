"""A workspace looked at before a step that may change anything in it, and again after it.

What differs becomes before-images, so that `laneway undo` covers commands as well as the file tools:

    async with snapshots.around(call) as snapshot:
        outcome = await run(command)
    outcome["note"] = snapshot.note

A step that was cut off (a crash, a stop) leaves its snapshot open; what it did is put on record before anything else
changes the workspace, or when somebody wants it undone.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID

from laneway.domain.files import Change, Kind
from laneway.domain.ids import new_id
from laneway.errors import Unavailable
from laneway.lanes.tools.entry import Call
from laneway.sandbox.copies import GRACE_SECONDS, Copies, name_of
from laneway.sandbox.paths import make_private
from laneway.sandbox.scan import Caps, Manifest, Scan, differences
from laneway.store import undo
from laneway.store.database import Database
from laneway.store.undo import OpenSnapshot, shown

LOCK_SECONDS = 30.0
SWEEP_SECONDS = 6 * 3600.0
MOST_NAMED = 3


class Snapshot:
    """One step's snapshot; once the step is over, `note` says what of it cannot be undone, if anything."""

    def __init__(self, opened: OpenSnapshot, manifest: Manifest) -> None:
        self.opened, self.manifest = opened, manifest
        self.note: str | None = None


class Snapshots:
    """The snapshots of this data directory."""

    def __init__(self, db: Database, home: Path, caps: Caps | None = None) -> None:
        self._db, self._folder, self._caps = db, home / "undo", caps or Caps()
        self.copies = Copies(self._folder / "copies")
        self._live: set[UUID] = set()

    @asynccontextmanager
    async def around(self, call: Call, tool: str = "bash") -> AsyncIterator[Snapshot]:
        """What the block changes in the workspace can be undone, or the snapshot's note says what cannot."""
        snapshot = await self.before(call, tool)
        try:
            yield snapshot
        finally:
            # Stopped steps have changed things too.
            snapshot.note = await self.after(call, snapshot)

    async def before(self, call: Call, tool: str = "bash") -> Snapshot:
        """What the workspace holds is on record."""
        thread_id = call.thread_id
        async with self.locked(thread_id):
            await self.settle(thread_id, call.workspace)
            id = new_id()
            try:
                manifest = await asyncio.to_thread(self._look, thread_id, call.workspace, id)
            except OSError as reason:
                raise Unavailable(
                    f"The workspace could not be looked at before {tool}: {os.strerror(reason.errno or 0)}.",
                    hint="Nothing was run. Make room on the disk, or mend the folder.",
                ) from None
            async with self._db.transaction() as tx:
                opened = await undo.open_snapshot(tx, id, call.job_id, thread_id, tool)
            self._live.add(opened.id)
        return Snapshot(opened, manifest)

    async def after(self, call: Call, snapshot: Snapshot) -> str | None:
        """What differs from the snapshot is on record; returns what of it cannot be undone, if anything."""
        try:
            async with self.locked(call.thread_id):
                return await self._close(snapshot.opened, snapshot.manifest, call.workspace)
        finally:
            self._live.discard(snapshot.opened.id)

    async def settle(self, thread_id: UUID, workspace: Path) -> None:
        """What steps that were cut off did to the workspace is on record. Needs the lock."""
        async with self._db.transaction() as tx:
            left = await undo.open_snapshots(tx, thread_id)
        for opened in left:
            if opened.id not in self._live:
                before = await asyncio.to_thread(_read, self._pinned(opened))
                # Without its manifest nobody knows what was there; nothing is better than a guess.
                await self._close(opened, before, workspace)

    async def record(self, call: Call, tool: str, changes: Sequence[Change]) -> None:
        """The changes about to be made are on record. Needs the lock."""
        await self.settle(call.thread_id, call.workspace)
        async with self._db.transaction() as tx:
            await undo.record(tx, call.job_id, call.thread_id, tool, changes)

    async def is_own(self, call: Call, text: str) -> bool:
        """Whether a file holds exactly what was written here for the person, and nobody else's words."""
        async with self._db.transaction() as tx:
            return await undo.is_own(tx, call.thread_id, name_of(text.encode()))

    @asynccontextmanager
    async def locked(self, thread_id: UUID) -> AsyncIterator[None]:
        """Nobody else looks at the workspace to change it, in whatever process, while the block lasts."""
        descriptor = await asyncio.to_thread(self._open_lock, thread_id)
        try:
            deadline = time.monotonic() + LOCK_SECONDS
            while not _taken(descriptor):
                if time.monotonic() > deadline:
                    raise Unavailable(f"The workspace of thread {thread_id} is busy.", hint="Try again later.")
                await asyncio.sleep(0.01)
            yield
        finally:
            # Closing gives the lock back.
            os.close(descriptor)

    async def _close(self, opened: OpenSnapshot, before: Manifest | None, workspace: Path) -> str | None:
        changes, note = [], "What this step changed is not known: the record of the time before it is gone."
        if before is not None:
            after = await asyncio.to_thread(self._look, opened.thread_id, workspace)
            changes = await asyncio.to_thread(differences, workspace, before, after)
            note = unrestorable(changes, before) or ""
        async with self._db.transaction() as tx:
            await undo.close_snapshot(tx, opened, changes, note or None)
        await asyncio.to_thread(self._pinned(opened).unlink, missing_ok=True)
        await self._sweep_if_due()
        return note or None

    def _look(self, thread_id: UUID, workspace: Path, pin: UUID | None = None) -> Manifest:
        """What is there now; with `pin` it is also kept under that id, whatever the index becomes."""
        index = self._thread_folder(thread_id) / "index.json"
        known = (_read(index) if self.copies.exist else None) or Manifest()
        found = Scan(workspace.resolve(), known, self.copies, self._caps).run()
        if found != known or not index.exists():
            _write(index, found.to_json())
        if pin is not None:
            # The index is replaced, never written into, so another name for it is a copy.
            os.link(index, index.with_name(f"{pin}.json"))
        return found

    def _pinned(self, opened: OpenSnapshot) -> Path:
        return self._thread_folder(opened.thread_id) / f"{opened.id}.json"

    def _thread_folder(self, thread_id: UUID) -> Path:
        folder = self._folder / "threads" / str(thread_id)
        make_private(folder)
        return folder

    def _open_lock(self, thread_id: UUID) -> int:
        return os.open(self._thread_folder(thread_id) / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    async def _sweep_if_due(self) -> None:
        marker = self._folder / "swept"
        with contextlib.suppress(FileNotFoundError):
            if time.time() - marker.stat().st_mtime < SWEEP_SECONDS:
                return
        marker.touch()
        await self.sweep()

    async def sweep(self) -> int:
        """Copies that neither a change on record nor a workspace as it is needs are gone; returns how many."""
        async with self._db.transaction() as tx:
            needed, live = await undo.needed_copies(tx), await undo.all_open(tx)
        return await asyncio.to_thread(self._sweep, needed, {"index", *map(str, live)})

    def _sweep(self, needed: set[str], live: set[str]) -> int:
        for path in self._folder.glob("threads/*/*.json"):
            if path.stem in live or time.time() - path.stat().st_ctime < GRACE_SECONDS:
                needed |= set((_read(path) or Manifest()).contents())
            else:
                path.unlink()
        return self.copies.sweep(needed)


def unrestorable(changes: Sequence[Change], before: Manifest) -> str | None:
    """What the reply says of changes that cannot be undone; None if all can."""
    lost = [change for change in changes if change.before.lost and change.before.kind is not Kind.ABSENT]
    parts = []
    if lost:
        named = ", ".join(f"{shown(one.path)!r} ({one.before.lost})" for one in lost[:MOST_NAMED])
        more = f" and {len(lost) - MOST_NAMED} more" if len(lost) > MOST_NAMED else ""
        parts.append(f"Cannot be undone: {named}{more}.")
    if before.unseen:
        parts.append(f"Undo does not cover {', '.join(before.unseen)}.")
    return " ".join(parts) or None


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read(path: Path) -> Manifest | None:
    try:
        return Manifest.from_json(path.read_text(encoding="ascii"))
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None


def _write(path: Path, text: str) -> None:
    unfinished = path.with_suffix(".new")
    unfinished.write_text(text, encoding="ascii")
    unfinished.chmod(0o600)
    unfinished.rename(path)
