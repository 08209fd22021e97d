"""The tables of a request: those it brings, those it points at, and the last result of its conversation.

Inline rows and artifacts named in `runner.tables`, `runner.previous_results`, tables among the message's attachments;
if there are none of these, the last result of the thread, under the name `previous`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from laneway.domain.conversation import Attachment, Message, Principal
from laneway.domain.job import Job
from laneway.errors import BadInput, Forbidden, TooLarge
from laneway.lanes.pipeline.formats import SAMPLED_ROWS, kind_of, left_on_disk, rows_in, sample
from laneway.lanes.pipeline.plan import Plan, plan_of
from laneway.lanes.pipeline.plans import Columns, columns_of
from laneway.lanes.pipeline.process import BYTES_HERE, Held, Stored, stored, worked
from laneway.lanes.pipeline.tables import MOST_ROWS, source_of
from laneway.lanes.pipeline.tabular import inside, is_result, pointed, rows_of
from laneway.lanes.pipeline.taking_out import TITLES
from laneway.lanes.pipeline.unpacking import LAID
from laneway.lanes.pipeline.values import Row
from laneway.store import conversations, plans, principals
from laneway.store.artifacts import SCHEME, Artifacts, Original
from laneway.store.database import Database

PREVIOUS = "previous"
MOST_TABLES = 20
_TABLE = re.compile(r".*\.(csv|tsv|json|ndjson|jsonl|parquet)", re.IGNORECASE)
_NAME = re.compile(r"[^\w-]+")
ADDRESS = re.compile(r"https?://[^\s<>\"'`]+[^\s<>\"'`.,;:!?)\]]")
"""Where a request says that its rows are."""

Table = Sequence[Row] | Held | Stored
"""Rows, the bytes of a large file, or a large file on this machine's shelf that a worker process reads itself."""
_BEGINNING = plan_of({"steps": [{"do": "limit", "count": SAMPLED_ROWS}]})


@dataclass
class Given:
    """The tables at hand, where each came from, and whose words are in them."""

    tables: dict[str, Table] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    fetches: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The `http_request` that brought a table, by the name of the table."""
    _samples: dict[str, Sequence[Row]] = field(default_factory=dict)

    def add(self, name: str, rows: Table, origin: str, source: str | None = None) -> None:
        """One more table, under a name that no other has."""
        if len(self.tables) >= MOST_TABLES:
            raise TooLarge(f"A request may bring {MOST_TABLES} tables.", hint="Send fewer.")
        wanted = name = _NAME.sub("_", name).strip("_")[:60] or "table"
        number = 2
        while name in self.tables:
            name, number = f"{wanted}_{number}", number + 1
        self.tables[name], self.origins[name] = rows, origin
        if source is not None and source not in self.sources:
            self.sources.append(source)

    def fetched(self, name: str, rows: Table, url: str, step: dict[str, Any], note: str = "") -> None:
        """The table that a plan's `http_request` brought."""
        self.tables[name], self.origins[name], self.fetches[name] = rows, url, step
        self._samples.pop(name, None)
        self.notes += [note] if note else []

    async def samples(self) -> dict[str, Sequence[Row]]:
        """Enough of every table to plan with; read once, and not on the loop."""
        for name in self.tables.keys() - self._samples.keys():
            self._samples[name] = await _sampled(self.tables[name])
        return {name: self._samples[name] for name in self.tables}

    async def columns(self) -> Columns:
        """Every table with its columns and the types of their cells."""
        return await asyncio.to_thread(columns_of, await self.samples())

    def origins_of(self, plan: Plan) -> list[str]:
        """Where the rows of the plan's tables came from."""
        source = source_of(plan, self.tables)
        others = [name for step in plan.document()["steps"] for name in (step.get("table"), *step.get("tables", ()))]
        return [self.origins[name] for name in dict.fromkeys([source, *plan.fetches, *others]) if name in self.origins]


def is_table(attachment: Attachment) -> bool:
    """Whether a file can be read as a table."""
    return attachment.artifact is not None and bool(
        attachment.mime in plans.TABULAR or _TABLE.fullmatch(attachment.name)
    )


