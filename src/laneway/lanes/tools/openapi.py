"""`openapi_action`: the operations of the APIs whose documents the owner named."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from laneway.connections import OpenApiDocument, expanded
from laneway.domain.action import Verdict, allow, ask, deny
from laneway.errors import BadInput, LanewayError, NotFound, SettingsError
from laneway.lanes.tools.entry import Arguments, Call, Outcome, ToolEntry, failure
from laneway.lanes.tools.http_request import MOST_SECONDS, outcome_of
from laneway.lanes.tools.openapi_document import Document, Operation, brief, read
from laneway.lanes.tools.openapi_request import nearest, request
from laneway.sandbox.exchange import READING, Exchange, Question, origin, parsed

LARGEST_DOCUMENT = 20_000_000
MOST_TOLD, LONGEST_ABOUT = 30, 4000
TRY_AGAIN_SECONDS = 60.0
ABOUT = (
    "Call an operation of a configured API. `operation` is its name, `parameters` holds what it takes by name, and "
    "under `body` the body of the request. A star marks what must be given."
)


@dataclass(frozen=True, slots=True)
class ApiState:
    """How an API's document is, for people."""

    name: str
    status: str
    says: str
    operations: int


class _Api:
    """One API: what the owner said of it, and its document once it has been read."""

    def __init__(self, name: str, said: OpenApiDocument) -> None:
        self.name, self.said = name, said
        self.document: Document | None = None
        self.server = ""
        self.complaint, self.not_before = "", 0.0


