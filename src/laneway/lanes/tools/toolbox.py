"""The toolbox: which functions a model may call, for whom, and how a call becomes a durable step."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Collection, Sequence
from copy import copy
from typing import Any

from pydantic import ValidationError
from pydantic_ai import ApprovalRequired, CallDeferred, RunContext, Tool
from pydantic_ai.messages import ModelResponse
from pydantic_ai.tools import ToolDefinition

from laneway.domain.action import Decision
from laneway.domain.job import node_of
from laneway.domain.storable import storable
from laneway.engine.steps import Leave, Steps
from laneway.lanes.contract import Request
from laneway.lanes.tools import search_tools
from laneway.lanes.tools.entry import ToolEntry, failure
from laneway.lanes.tools.gate import BY_PERSON, Gate, action_of
from laneway.lanes.tools.search_tools import ToolSearch
from laneway.lanes.tools.work import Work

MANY = 20
"""With more tools from outside than these, a model is offered our own and finds the others by search_tools."""
TO_OTHERS = frozenset({search_tools.NAME, search_tools.ACTION, "delegate"})
"""The tools by which a lane that does work of its own finds help elsewhere."""
RETRIES = 3
LONGEST_READ = 24_000
"""Characters of one text in an outcome that a model is given: some 6,000 tokens."""
_ASKED = "laneway.asked"

Clean = Callable[[Any], Any]
Shelf = Callable[[], Sequence[ToolEntry]]
"""Tools that come and go: those of MCP servers and OpenAPI documents."""


class Toolbox:
    """The tools at hand; each call passes the gate, is a durable step and has a time limit."""

    def __init__(self, entries: Sequence[ToolEntry], steps: Steps, gate: Gate, shelves: Sequence[Shelf] = ()) -> None:
        self._entries, self._steps, self._gate, self._shelves = tuple(entries), steps, gate, tuple(shelves)
        self._made: dict[str, tuple[ToolEntry, Tool[Work]]] = {}
        self._search: ToolSearch | None = None

    def search_by(self, search: ToolSearch) -> None:
        """Tools that are not offered always are found by this, and those that stay in a thread are known to it."""
        self._search = search
        self._entries = (*self._entries, search.entry)

    async def at_hand(self, request: Request) -> set[str]:
        """The names of the tools that are offered in this thread beside the everyday ones."""
        return set() if self._search is None else await self._search.at_hand(request)

    def entries(self) -> list[ToolEntry]:
        """Everything at hand, each name once; our own tools come first."""
        found = {entry.name: entry for shelf in self._shelves for entry in shelf()}
        return list((found | {entry.name: entry for entry in self._entries}).values())

    def everyday(self) -> set[str]:
        """The names of the tools that are always offered."""
        return {entry.name for entry in self._entries}

    def tools(self, of_ours: Collection[str] | None = None) -> list[Tool[Work]]:
        """The tools as a model sees them, of our own only those `of_ours`; which of them depends on who is asking."""
        entries, everyday = self.entries(), self.everyday()
        many = len(entries) - len(everyday) > MANY
        always = everyday if many else {entry.name for entry in entries} - {search_tools.NAME}
        if of_ours is not None:
            entries = [entry for entry in entries if entry.name not in everyday or entry.name in of_ours]
            always = (always - everyday) | set(of_ours)
        return [self._tool(entry, always) for entry in entries]

    async def make_ready(self) -> None:
        """Our own tools are made, one by one: the first who asks for them would else hold up everybody."""
        for entry in self._entries:
            self._tool(entry, set())
            await asyncio.sleep(0)

    def _tool(self, entry: ToolEntry, offered_always: set[str]) -> Tool[Work]:
        made = self._made.get(entry.name)
        if made is None or made[0] is not entry:
            made = self._made[entry.name] = (entry, self._make(entry))
        # Each lane offers it as it likes.
        tool = copy(made[1])
        tool.prepare = _offered(entry, entry.name in offered_always)
        return tool

    def _make(self, entry: ToolEntry) -> Tool[Work]:
        if entry.schema is not None:
            tool = Tool.from_schema(self._durable(entry), entry.name, entry.description, entry.schema, takes_ctx=True)
            tool.max_retries = RETRIES
            return tool
        return Tool(self._durable(entry), takes_ctx=True, name=entry.name, max_retries=RETRIES)

    async def call(self, name: str, arguments: dict[str, Any], work: Work, key: str, clean: Clean) -> Any:
        """The outcome of a call that no model made, behind the same gate; `clean` takes secrets out of what is kept.

        What a person must allow first comes back under `asked`, and nothing has happened. `key` names the call among
        those of the job.
        """
        entry = next((one for one in self.entries() if one.name == name), None)
        if entry is None or work.request.world not in entry.worlds:
            return failure(f"There is no tool `{name[:80]}`. `laneway tools` lists them.")
        try:
            given = self._make(entry).function_schema.validator.validate_python(arguments)
        except ValidationError as error:
            wrong = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:5])
            return failure(f"{name} cannot be called so: {wrong}.")
        outcome = await self._effect(
            entry, storable(_complete(entry, given)), work, f"workflow.{key}", False, key, clean
        )
        if isinstance(outcome, dict) and _ASKED in outcome:
            return {"asked": outcome[_ASKED]}
        source = entry.source(given, outcome) if isinstance(outcome, dict) else None
        return {**outcome, "source": source} if source and isinstance(outcome, dict) else outcome

    async def _effect(
        self, entry: ToolEntry, given: dict[str, Any], work: Work, call_id: str, approved: bool,
        key: str | None = None, clean: Clean = lambda value: value,
    ) -> Any:  # fmt: skip
        """The call's outcome, made once, if the gate lets it."""
        given = dict(entry.resolve(given, work.call(None, approved=False)))
        shown = entry.shown(clean(given))
        action = action_of(entry.name, clean(given), work, call_id)

        async def gate() -> Any:
            verdict = await self._gate.judge(entry, action, work)
            if verdict.decision is Decision.ALLOW:
                return Leave(verdict.rule in BY_PERSON or entry.judges_itself, verdict.changes)
            if verdict.decision is Decision.DENY:
                return failure(f"Refused ({verdict.rule}): {verdict.why}", refused=verdict.rule)
            return {_ASKED: {"action": action, "why": verdict.why, "rule": verdict.rule, "shown": shown}}

        async def act() -> Any:
            return clean(await _within_time(entry, given, work, approved))

        return await self._steps.effect(
            entry.name, clean(given), act, idempotent=entry.idempotent, gate=gate, about=about(entry.name, shown),
            shown=shown, key=key,
        )  # fmt: skip

    def _durable(self, entry: ToolEntry) -> Callable[..., Awaitable[Any]]:
        async def call(context: RunContext[Work], /, **arguments: Any) -> Any:
            given = storable(_complete(entry, arguments))
            work = context.deps
            outcome = await self._effect(entry, given, work, _call_of(context), context.tool_call_approved)
            if isinstance(outcome, dict) and _ASKED in outcome:
                raise ApprovalRequired(outcome[_ASKED])
            if isinstance(outcome, dict):
                work.read(entry.source(given, outcome), outcome)
            if entry.name == search_tools.NAME:
                work.found |= ToolSearch.found_in(outcome)
            if entry.hands_on and isinstance(outcome, dict) and outcome.get("status") == "success":
                raise CallDeferred({"job": outcome["result"]["job_id"], "call": context.tool_call_id})
            return for_model(outcome)

        return _looks_like(entry, call)