class Inputs:
    """Finds the tables of requests, each checked and within bounds."""

    def __init__(self, db: Database, artifacts: Artifacts, most_rows: int) -> None:
        self._db, self._artifacts, self._most_rows = db, artifacts, most_rows

    async def of(self, job: Job, message: Message) -> Given:
        """All tables of the request; the same in every run of its job."""
        given, runner = Given(), runner_of(job)
        ours = frozenset(map(str, runner.get(LAID) or ()))
        async with self._db.transaction() as tx:
            asking = await principals.by_id(tx, message.principal_id)
            attached = await conversations.attachments(tx, [message.id])
            before = await plans.last_before(tx, message)
        for name, value in _named(runner.get("tables"), "tables").items():
            origin = _origin(value, f"the table `{name}` of the request", ours)
            given.add(name, await self.rows(value, asking, ours), origin, f"the table {name}"[:80])
        for name, value in _earlier(runner.get("previous_results")):
            origin = _origin(value, "an earlier result", ours)
            given.add(name, await self.rows(value, asking, ours), origin, "an earlier result")
        for file in filter(is_table, attached):
            rows = await self._stored(str(file.artifact), file.name)
            given.add(file.name.rpartition(".")[0], rows, f"the file {file.name}", f"the file {file.name}")
        if not given.tables and before is not None and not ADDRESS.search(message.text):
            given.add(PREVIOUS, await self._stored(before.ref), "the last result of this conversation")
        self._check(given)
        return given

    async def rows(self, value: Any, asking: Principal | None, ours: Collection[str] = ()) -> Table:
        """The rows that stand in a request, or the artifact it points at; those that are its own are `ours`."""
        ref = pointed(value)
        if ref is None:
            return await asyncio.to_thread(rows_of, inside(value))
        return await self._stored(ref) if ref in ours else await self._pointed(ref, asking)

    async def _pointed(self, ref: str, asking: Principal | None) -> Table:
        if not ref.startswith(SCHEME):
            raise BadInput(f"`{ref[:80]}` is no table.", hint=f"Send rows, or a reference like {SCHEME}….")
        async with self._db.transaction() as tx:
            allowed = asking is not None and await plans.may_read(tx, ref, asking)
        if not allowed:
            raise Forbidden(f"{ref[:90]} is not yours to read.", hint="Send the rows, or an artifact of your own.")
        return await self._stored(ref)

    async def _stored(self, ref: str, name: str = "") -> Table:
        found = await stored(self._artifacts, ref, name)
        large = None if found is None else await asyncio.to_thread(left_on_disk, found)
        if large is not None:
            return large
        return await table_of(await self._artifacts.read(ref), name)

    def _check(self, given: Given) -> None:
        total = sum(len(rows) for rows in given.tables.values() if not isinstance(rows, Held | Stored))
        if total > self._most_rows:
            raise TooLarge(
                f"The tables have {total} rows; a pipeline may hold {self._most_rows}.",
                hint="Send fewer, or raise LANEWAY_PIPELINE_ROWS.",
            )


async def _sampled(table: Table) -> Sequence[Row]:
    if isinstance(table, Stored) and table.format == "parquet":
        # Its columns lie one behind the other: whoever wants a few rows reads the file, and that is the worker.
        return (await worked(_BEGINNING, {"table": table}, MOST_ROWS)).rows
    return await asyncio.to_thread(sample, table)


async def table_of(original: Original, name: str = "") -> Table:
    """The table that an artifact holds; a large one stays as it is until it is worked on."""
    content = original.content
    kind = kind_of(content, original.mime, name)
    if len(content) > BYTES_HERE and not (kind == "json" and not content.lstrip().startswith(b"[")):
        return Held(content, kind)
    return await asyncio.to_thread(rows_in, content, kind)


def runner_of(job: Job) -> dict[str, Any]:
    """What the door said about the request beside its words."""
    found = job.payload.get("runner")
    return read_runner(found) if isinstance(found, dict) else {}


def read_runner(given: dict[str, Any]) -> dict[str, Any]:
    """The same of what a door was given; the first runner's tool calls a plan `pipeline`, and its rows `input_ref`."""
    # A queue passes on what it does not know itself; tables are for us.
    more = given.get("more")
    known = dict(more) if isinstance(more, dict) else {}
    known.setdefault("plan", known.get("pipeline"))
    known["previous_results"] = [known["input_ref"]] if known.get("input_ref") else None
    return {key: known[key] for key in ("tables", "plan", "previous_results") if known.get(key) is not None} | given


def _named(tables: Any, field_name: str) -> dict[str, Any]:
    if tables is None:
        return {}
    if isinstance(tables, list):
        return {"table": tables}
    if not isinstance(tables, dict):
        raise BadInput(f"`{field_name}` must be an object of names and rows.", hint='Send {"name": [{…}]}.')
    return tables


def _earlier(results: Any) -> list[tuple[str, Any]]:
    """Earlier results with a name each: a list of results, or a list that is the rows of one."""
    if results is None or results == []:
        return []
    if isinstance(results, dict):
        return [(PREVIOUS, results)] if is_result(results) else list(results.items())
    if not isinstance(results, list):
        raise BadInput("`previous_results` must be a list.", hint="Send earlier results, or rows.")
    if all(isinstance(one, dict) and not is_result(one) for one in results):
        return [(PREVIOUS, results)]
    named = [(_title(one), one) for one in results]
    alone = len(named) == 1
    return [(title or (PREVIOUS if alone else f"{PREVIOUS}_{n}"), one) for n, (title, one) in enumerate(named, 1)]


def _title(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    return next((str(value[key]) for key in TITLES if isinstance(value.get(key), str)), "")


def _origin(value: Any, inline: str, ours: Collection[str]) -> str:
    ref = pointed(value)
    return inline if ref is None or ref in ours else ref