class OpenApis:
    """The APIs the owner named; each document is read once, before the first job that could use it."""

    def __init__(
        self, apis: Mapping[str, OpenApiDocument], home: Path, variables: Mapping[str, str], exchange: Exchange,
        now: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._apis = {name: _Api(name, said) for name, said in apis.items()}
        self._home, self._variables, self._exchange, self._now = home, variables, exchange, now
        self._entry: ToolEntry | None = None
        self._lock = asyncio.Lock()

    def entries(self) -> list[ToolEntry]:
        """The one tool, if there is any operation to call."""
        return [self._entry] if self._entry is not None else []

    def operations(self) -> list[Operation]:
        return [one for api in self._apis.values() if api.document for one in api.document.operations.values()]

    def states(self) -> list[ApiState]:
        return [
            ApiState(api.name, "ready", "", len(api.document.operations)) if api.document
            else ApiState(api.name, "down" if api.complaint else "not read yet", api.complaint, 0)
            for api in self._apis.values()
        ]  # fmt: skip

    async def settled(self) -> None:
        """Every document has been read, or it is known why not."""
        async with self._lock:
            due = [api for api in self._apis.values() if api.document is None and self._now() >= api.not_before]
            await asyncio.gather(*(self._read(api) for api in due))
            if any(api.document for api in due):
                self._entry = self._tool()

    def takes(self, operation: Operation) -> str:
        """What an operation takes, in a few words."""
        document = self._apis[operation.api].document
        return brief(operation.schema, document.root if document else {})

    async def _read(self, api: _Api) -> None:
        try:
            text = await self._text(api.said.document)
            document = await asyncio.to_thread(read, api.name, text)
            api.server = _server(api.said, document)
            api.document, api.complaint = document, ""
        except LanewayError as error:
            api.complaint, api.not_before = str(error), self._now() + TRY_AGAIN_SECONDS

    async def _text(self, place: str) -> str:
        if place.startswith(("http://", "https://")):
            url = parsed(place)
            asking = self._exchange.with_allowed(*origin(url)[1:])
            reply = await asking.ask(Question("GET", place), seconds=15, most_bytes=LARGEST_DOCUMENT)
            if reply.status != 200 or reply.body.cut or reply.body.text is None:
                raise SettingsError(f"{place} answered {reply.status} and no document.", hint="Correct the address.")
            return reply.body.text
        try:
            return await asyncio.to_thread((self._home / place).expanduser().read_text, encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise SettingsError(f"{place} cannot be read.", hint="Correct the path or the file.") from None

    def _tool(self) -> ToolEntry:
        async def openapi_action(call: Call, operation: str, parameters: dict[str, Any] | None = None) -> Outcome:
            try:
                question, asking = self._question(operation, parameters or {})
                return outcome_of(await asking.ask(question, seconds=MOST_SECONDS))
            except LanewayError as error:
                return failure(str(error))

        return ToolEntry(
            openapi_action, changes=True, idempotent=False, judge=self._judged, source=self._source,
            seconds=MOST_SECONDS + 10, about=self._about(), tags=("api", "operation", *self._apis),
        )  # fmt: skip

    def _judged(self, arguments: Arguments, call: Call) -> Verdict:
        """What is wrong is refused before anybody is asked; reading is allowed, and all else is asked."""
        parameters = arguments.get("parameters") or {}
        try:
            operation = self._operation(str(arguments.get("operation", "")))
            question, _ = self._question(operation.name, parameters if isinstance(parameters, dict) else {})
        except LanewayError as error:
            return deny("openapi.wrong", str(error))
        if operation.method in READING:
            return allow("openapi.reads", changes=False)
        does = operation.about.rstrip(".") or operation.id
        return ask("openapi.sends", f"It sends {operation.method} {question.url[:200]} ({does}).")

    def _source(self, arguments: Arguments, outcome: Outcome) -> str | None:
        if not isinstance(outcome.get("result"), dict):
            return None
        return f"the API {self._operation(str(arguments['operation'])).api}"

    def _operation(self, name: str) -> Operation:
        known = {one.name: one for one in self.operations()}
        if name in known:
            return known[name]
        short = [one for one in known.values() if one.id == name]
        if len(short) == 1:
            return short[0]
        api = self._apis.get(name.partition(".")[0])
        if api is not None and api.document is None:
            raise NotFound(f"The document of the API {api.name} could not be read. {api.complaint}".strip())
        near = nearest(name, known) or sorted(known)[:5]
        raise NotFound(f"There is no operation `{name[:80]}`.", hint=f"Perhaps {', '.join(near)}.")

    def _question(self, name: str, parameters: Mapping[str, Any]) -> tuple[Question, Exchange]:
        operation = self._operation(name)
        api = self._apis[operation.api]
        assert api.document is not None
        headers = {key: expanded(value, self._variables) for key, value in api.said.headers.items()}
        question = request(operation, api.document, api.server, parameters, headers)
        # Only what the owner wrote opens an inner host; a document may name any.
        place = origin(parsed(api.server))[1:]
        return question, self._exchange.with_allowed(*place) if api.said.server else self._exchange

    def _about(self) -> str:
        told = [f"{one.name} ({one.method}): {one.about} {self.takes(one)}" for one in self.operations()[:MOST_TOLD]]
        more = len(self.operations()) - len(told)
        rest = f"\n… and {more} more, which search_tools finds." if more > 0 else ""
        return f"{ABOUT}\nOperations:\n" + "\n".join(told)[:LONGEST_ABOUT] + rest


def _server(said: OpenApiDocument, document: Document) -> str:
    if said.server is not None:
        return said.server
    if not document.servers:
        raise SettingsError("The document names no server.", hint="Set `server` beside `document`.")
    from_web = said.document.startswith(("http://", "https://"))
    try:
        url = parsed(said.document).join(document.servers[0]) if from_web else parsed(document.servers[0])
        url = parsed(str(url))
    except (BadInput, ValueError):
        raise SettingsError("The document names a server without its address.", hint="Set `server`.") from None
    if from_web and said.headers and origin(url) != origin(parsed(said.document)):
        # Else whoever serves the document decides who gets the keys.
        raise SettingsError("The document names a server elsewhere, and there are keys to send.", hint="Set `server`.")
    return str(url)
