"""Reads what POST /messages brings, as JSON or as a form with files, and refuses what could not be stored."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator
from starlette.datastructures import Headers, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser

from laneway.domain.conversation import IncomingFile
from laneway.domain.job import JobMode
from laneway.domain.storable import check_storable
from laneway.errors import BadInput
from laneway.lanes.pipeline.taking_out import TakenOut
from laneway.web.bodies import CHECKED, is_json, known_storable, read_field, read_object
from laneway.web.limits import BodyLimits
from laneway.web.problems import WrongFields

MOST_FILES = 20
AS_JSON = ("payload", "sender", "runner", "tables", "previous_results")


class Sender(BaseModel):
    """The customer a message comes from."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(min_length=1, max_length=150, description="The customer's address, the same every time.")
    name: str = Field("", max_length=200)


class Posted(BaseModel):
    """A message as it is posted."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field("", description="What is said; may be empty if files are attached.")
    thread: str | None = Field(None, description="Any name for the conversation; `main` if none is given.")
    id: str | None = Field(None, description="The sender's own id: the same id again runs nothing again.")
    mode: JobMode = Field(JobMode.AUTO, description="AUTO lets the classification decide.")
    lane: str | None = Field(None, description="The lane that shall do it; chosen by the classification if absent.")
    payload: dict[str, Any] = Field(default_factory=dict, description="Data for the lane, kept with the job.")
    sender: Sender | None = Field(None, description="The customer this comes from; absent = the owner.")
    tables: dict[str, Any] | None = Field(
        None, description="Tables for the pipeline, by name: rows, or an `artifact://` reference."
    )
    previous_results: list[Any] | None = Field(None, description="Earlier results, usable as tables.")
    runner: dict[str, Any] = Field(
        default_factory=dict, description="What the runner should know besides: plan, current_workflow, workflow_tag …"
    )
    channel: Literal["http", "console"] = "http"

    def whole_payload(self) -> dict[str, Any]:
        """The payload as lanes find it, with what there is to work on."""
        given = {"tables": self.tables, "previous_results": self.previous_results}
        runner = {**self.runner, **{name: value for name, value in given.items() if value is not None}}
        return {**self.payload, "runner": {"door": "chat", **runner}} if runner else self.payload

    @field_validator("payload", "sender", "runner", "tables", "previous_results", mode="before")
    @classmethod
    def _can_be_stored(cls, value: Any, info: ValidationInfo) -> Any:
        if not known_storable(info):
            check_storable(value)
        return value


@dataclass(frozen=True, slots=True)
class Sent:
    """A message, its files, and the tables that were too large to stay in it."""

    posted: Posted
    files: tuple[IncomingFile, ...] = ()
    tables: tuple[TakenOut, ...] = ()


async def read(request: Request, limits: BodyLimits) -> Sent:
    """The message and its files, or an error that names what is wrong."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if is_json(kind):
        found = await read_object(await request.body(), limits, '{"text": "…"}')
        return Sent(_posted(found.fields, frozenset(found.fields if found.checked else ())), tables=found.tables)
    if kind == "multipart/form-data":
        return await _form(request, limits)
    raise HTTPException(415, f"`{kind[:80]}` is not taken here." if kind else "The request has no Content-Type.")


def _posted(values: dict[str, Any], checked: frozenset[str]) -> Posted:
    try:
        return Posted.model_validate(values, context={CHECKED: checked})
    except ValidationError as error:
        raise WrongFields(error.errors()) from None


async def _form(request: Request, limits: BodyLimits) -> Sent:
    parts = await _parts(request, limits)
    uploads = [value for _, value in parts if isinstance(value, UploadFile)]
    try:
        fields, tables, checked = await _fields(parts, limits)
        return Sent(_posted(fields, checked), tuple([await _file(upload) for upload in uploads]), tables)
    finally:
        for upload in uploads:
            await upload.close()


async def _fields(
    parts: list[tuple[str, str | UploadFile]], limits: BodyLimits
) -> tuple[dict[str, Any], tuple[TakenOut, ...], frozenset[str]]:
    """What the form says, the tables taken out of it, and the fields that were looked through beside the loop."""
    values: dict[str, Any] = {}
    tables: list[TakenOut] = []
    checked: set[str] = set()
    for name, value in parts:
        if isinstance(value, UploadFile) != (name == "files"):
            raise BadInput(
                f"`{name[:80]}` must be {'a file' if name == 'files' else 'text'}.", hint="Correct the form."
            )
        if name in values:
            raise BadInput(f"`{name[:80]}` is given twice.", hint="Give it once.")
        if isinstance(value, str) and name in AS_JSON:
            found = await read_field(name, _bytes(value), limits)
            values |= found.fields
            tables += found.tables
            checked |= {name} if found.checked else set()
        elif isinstance(value, str):
            values[name] = _text(value, name)
    return values, tuple(tables), frozenset(checked)


async def _parts(request: Request, limits: BodyLimits) -> list[tuple[str, str | UploadFile]]:
    # Read as Latin-1, which keeps every byte; `_text` then decodes strictly, where the parser would guess.
    kind = Headers({"content-type": request.headers["content-type"] + "; charset=latin-1"})
    parser = _WholeForm(
        kind,
        _chunks(request),
        max_files=MOST_FILES,
        max_fields=len(Posted.model_fields) + 8,
        max_part_size=limits.with_tables,
    )
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise BadInput(f"The form cannot be read: {error.message}", hint="Send multipart/form-data.") from None
    if not parser.ended:
        await form.close()
        raise BadInput("The form breaks off before its end.", hint="Send all of it.")
    return form.multi_items()


class _WholeForm(MultiPartParser):
    """Knows whether the form came to its end; the parser alone would take what there is."""

    ended = False

    def on_end(self) -> None:
        self.ended = True


async def _chunks(request: Request) -> AsyncGenerator[bytes, None]:
    async for chunk in request.stream():
        yield chunk


def _bytes(value: str) -> bytes:
    return value.encode("latin-1")


def _text(value: str, name: str) -> str:
    try:
        return _bytes(value).decode("utf-8")
    except UnicodeDecodeError:
        raise BadInput(f"`{name[:80]}` is not valid UTF-8.", hint="Encode it as UTF-8.") from None


async def _file(upload: UploadFile) -> IncomingFile:
    name = PurePath(_text(upload.filename or "", "filename").replace("\\", "/")).name
    name = "".join(character for character in name if character.isprintable())[:200]
    mime = (upload.content_type or "").partition(";")[0].strip().lower()
    known = mime.isascii() and mime.isprintable() and 3 <= len(mime) <= 100 and "/" in mime
    return IncomingFile(name or "file", mime if known else "application/octet-stream", await upload.read())
