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
from laneway.lanes.tools.tool_ranking import one_slip, search
from laneway.store import principals, toolboxes
from laneway.store.database import Database
from tests.lanes.surroundings import a_call

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


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("create an issue", "github__create_issue"),
        ("open new tickets", "github__create_issue"),
        ("which bugs can I file", "github__create_issue"),
        ("listing issues", "github__list_issues"),
        ("wether forcast", "weather__forecast"),
        ("what will the weather be in Bonn?", "weather__forecast"),
        ("send mail", "mail__send_message"),
        ("searching emails in my mailbox", "mail__search_messages"),
        ("schedule a meeting", "calendar__add_event"),
        ("sql queries", "db__run_query"),
        ("mergePullRequest", "github__merge_pull_request"),
        ("show me the invoice", "billing__list_invoices"),
        ("slack", "slack__post"),
    ],
)
def test_the_best_match_comes_first(query: str, best: str) -> None:
    assert search(SHELF, query, 5)[0].name == best


@pytest.mark.parametrize("query", ["", "the of a", "zzzz qqqq", "🙂", "x" * 5000])
def test_what_fits_nothing_finds_nothing(query: str) -> None:
    assert search(SHELF, query, 5) == []


def test_no_more_than_wanted_and_nothing_far_behind_the_best() -> None:
    assert len(search(SHELF, "list send create merge post run", 3)) == 3
    assert [one.name for one in search(SHELF, "weather", 5)] == ["weather__forecast"]


@pytest.mark.parametrize(
    ("one", "other", "slip"),
    [("mail", "mial", True), ("mail", "mails", True), ("mail", "mall", True), ("mail", "mil", True),
     ("mail", "nail", False), ("mail", "male1", False), ("mail", "mlia", False)],
)  # fmt: skip
def test_one_slip_of_the_pen_is_forgiven(one: str, other: str, slip: bool) -> None:
    assert one_slip(one, other) is slip
    assert one_slip(other, one) is slip


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
    assert outcome["result"]["tools"] == [
        {"name": "weather__forecast", "about": "Tell the weather of a city for the next days."}
    ]
    assert finder.found_in(outcome) == {"weather__forecast"}
    assert await finder.at_hand(call.request) == {"weather__forecast"}
    later = a_call(thread_id=call.thread_id)
    assert await finder.at_hand(later.request) == set()


async def test_a_tool_found_three_times_stays_until_it_is_dropped(db: Database) -> None:
    finder, here = searching(db), await thread(db, "main")
    for count in (1, 2, 3):
        assert await finder.at_hand(a_call(thread_id=here).request) == set()
        await find(finder, "weather forecast", here)
        async with db.transaction() as tx:
            [found] = await toolboxes.of_thread(tx, here)
        assert (found.found, found.kept) == (count, count == 3)
    assert await finder.at_hand(a_call(thread_id=here).request) == {"weather__forecast"}
    async with db.transaction() as tx:
        gone = await toolboxes.drop(tx, here, "weather__forecast")
        assert gone.found == 3
        assert await toolboxes.of_thread(tx, here) == []
    assert await finder.at_hand(a_call(thread_id=here).request) == set()
    await find(finder, "weather forecast", here)
    assert await finder.at_hand(a_call(thread_id=here).request) == set()


async def test_what_stays_in_one_thread_stays_there_alone(db: Database) -> None:
    finder, here, there = searching(db), await thread(db, "main"), await thread(db, "other")
    for _ in range(3):
        await find(finder, "weather forecast", here)
    assert await finder.at_hand(a_call(thread_id=there).request) == set()


async def test_a_customer_finds_only_what_is_open_to_customers(db: Database) -> None:
    finder, customers = searching(db), await thread(db, "shop", World.CUSTOMER)
    refused = await find(finder, "create an issue", customers, World.CUSTOMER)
    assert refused["status"] == "error"
    found = await find(finder, "weather forecast", customers, World.CUSTOMER)
    assert finder.found_in(found) == {"weather__forecast"}
    # Even a row that should not be there opens nothing to the other world.
    call = a_call(world=World.CUSTOMER, thread_id=customers)
    async with db.transaction() as tx:
        await toolboxes.note_found(tx, customers, call.job_id, ["github__create_issue"] * 3)
    assert await finder.at_hand(call.request) == set()


async def test_everyday_tools_need_not_be_found(db: Database) -> None:
    finder = searching(db, "weather__forecast")
    assert (await find(finder, "weather forecast", await thread(db, "main")))["status"] == "error"


async def test_a_tool_that_is_gone_is_not_offered(db: Database) -> None:
    here = await thread(db, "main")
    call = a_call(thread_id=here)
    async with db.transaction() as tx:
        await toolboxes.note_found(tx, here, call.job_id, ["gone__tool"])
    assert await searching(db).at_hand(call.request) == set()


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


async def test_dropping_what_was_never_found_says_so(db: Database) -> None:
    here = await thread(db, "main")
    with pytest.raises(NotFound, match="never found"):
        async with db.transaction() as tx:
            await toolboxes.drop(tx, here, "nothing")
