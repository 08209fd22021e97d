"""Webhooks as Meta sends them: every type of message, statuses, batches, and signatures right or wrong."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import json
import time
from dataclasses import dataclass, field
from typing import Any

import httpx

Json = dict[str, Any]


@dataclass
class Webhooks:
    """What Meta says about one number, ready to be signed and pushed."""

    number_id: str
    app_secret: str
    display: str = "15550783881"
    now: float | None = None
    """Seconds since the epoch that messages are sent at; None = the real time."""
    numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def message(self, sender: str, kind: str, content: object = None, *, id: str | None = None, **more: Any) -> Json:
        """One message of a person; `sender` is a phone number, or a user id of somebody whose number is hidden."""
        who = {"from_user_id": sender} if "." in sender else {"from": sender}
        said = {} if content is None else {kind: content}
        wamid = id or f"wamid.in{next(self.numbers):08d}"
        return {**who, "id": wamid, "timestamp": self._time(), "type": kind, **said, **more}

    def text(self, sender: str, body: str, **more: Any) -> Json:
        return self.message(sender, "text", {"body": body}, **more)

    def press(self, sender: str, data: str, title: str, *, on: str, kind: str = "button_reply") -> Json:
        """The person presses a reply button, or picks a row of a list (`kind="list_reply"`), of the message `on`."""
        reply = {"type": kind, kind: {"id": data, "title": title}}
        return self.message(sender, "interactive", reply, context={"from": self.display, "id": on})

    def status(self, wamid: str, status: str, **more: Any) -> Json:
        """How far a message of the business got."""
        return {"id": wamid, "status": status, "timestamp": self._time(), "recipient_id": "4915112345678", **more}

    def value(
        self, *messages: Json, statuses: tuple[Json, ...] = (), name: str = "Kim", number_id: str | None = None,
        contact: Json | None = None, errors: tuple[Json, ...] = (),
    ) -> Json:  # fmt: skip
        """What one change holds: messages of one person, statuses, complaints."""
        metadata = {"display_phone_number": self.display, "phone_number_id": number_id or self.number_id}
        found: Json = {"messaging_product": "whatsapp", "metadata": metadata}
        if messages:
            sender = messages[0]
            known = {"wa_id": sender["from"]} if "from" in sender else {"user_id": sender.get("from_user_id")}
            found["contacts"] = [{"profile": {"name": name}, **known, **(contact or {})}]
            found["messages"] = list(messages)
        if statuses:
            found["statuses"] = list(statuses)
        if errors:
            found["errors"] = list(errors)
        return found

    def payload(self, *values: Json, field: str = "messages") -> Json:
        """Several changes in one webhook."""
        changes = [{"value": value, "field": field} for value in values]
        return {"object": "whatsapp_business_account", "entry": [{"id": "102290129340398", "changes": changes}]}

    def signature(self, raw: bytes) -> str:
        return "sha256=" + hmac.new(self.app_secret.encode(), raw, hashlib.sha256).hexdigest()

    async def push(self, http: httpx.AsyncClient, payload: Json, *, signature: str | None = None) -> httpx.Response:
        """The webhook has been sent as Meta sends it, or with another signature."""
        raw = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
        signed = self.signature(raw) if signature is None else signature
        headers = {"content-type": "application/json", "user-agent": "facebookexternalua"}
        return await http.post(
            "/whatsapp/webhook", content=raw, headers=headers | ({"x-hub-signature-256": signed} if signed else {})
        )

    async def tell(self, http: httpx.AsyncClient, *statuses: Json) -> httpx.Response:
        """Statuses, pushed together."""
        return await self.push(http, self.payload(self.value(statuses=statuses)))

    def _time(self) -> str:
        return str(int(time.time() if self.now is None else self.now))
