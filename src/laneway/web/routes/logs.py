"""The end of the log file, and what was added since."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from laneway.web.gateway import Here

router = APIRouter(tags=["logs"])
LOG_FILE = "laneway.log"
MOST_BYTES = 1_048_576
"""So much of the file is looked at for one answer."""


class Looking(BaseModel):
    model_config = ConfigDict(extra="forbid")

    lines: int = Field(100, ge=1, le=5000, description="At most so many lines, the last ones.")
    job: UUID | None = Field(None, description="Only lines that name this job.")
    after: int | None = Field(None, ge=0, le=2**63 - 1, description="Only what stands behind this byte of the file.")


class LogShape(BaseModel):
    lines: list[str]
    next: int = Field(description="Goes into `after` to get only what is added from now on.")


@router.get("/logs", summary="Lines of the log")
async def tail(here: Here, which: Annotated[Looking, Query()]) -> LogShape:
    found, end = await asyncio.to_thread(read_lines, here.app.settings.home / LOG_FILE, which.after)
    if which.job is not None:
        found = [line for line in found if str(which.job) in line]
    return LogShape(lines=found[-which.lines :], next=end)


def read_lines(path: Path, after: int | None) -> tuple[list[str], int]:
    """The whole lines at the end of the file, or behind a byte of it, and the byte they end at."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            # A file shorter than before was begun anew.
            asked = 0 if after is None or after > size else after
            begin = max(asked, size - MOST_BYTES)
            file.seek(max(0, begin - 1))
            content = file.read(size - file.tell())
    except FileNotFoundError:
        return [], 0
    if begin > 0:
        # Unless the byte before ends a line, the first one is only a part.
        content = content.partition(b"\n")[2] if content[:1] != b"\n" else content[1:]
    whole = content.rpartition(b"\n")[0]
    end = size - (len(content) - len(whole) - 1 if whole or content[:1] == b"\n" else len(content))
    return (whole.decode("utf-8", "replace").split("\n") if whole else []), end
