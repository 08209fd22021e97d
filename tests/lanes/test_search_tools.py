"""Tools are found by what they do; what is found often stays in that thread, visible, removable, in its own world."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from laneway.channels.intake import Intake, Limits
from laneway.domain.conversation import Incoming, Role, World
from laneway.errors import NotFound
from laneway.lanes.tools.entry import Outcome, ToolEntry, success
from laneway.lanes.tools.openapi_document import Operation
from laneway.lanes.tools.search_tools import ToolSearch
from laneway.lanes.tools.tool_ranking import search
from laneway.store import principals, toolboxes
from laneway.store.database import Database
from tests.lanes.calls import a_call

OWNER, BOTH = frozenset({World.OWNER}), frozenset(World)


async def _nothing(**arguments: Any) -> Outcome:
    return success()


def entry(name: str, about: str, *tags: str, worlds: frozenset[World] = OWNER) -> ToolEntry:
    return ToolEntry(_nothing, title=name, about=about, tags=tags, worlds=worlds, schema={"type": "object"})


SHELF = [
    entry("github__create_issue", "Open a new issue in a repository.", "bug", "ticket"),
    entry("github__list_issues", "List the issues of a repository."),
    entry("github__merge_pull_request", "Merge a pull request."),
    entry("weather__forecast", "Tell the weather of a city for the next days.", worlds=BOTH),
    entry("mail__send_message", "Send an e-mail to somebody."),
    entry("mail__search_messages", "Search the mailbox for messages."),
    entry("calendar__add_event", "Put an appointment into the calendar.", "meeting", "schedule"),
    entry("db__run_query", "Run a SQL query against the warehouse."),
    entry("slack__post", "Post a message to a channel."),
    entry("billing__list_invoices", "List the invoices of a customer."),
]


def test_the_best_match_comes_first_and_what_fits_nothing_finds_nothing() -> None:
    for query, best in {
        "create an issue": "github__create_issue",
        "open new tickets": "github__create_issue",
        "which bugs can I file": "github__create_issue",
        "listing issues": "github__list_issues",
        "wether forcast": "weather__forecast",
        "what will the weather be in Bonn?": "weather__forecast",
        "send mail": "mail__send_message",
        "searching emails in my mailbox": "mail__search_messages",
        "schedule a meeting": "calendar__add_event",
        "sql queries": "db__run_query",
        "mergePullRequest": "github__merge_pull_request",
        "show me the invoice": "billing__list_invoices",
        "slack": "slack__post",
    }.items():
        assert search(SHELF, query, 5)[0].name == best, query
    assert [search(SHELF, query, 5) for query in ("", "the of a", "zzzz qqqq", "🙂", "x" * 5000)] == [[]] * 5
    assert len(search(SHELF, "list send create merge post run", 3)) == 3
    assert [one.name for one in search(SHELF, "weather", 5)] == ["weather__forecast"]


async def thread(db: Database, name: str, world: World = World.OWNER) -> UUID:
    async with db.transaction() as tx:
        if world is World.OWNER:
            person = await principals.set_owner_key(tx, "lw_key")
        else:
            person = await principals.by_address(tx, "http:ann", Role.CUSTOMER, "a customer")
    receipt = await Intake(db, ["tools"], Limits(100, 100)).receive(Incoming("http", name, name, "hello", person))
    return receipt.thread_id


def searching(db: Database, *everyday: str, operations: list[Operation] | None = None) -> ToolSearch:
    action = [entry("openapi_action", "Call an operation.")] if operations else []
    return ToolSearch(
        db, lambda: [*SHELF, *action], lambda: set(everyday), lambda: operations or [], lambda one: "{id*: string}"
    )


async def find(finder: ToolSearch, query: str, thread_id: UUID, world: World = World.OWNER) -> Outcome:
    outcome: Outcome = await finder.entry.function(a_call(world=world, thread_id=thread_id), query)
    return outcome


async def test_what_was_found_is_told_and_callable_in_that_very_job(db: Database) -> None:
    finder = searching(db)
    call = a_call(thread_id=await thread(db, "main"))
    outcome = await finder.entry.function(call, "weather forecast")
    told = {"name": "weather__forecast", "about": "Tell the weather of a city for the next days."}
    assert outcome["result"]["tools"] == [told]
    assert finder.found_in(outcome) == await finder.at_hand(call.request) == {"weather__forecast"}
    later = a_call(thread_id=call.thread_id)
    assert await finder.at_hand(later.request) == set()
    everyday = searching(db, "weather__forecast")
    assert (await find(everyday, "weather forecast", call.thread_id))["status"] == "error", "it need not be found"


async def test_a_tool_found_three_times_stays_in_that_thread_until_it_is_dropped(db: Database) -> None:
    finder, here, there = searching(db), await thread(db, "main"), await thread(db, "other")

    async def at_hand(thread_id: UUID = here) -> set[str]:
        return set(await finder.at_hand(a_call(thread_id=thread_id).request))

    for _ in range(3):
        assert await at_hand() == set()
        await find(finder, "weather forecast", here)
    assert (await at_hand(), await at_hand(there)) == ({"weather__forecast"}, set())
    async with db.transaction() as tx:
        await toolboxes.drop(tx, here, "weather__forecast")
        await toolboxes.note_found(tx, here, a_call().job_id, ["gone__tool"] * 3)
    assert await at_hand() == set(), "what was dropped is gone, and so is what no server offers any more"
    with pytest.raises(NotFound, match="never found"):
        async with db.transaction() as tx:
            await toolboxes.drop(tx, here, "nothing")


async def test_a_customer_finds_only_what_is_open_to_customers(db: Database) -> None:
    finder, customers = searching(db), await thread(db, "shop", World.CUSTOMER)
    assert (await find(finder, "create an issue", customers, World.CUSTOMER))["status"] == "error"
    found = await find(finder, "weather forecast", customers, World.CUSTOMER)
    assert finder.found_in(found) == {"weather__forecast"}
    # Even a row that should not be there opens nothing to the other world.
    call = a_call(world=World.CUSTOMER, thread_id=customers)
    async with db.transaction() as tx:
        await toolboxes.note_found(tx, customers, call.job_id, ["github__create_issue"] * 3)
    assert await finder.at_hand(call.request) == set()


async def test_operations_of_apis_are_found_and_told_how_to_call(db: Database) -> None:
    operation = Operation("pets", "showPet", "GET", "/pets/{id}", "Show one pet", ())
    finder, call = searching(db, operations=[operation]), a_call(thread_id=await thread(db, "main"))
    outcome = await finder.entry.function(call, "show a pet")
    # What calls them becomes callable with them.
    assert finder.found_in(outcome) == await finder.at_hand(call.request) == {"openapi_action"}
    assert outcome["result"]["operations"] == [
        {"call": "openapi_action", "operation": "pets.showPet", "about": "GET /pets/{id} Show one pet",
         "takes": "{id*: string}"}
    ]  # fmt: skip
    customers = await thread(db, "shop", World.CUSTOMER)
    assert (await find(finder, "show a pet", customers, World.CUSTOMER))["status"] == "error"
