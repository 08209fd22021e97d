"""How a notify node reaches somebody: the owner's thread or a channel's, by mail, by a webhook, on Slack."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from laneway.errors import BadInput, NotFound, PermanentFault, Unavailable, UncertainFault
from laneway.lanes.workflow.hands import Doing, Done, Failed, Outcome
from laneway.lanes.workflow.references import placed
from laneway.sandbox.exchange import LATER, Question, parsed
from laneway.store import conversations, notices, outbox
from laneway.store.database import Connection

LONGEST = 20_000
MAIL = frozenset({"email", "e-mail", "mail"})
POSTED = frozenset({"webhook", "slack"})
WHATSAPP = frozenset({"whatsapp", "waha"})
"""The two doors to WhatsApp; whoever writes its name means whichever is open."""


async def notified(doing: Doing) -> Outcome:
    """The message is with whoever carries it, once."""
    channel = str(doing.config.get("channel") or "owner").strip().lower()
    if doing.secrets and doing.sources and _points(doing):
        # Whoever's words chose where it goes would be handed the secret.
        return Failed("It would send a secret where words from outside point.", retryable=False)
    if channel in MAIL:
        return await _mailed(doing)
    if channel in POSTED:
        return await _posted(doing, channel)
    return await _said(doing, channel)


def _points(doing: Doing) -> bool:
    """Whether something other than a secret is filled into the place it is sent to."""
    written = doing.node.get("config") or {}
    found = [one.reference for key in ("url", "to") for one in placed(written.get(key))]
    return any(one is None or one.root != "secrets" for one in found)


def text_of(doing: Doing) -> str:
    """What is said: the setting `message`, or what the node before it gave, as text."""
    found = doing.config.get("message", doing.config.get("text"))
    if found is None:
        given = doing.input()
        found = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, default=str)
    text = str(found).strip()
    if not text:
        raise BadInput(f"The node `{doing.name}` has nothing to say.", hint="Set its `message`.")
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def recipients(doing: Doing) -> list[str]:
    to = doing.config.get("to")
    given = [to] if isinstance(to, str) else [str(one) for one in to or ()]
    owner = doing.hands.mail.owner if doing.hands.mail else None
    found = [owner if one.strip().lower() in ("owner", "me") else one for one in given] or [owner]
    return [one for one in found if one]


async def _mailed(doing: Doing) -> Outcome:
    mail = doing.hands.mail
    if mail is None:
        return Failed("No mail server is set. Set LANEWAY_SMTP_URL and LANEWAY_MAIL_FROM.", retryable=False)
    to, text = recipients(doing), text_of(doing)
    subject = str(doing.config.get("subject") or f"Laneway: {doing.run.tag}")

    async def send() -> dict[str, object]:
        return await mail.send(to, subject, text, f"{doing.run.id}.{doing.name}.{doing.record.visit}")

    return await doing.act(send, again=False, about=f"mail to {', '.join(to)[:80]}")


async def _posted(doing: Doing, channel: str) -> Outcome:
    url = str(doing.config.get("url") or doing.config.get("to") or "")
    body = doing.config.get("body")
    if body is None:
        body = {"text": text_of(doing)}
    content = body.encode() if isinstance(body, str) else json.dumps(body, ensure_ascii=False).encode()
    headers = {"Content-Type": "text/plain; charset=utf-8" if isinstance(body, str) else "application/json"}
    host = parsed(url).host

    async def post() -> dict[str, Any]:
        # The same for every attempt: a receiver that had the first one can tell.
        once = {"Idempotency-Key": f"{doing.run.id}.{doing.name}.{doing.record.visit}"}
        question = Question("POST", url, headers | once, content)
        try:
            reply = await doing.hands.exchange.ask(question, seconds=doing.seconds)
        except Unavailable as error:
            # The request may have arrived although its answer did not.
            raise UncertainFault(error.message, hint="It may have arrived.") from None
        if reply.status in LATER or reply.status >= 500:
            raise Unavailable(f"{host} answered {reply.status}.", hint="Try again later.")
        if reply.status >= 300:
            raise PermanentFault(f"{host} answered {reply.status}: {(reply.body.text or '')[:200]}")
        return {"sent": True, "status": reply.status, "channel": channel}

    return await doing.act(post, again=False, about=f"{channel} to {host}")


async def _said(doing: Doing, channel: str) -> Outcome:
    """The text is in the outbox of the thread, in a transaction of its own and once, whatever happens around it."""
    text = text_of(doing)
    async with doing.db.transaction() as tx:
        thread = await _thread(tx, doing, channel)
        meta: dict[str, Any] = {"workflow": doing.run.tag, "workflow_run": str(doing.run.id)}
        meta |= {"sources": list(doing.sources)} if doing.sources else {}
        await outbox.write(
            tx, thread, doing.shown(text), external_id=f"workflow:{doing.run.id}:{doing.name}:{doing.record.visit}",
            pulled=doing.hands.pulled, meta=meta, job_id=doing.run.job_id,
        )  # fmt: skip
        found = await conversations.thread(tx, thread)
    assert found is not None
    return Done({"sent": True, "channel": found.channel, "thread": found.external_id, "text": doing.shown(text)})


async def _thread(tx: Connection, doing: Doing, channel: str) -> UUID:
    """Where it is said: the thread named, the owner's on that channel, or wherever the owner reads."""
    to = doing.config.get("to")
    if channel not in ("owner", "chat", "me") and isinstance(to, str) and to:
        found = await conversations.thread_on(tx, channel, to)
        if found is None or found.world is not doing.request.world:
            raise NotFound(f"There is no thread `{to[:80]}` on {channel}.", hint="`laneway threads` lists them.")
        return found.id
    if channel in ("owner", "chat", "me"):
        return await notices.owners_thread(tx, doing.hands.pulled) or doing.request.job.thread_id
    named = WHATSAPP if channel == "whatsapp" else {channel}
    found_id = await notices.owners_thread(tx, doing.hands.pulled, channels=named)
    if found_id is None:
        raise NotFound(f"The owner has no thread on `{channel[:40]}`.", hint="Write to Laneway there once.")
    return found_id
