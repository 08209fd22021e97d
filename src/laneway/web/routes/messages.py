"""Messages: sent, listed, and asked why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID, uuid4

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import Field

from laneway.domain.conversation import Incoming, Principal, Role, World
from laneway.errors import BadInput, Forbidden, NotFound
from laneway.lanes.pipeline.taking_out import TakenOut
from laneway.lanes.pipeline.unpacking import without_tables
from laneway.store import conversations, jobs, lives, principals
from laneway.store.database import Database
from laneway.web.gateway import Here, Me
from laneway.web.limits import BodyLimits
from laneway.web.posting import Posted, Sender, Sent, read
from laneway.web.routes.threads import check_thread
from laneway.web.runner import received
from laneway.web.shapes import (
    AttachmentShape,
    JobShape,
    Listing,
    MessageShape,
    Page,
    ReceiptShape,
    ReplyShape,
    paged,
    shaped,
)
from laneway.web.why import WhyShape, explained

router = APIRouter(tags=["messages"])
RESERVED = "reply:"
"""Our own replies have such ids."""

_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/Posted"}},
            "multipart/form-data": {"schema": {"$ref": "#/components/schemas/PostedForm"}},
        },
    }
}


class MessageListing(Listing):
    thread: UUID | None = Field(None, description="Only of this thread.")
    before: int | None = Field(None, ge=0, le=2**63 - 1, description="Only with a smaller `seq`.")


class MessageDetail(MessageShape):
    attachments: list[AttachmentShape]
    replies: list[ReplyShape]
    jobs: list[JobShape]


@router.post(
    "/messages",
    status_code=202,
    response_model=ReceiptShape,
    summary="Send a message",
    openapi_extra=_BODY,
    responses={200: {"model": ReceiptShape, "description": "It was here before; nothing runs again."}},
)
async def send(
    request: Request,
    response: Response,
    here: Here,
    me: Me,
    idempotency_key: Annotated[str | None, Header(description="The same as `id` in the body.")] = None,
) -> ReceiptShape:
    """The message is stored and its job queued before the answer comes; the reply is a later message."""
    sent = await read(request, BodyLimits.of(here.app.settings))
    posted = sent.posted
    payload, tables = await _payload(sent)
    incoming = Incoming(
        channel=posted.channel,
        thread=_thread(posted),
        external_id=_external_id(posted.id, idempotency_key, posted.sender),
        text=posted.text,
        principal=me if posted.sender is None else _stranger(posted.sender, here.clock.now()),
        mode=posted.mode,
        lane=posted.lane,
        payload=payload,
        files=sent.files,
        meta={} if posted.lane is None else {"lane": posted.lane},
    )
    here.app.intake.check(incoming)
    if posted.sender is not None:
        incoming = await _from_customer(here.app.db, incoming, posted.sender, is_named=posted.thread is not None)
    receipt = await received(here, incoming, tables)
    if receipt.duplicate:
        response.status_code = 200
    return ReceiptShape.model_validate(receipt)


@router.get("/messages", summary="List messages, newest first")
async def listed(here: Here, which: Annotated[MessageListing, Query()]) -> Page[MessageShape]:
    async with here.app.db.transaction() as tx:
        await check_thread(tx, which.thread)
        found = await conversations.messages(tx, thread_id=which.thread, limit=which.one_more, before=which.before)
    return paged(MessageShape, found, which, by="seq")


@router.get("/messages/{message_id}", summary="One message with its attachments, replies and jobs")
async def one(here: Here, message_id: UUID) -> MessageDetail:
    async with here.app.db.transaction() as tx:
        found = await conversations.message(tx, message_id)
        if found is None:
            raise NotFound(f"There is no message {message_id}.", hint="GET /messages lists them.")
        attachments = await conversations.attachments(tx, [message_id])
        replies = await lives.replies(tx, message_id)
        its_jobs = await jobs.page(tx, message_id=message_id, limit=200)
    return MessageDetail(
        **MessageShape.model_validate(found).model_dump(),
        attachments=shaped(AttachmentShape, attachments),
        replies=shaped(ReplyShape, replies),
        jobs=shaped(JobShape, its_jobs[::-1]),
    )


@router.get("/messages/{message_id}/why", summary="Everything that happened to a message, and why")
async def why(here: Here, message_id: UUID) -> WhyShape:
    """The id of one of its replies or jobs is taken, too."""
    async with here.app.db.transaction() as tx:
        about = await lives.message_behind(tx, message_id)
        return explained(await lives.of_message(tx, about), here.app.lanes)


async def _payload(sent: Sent) -> tuple[dict[str, Any], Sequence[TakenOut]]:
    """The payload as lanes find it, and the tables that it refers to, to be laid before it is stored."""
    payload = sent.posted.whole_payload()
    runner = payload.get("runner")
    if not isinstance(runner, dict):
        return payload, sent.tables
    given = await without_tables(runner, sent.tables)
    return {**payload, "runner": given.fields}, given.tables


def _thread(posted: Posted) -> str:
    if posted.thread is not None:
        return posted.thread
    if posted.sender is None and isinstance(session := posted.runner.get("session_id"), str) and session:
        return f"session:{session}"
    return "main" if posted.sender is None else f"customer:{posted.sender.id}"


def _external_id(in_body: str | None, in_header: str | None, sender: Sender | None) -> str:
    """The message's id; what a customer calls one is that customer's alone."""
    if in_body is not None and in_header is not None and in_body != in_header:
        raise BadInput("`id` and the header Idempotency-Key differ.", hint="Give one of them.")
    given = in_header if in_body is None else in_body
    if given is not None and given.startswith(RESERVED):
        raise BadInput(f"An id may not begin with `{RESERVED}`.", hint="Choose another.")
    if given is None:
        return uuid4().hex
    return given if sender is None else f"customer:{sender.id}/{given}"


def _stranger(sender: Sender, now: datetime) -> Principal:
    """The customer as far as the request tells: enough to check it before anything is written."""
    if not sender.id.isprintable():
        raise BadInput("`sender.id` must be printable.", hint="Choose another.")
    return Principal(uuid4(), Role.CUSTOMER, sender.name or sender.id, now)


async def _from_customer(db: Database, incoming: Incoming, sender: Sender, *, is_named: bool) -> Incoming:
    """The message as the stored customer's, who is made if new and if the message will be taken."""
    async with db.transaction() as tx:
        thread = await conversations.thread_on(tx, incoming.channel, incoming.thread)
        if thread is not None and thread.world is not World.CUSTOMER:
            raise Forbidden(f"Thread {incoming.thread} is the owner's.", hint="Leave `thread` out.")
        found = await principals.by_address(tx, f"http:{sender.id}", Role.CUSTOMER, incoming.principal.name)
        if found.role is not Role.CUSTOMER:
            raise Forbidden(f"`{sender.id}` is not a customer.", hint="Send without `sender`.")
        if found.blocked_at is not None:
            raise Forbidden(
                f"`{sender.id}` is blocked.", hint=f"`laneway people unblock http:{sender.id}` lets them in."
            )
        if thread is None or thread.is_open_to(found):
            return replace(incoming, principal=found)
        if is_named:
            raise Forbidden(f"Thread {incoming.thread} is another customer's.", hint="Leave `thread` out.")
        # Whoever had this address before was forgotten, and is somebody else.
        return replace(incoming, principal=found, thread=f"customer:{found.id}")