def _call_of(context: RunContext[Work]) -> str:
    """Names one call of the run: some servers number their calls anew in every answer, so the answer counts, too."""
    answers = sum(isinstance(message, ModelResponse) for message in context.messages)
    return f"{answers}.{context.tool_call_id}"


async def _within_time(entry: ToolEntry, arguments: dict[str, Any], work: Work, approved: bool) -> Any:
    place = (work.call(work.request.message.principal_id, approved=approved),) if entry.takes_call else ()
    try:
        async with asyncio.timeout(entry.seconds):
            return storable(await entry.function(*place, **arguments))
    except TimeoutError:
        return failure(f"{entry.name} was given up: it took longer than {entry.seconds:g} s.")


def for_model(outcome: Any) -> Any:
    """The outcome as a model reads it: of long texts the beginning and the end; the record keeps all of it."""
    if isinstance(outcome, str) and len(outcome) > LONGEST_READ:
        head, tail = outcome[: LONGEST_READ * 2 // 3], outcome[-LONGEST_READ // 3 :]
        return f"{head}\n… {len(outcome) - len(head) - len(tail):,} characters left out …\n{tail}"
    if isinstance(outcome, dict):
        return {key: for_model(value) for key, value in outcome.items()}
    return [for_model(value) for value in outcome] if isinstance(outcome, list) else outcome


def about(tool: str, arguments: dict[str, Any]) -> str:
    """The call in a few words, for people: what is done and to what; the arguments hold no secrets any more."""
    told = next((str(value) for value in arguments.values() if isinstance(value, str) and value), "")
    line = " ".join(told.split())
    return f"{tool}: {line[:120]}{'…' if len(line) > 120 else ''}" if line else tool


def _complete(entry: ToolEntry, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments with their defaults, so that what is shown and compared is all that runs."""
    if entry.schema is not None:
        return dict(arguments)
    skipped = 1 if entry.takes_call else 0
    parameters = list(inspect.signature(entry.function).parameters.values())[skipped:]
    defaults = {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}
    return {p.name: {**defaults, **arguments}[p.name] for p in parameters if p.name in {**defaults, **arguments}}


def _looks_like(entry: ToolEntry, call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """`call`, seen by the library as the tool's own function with the run's context in front."""
    signature = inspect.signature(entry.function, eval_str=True)
    skipped = 1 if entry.takes_call else 0
    context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=RunContext[Work])
    parameters = [context, *list(signature.parameters.values())[skipped:]]
    call.__name__ = entry.name
    call.__doc__ = entry.description
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": Any}
    return call


def _offered(
    entry: ToolEntry, always: bool
) -> Callable[[RunContext[Work], ToolDefinition], Awaitable[ToolDefinition | None]]:
    async def prepare(context: RunContext[Work], definition: ToolDefinition) -> ToolDefinition | None:
        request = context.deps.request
        only = node_of(request.job).get("tools")
        wanted = entry.name in only if only is not None else always or entry.name in context.deps.found
        return definition if wanted and request.world in entry.worlds and request.job.mode != "PLAN" else None

    return prepare
