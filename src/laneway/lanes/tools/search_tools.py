"""`search_tools`: with many tools a model is offered the everyday ones, and finds the others by describing them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from laneway.lanes.contract import Request
from laneway.lanes.tools.entry import Call, Outcome, ToolEntry, failure, success
from laneway.lanes.tools.openapi_document import Operation
from laneway.lanes.tools.tool_ranking import Findable, search
from laneway.store import toolboxes
from laneway.store.database import Database

NAME, ACTION = "search_tools", "openapi_action"
MOST_FOUND = 5
MOST_OPERATIONS = 8
LONGEST_ABOUT = 300


class ToolSearch:
    """Finds tools for a model, and remembers for each thread what was found there.

    `entries` says what is at hand, `everyday` which of it is always offered and need not be found; `operations` are
    those of the APIs, which are called through openapi_action, and `settled` waits until all that comes from outside
    has been tried once.
    """

    def __init__(
        self, db: Database, entries: Callable[[], Sequence[ToolEntry]], everyday: Callable[[], set[str]],
        operations: Callable[[], Sequence[Operation]] = lambda: (), takes: Callable[[Operation], str] = lambda _: "",
        settled: Callable[[], Awaitable[None]] | None = None,
    ) -> None:  # fmt: skip
        self._db, self._entries, self._everyday = db, entries, everyday
        self._operations, self._takes, self._settled = operations, takes, settled
        self.entry = ToolEntry(self._tool(), idempotent=True, tags=("find", "more", "other", "list"))

    async def at_hand(self, request: Request) -> set[str]:
        """The names to offer beside the everyday tools: what has stayed in this thread, and what this job found."""
        if self._settled is not None:
            await self._settled()
        async with self._db.transaction() as tx:
            names = await toolboxes.at_hand(tx, request.job.thread_id, request.job.id)
        return names & {entry.name for entry in self._entries() if request.world in entry.worlds}

    @staticmethod
    def found_in(outcome: Any) -> set[str]:
        """The names an outcome of search_tools makes callable; taken from it, so that a replay finds them, too."""
        result = outcome.get("result") if isinstance(outcome, dict) else None
        if not isinstance(result, dict):
            return set()
        through = {str(one["call"]) for one in result.get("operations", [])}
        return {str(one["name"]) for one in result.get("tools", [])} | through

    def _tool(self) -> Callable[..., Any]:
        async def search_tools(call: Call, query: str) -> Outcome:
            """Find further tools by what they do; those found can be called at once.

            `query` describes the task in a few words, for example "create a ticket" or "weather forecast".
            """
            return await self._found(call, query)

        return search_tools

    async def _found(self, call: Call, query: str) -> Outcome:
        everyday = self._everyday()
        hidden = [one for one in self._entries() if call.world in one.worlds and one.name not in everyday]
        operations = [] if not self._may_call_apis(call) else list(self._operations())
        ranked: list[Findable] = search([*hidden, *operations], query, MOST_FOUND + MOST_OPERATIONS)
        tools = [one for one in ranked if isinstance(one, ToolEntry)][:MOST_FOUND]
        called = [one for one in ranked if isinstance(one, Operation)][:MOST_OPERATIONS]
        if not tools and not called:
            return failure(f"No tool fits “{query[:100]}”. Describe it in other words, or do without.")
        result = {"tools": [_told(one) for one in tools], "operations": [self._operation(one) for one in called]}
        outcome = success(result)
        async with self._db.transaction() as tx:
            await toolboxes.note_found(tx, call.thread_id, call.job_id, sorted(self.found_in(outcome) - everyday))
        return outcome

    def _may_call_apis(self, call: Call) -> bool:
        return any(one.name == ACTION and call.world in one.worlds for one in self._entries())

    def _operation(self, one: Operation) -> dict[str, str]:
        return {"call": ACTION, "operation": one.name, "about": one.description, "takes": self._takes(one)}


def _told(entry: ToolEntry) -> dict[str, str]:
    return {"name": entry.name, "about": entry.description[:LONGEST_ABOUT]}
