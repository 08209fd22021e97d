"""Lists and streams on a real Redis, what is written into them, and what a result says."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

import laneway.app  # noqa: F401  everything that raises an error of ours
from laneway.channels.redis_queue.acting import UnknownOwner
from laneway.channels.redis_queue.job_message import JobMessage, Unreadable, first_id, job_of
from laneway.channels.redis_queue.lists import ListSource
from laneway.channels.redis_queue.results import NOT_APPROVED, failed_of
from laneway.channels.redis_queue.source import Entry, Source
from laneway.channels.redis_queue.streams import StreamSource
from laneway.channels.redis_queue.tokens import fields_of_token
from laneway.domain.judgement import ApprovalState
from laneway.errors import LanewayError, LeaseLost, failure
from laneway.lanes.workflow.finding import REASONS


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    async with Redis.from_url(redis_url) as client:
        yield client


def source(redis: Redis, kind: str, worker: str) -> Source:
    if kind == "list":
        return ListSource(redis, kind, worker, 10_000)
    return StreamSource(redis, kind, worker, 10_000)


async def put(redis: Redis, kind: str, *names: str) -> None:
    for name in names:
        if kind == "list":
            await redis.rpush(kind, f'{{"job_id": "{name}", "prompt": "x"}}')
        else:
            await redis.xadd(kind, {"job_id": name, "prompt": "x"})


async def ids(found: Sequence[Entry], here: Source) -> list[str]:
    return [(await here.read(entry)).job_id for entry in found]


@pytest.mark.parametrize("kind", ["list", "stream"])
async def test_what_was_taken_and_not_let_go_is_found_again(redis: Redis, kind: str) -> None:
    here = source(redis, kind, "w1")
    await here.begin()
    await put(redis, kind, "a", "b", "c")
    taken = await here.take(2, 0.1)
    assert await ids(taken, here) == ["a", "b"]
    await here.release(taken[0])
    assert await ids(await here.begin(), here) == ["b"]
    assert await ids(await here.take(5, 0.1), here) == ["c"]


async def test_a_silent_workers_list_is_taken_over_and_a_living_ones_is_not(redis: Redis) -> None:
    silent, living, here = (source(redis, "list", name) for name in ("silent", "living", "here"))
    for other in (silent, living):
        await other.begin()
    await put(redis, "list", "a", "b", "c")
    await silent.take(2, 0.1)
    await living.take(1, 0.1)
    await redis.delete("list:alive:silent")
    assert await ids(await here.begin(), here) == ["a", "b"]
    assert await redis.llen("list:processing:living") == 1


async def test_a_worker_that_leaves_puts_back_what_it_had_in_its_order(redis: Redis) -> None:
    here = source(redis, "list", "w1")
    await here.begin()
    await put(redis, "list", "a", "b", "c")
    await here.take(2, 0.1)
    await here.leave()
    other = source(redis, "list", "w2")
    assert await other.begin() == []
    assert await ids(await other.take(3, 0.1), other) == ["a", "b", "c"]
    await redis.delete("list:alive:w1")
    assert await other.beat(()) == []
    assert await redis.smembers("list:workers") == {b"w2"}


async def test_a_silent_consumers_entries_are_claimed_and_those_at_hand_are_not_lost(redis: Redis) -> None:
    silent, here = source(redis, "stream", "silent"), source(redis, "stream", "here")
    await silent.begin()
    await put(redis, "stream", "a", "b")
    left, [mine] = await silent.take(1, 0.1), await here.take(1, 0.1)
    assert await here.beat([mine.key]) == []
    for name, entry in (("silent", left[0]), ("here", mine)):
        await redis.xclaim("stream", "agent_workers", name, 0, [entry.key], idle=120_000, justid=True)
    assert await ids(await here.beat([mine.key]), here) == ["a"]
    assert (await redis.xpending("stream", "agent_workers"))["pending"] == 2


async def test_a_stream_that_was_deleted_is_made_again(redis: Redis) -> None:
    here = source(redis, "stream", "w1")
    await here.begin()
    await redis.delete("stream")
    assert await here.take(1, 0.05) == []
    await put(redis, "stream", "a")
    assert await ids(await here.take(1, 0.1), here) == ["a"]


async def added(redis: Redis, **fields: str) -> tuple[Source, Entry]:
    """An entry of the stream with these fields, as it was taken."""
    here = StreamSource(redis, "stream", "w1", 1_000_000)
    await here.begin()
    given: dict[Any, Any] = {"job_id": "j", "prompt": "x", **fields}
    await redis.xadd("stream", given)
    [entry] = await here.take(1, 0.1)
    return here, entry


async def test_fields_of_an_entry_that_are_json_are_read_as_such_and_others_stay_texts(redis: Redis) -> None:
    rows = [{"crate": number, "note": "x" * 100} for number in range(2000)]
    here, entry = await added(
        redis,
        job_id="[1]",
        prompt='{"what": "is this"}',
        tables=json.dumps({"crates": [{"kg": 2}], "large": rows}),
        timeout_sec="30",
        current_workflow='{"nodes": []}',
        context='{"previous_results": [[{"a": 1}]], "note": "a\\u0000b"}',
        plan=' {"steps": []}',
        labels='["x"]',
        hint="[see above",
        size="7",
        workflow_owner="[ann]",
    )
    job = await here.read(entry)
    assert (job.job_id, job.prompt, job.named) == ("[1]", '{"what": "is this"}', {"workflow_owner": "[ann]"})
    assert (job.current_workflow, job.previous_results, job.timeout_sec) == ({"nodes": []}, [[{"a": 1}]], 30)
    assert job.context == {"note": "a\N{REPLACEMENT CHARACTER}b"}
    [large] = job.tables
    tables = {"crates": [{"kg": 2}], "large": large.ref}
    assert job.more == {"tables": tables, "plan": {"steps": []}, "labels": ["x"], "hint": "[see above", "size": "7"}


async def test_fields_of_an_entry_that_should_be_json_are_named(redis: Redis) -> None:
    for name, given, says in (
        ("tables", "{", "`tables` is no valid JSON"),
        ("plan", "sort", "`plan` is no valid JSON"),
        ("labels", "[" * 70 + "]" * 70, "nested more than 64 levels"),
    ):
        here, entry = await added(redis, **{name: given})
        with pytest.raises(Unreadable) as bad:
            await here.read(entry)
        assert says in bad.value.reason
        assert bad.value.job_id == "j"


async def test_a_worker_that_lives_again_is_not_forgotten_by_one_that_just_took_it_for_dead(redis: Redis) -> None:
    back, here = (ListSource(redis, "list", name, 10_000) for name in ("back", "here"))
    await back.begin()
    await redis.delete("list:alive:back")
    known = await here.beat(())
    await back.beat(())
    # Whoever had seen the silence goes on only now.
    assert (known, await here.take_over("back")) == ([], [])
    await put(redis, "list", "a")
    await back.take(1, 0.1)
    await redis.delete("list:alive:back")
    assert await ids(await here.beat(()), here) == ["a"]


async def test_a_job_that_comes_as_a_worker_leaves_is_found_however_late_redis_hears_of_that(redis: Redis) -> None:
    here, other = source(redis, "list", "w1"), source(redis, "list", "w2")
    await here.begin()
    # Whoever leaves has given this up; until Redis has noticed, the question stands there.
    asked = asyncio.create_task(here.take(1, 1.0))
    async with asyncio.timeout(20):
        while not any(client["cmd"] == "blmove" for client in await redis.client_list()):
            await asyncio.sleep(0.01)
    await here.leave()
    await put(redis, "list", "a")
    await asked
    await other.begin()
    # It counts as alive for some seconds more, which pass now.
    assert 0 < await redis.pttl("list:alive:w1") <= 3000
    await redis.delete("list:alive:w1")
    assert await ids([*await other.beat(()), *await other.take(1, 0.1)], other) == ["a"]


def job(**fields: Any) -> JobMessage:
    return job_of({"version": "1.0", "job_id": "j", "prompt": "show me", **fields}, "list")


def refusal(**fields: Any) -> Unreadable:
    """Why a job with these fields is none."""
    with pytest.raises(Unreadable) as refused:
        job(**{"run_id": "r", **fields})
    assert fields.keys() & {"run_id"} or refused.value.named == {"run_id": "r"}, fields
    return refused.value


def test_every_version_one_is_taken_and_any_other_refused_as_such() -> None:
    for version in (None, "1.0", "1", "1.7", "1.12", 1, 1.0, 1.5):
        assert job(version=version).prompt == "show me"
    others: list[Any] = ["2.0", "0.9", "10", "1.x", "1.0 ", "", "one", 2, True, [], {"major": 1}]
    for other in others:
        assert (refusal(version=other).type, refusal(version=other).job_id) == ("unsupported-version", "j"), other


def test_a_field_of_the_wrong_kind_is_named() -> None:
    cases: list[tuple[str, list[dict[str, Any]]]] = [
        ("prompt", [{"prompt": None}, {"prompt": " \n"}]),
        ("a list", [{"prompt": ["x"]}]),
        ("a number", [{"task": 7}]),
        ("context", [{"context": "x"}]),
        ("previous_results", [{"context": {"previous_results": {}}}]),
        ("session_id", [{"context": {"session_id": given}} for given in (["s"], "s" * 121)]),
        ("current_workflow", [{"current_workflow": []}]),
        ("workflow_owner", [{"workflow_owner": {}}]),
        ("run_id", [{"run_id": "a\nb"}]),
        ("timeout_sec", [{"timeout_sec": given} for given in (0, -5, "30", True, 1e12)]),
    ]
    for says, several in cases:
        for fields in several:
            refused = refusal(**fields)
            assert says in refused.reason
            assert (refused.type, refused.job_id) == ("malformed", "j")


def test_an_id_that_is_not_taken_is_answered_where_its_sender_waits_if_it_can_be_read() -> None:
    assert job(job_id=17).job_id == "17"
    for given in ("a\nb", " ", "x" * 121, "x" * 512):
        refused = refusal(job_id=given)
        assert (refused.type, refused.job_id) == ("malformed", given)
        assert "`job_id` must be a text of 1 to 120 printable characters" in refused.reason
        assert first_id(json.dumps({"job_id": given}).encode()[:-1]) == given
    unreadable: list[Any] = [None, "", "x" * 513, 10**600, 1.5, True, [], {}]
    for nobody in unreadable:
        assert refusal(job_id=nobody).job_id is None


def test_the_id_of_what_cannot_be_read_is_found_wherever_it_stands_in_nothing_else() -> None:
    assert first_id(b'{"version": "1.0", "n": -1.5, "job_id": "a\\u0062c", "x": [') == "abc"
    assert first_id(b'  {"job_id":"j","prompt":"' + b"x" * 20_000_000 + b'"}') == "j"
    assert first_id(b'{"job_id": "\\ud800"}') == "\N{REPLACEMENT CHARACTER}"
    assert first_id(b'{"context": {"job_id": "another"}, "job_id": "j"}') == "j"
    nobody = (
        b'{"prompt": "\\"job_id\\": \\"another\\"", "x": {}}', b'{"prompt": "job_id", "x": [{"job_id": "another"}]}',
        b'{"job_id": 1.5, "x', b'["job_id", "b"]', b"[1, 2]", b"",
    )  # fmt: skip
    assert [first_id(raw) for raw in nobody] == [None] * 6


def test_a_token_becomes_a_job_and_keeps_what_a_job_has_no_name_for() -> None:
    token = {
        "id": "t", "run_id": "r", "from_node": "a", "to_node": "b", "hop": 2, "config": {"task": "from the config"},
        "metadata": {"context": {"session_id": "s"}, "workflow_tag": "main", "trace": "x"}, "workflow_owner": "ann",
    }  # fmt: skip
    read = job_of(fields_of_token(token), "token")
    assert (read.job_id, read.prompt, read.session_id) == ("t", "from the config", "s")
    assert read.named == {"run_id": "r", "node_id": "b", "workflow_tag": "main", "workflow_owner": "ann"}
    assert read.more == {
        "from_node": "a", "hop": 2, "config": {"task": "from the config"}, "metadata": {"trace": "x"},
    }  # fmt: skip


def test_a_lanes_own_word_counts_and_else_how_the_last_question_ended() -> None:
    rejected, expired, superseded = ApprovalState.REJECTED, ApprovalState.EXPIRED, ApprovalState.SUPERSEDED
    cases: list[tuple[dict[str, Any], ApprovalState | None, str | None]] = [
        ({}, None, None),
        ({"failed": failure("timeout", "Late.")}, None, "timeout"),
        ({"failed": failure("bad-input", "No.")}, rejected, "bad-input"),
        *(({}, state, str(state)) for state in (rejected, expired, superseded)),
        ({"result_ref": "artifact://x"}, rejected, None),
        ({"result_preview": {"kind": "text"}}, expired, None),
        ({"stopped": "step limit"}, None, "step-limit"),
    ]
    for meta, not_approved, kind in cases:
        found = failed_of(meta, "words", not_approved)
        assert (found and found["type"]) == kind, meta


def test_every_type_of_an_error_stands_in_the_page_about_redis() -> None:
    page = (Path(__file__).parents[3] / "docs" / "redis.md").read_text(encoding="utf-8")
    rows = [
        line.split("|")
        for line in page.partition("| `type` |")[2].split("\n\n")[0].splitlines()
        if line.startswith("| `")
    ]
    told = {name: row[3].strip() for row in rows for name in re.findall(r"`([a-z-]+)`", row[1])}
    stopped = {"step-limit", "not-approved"}
    refused = {"malformed", "unsupported-version", UnknownOwner.code}
    checks = {*REASONS, "incomplete", "no-change", "no-such-model"}
    # A run that lost its lease ends as cancelled, or goes on elsewhere.
    codes = {kind.code for kind in _kinds(LanewayError)} - {LeaseLost.code}
    can_be = codes | checks | stopped | refused | {str(state) for state in NOT_APPROVED}
    assert set(told) == can_be
    assert told == {code: "yes" if failure(code, "")["retryable"] else "no" for code in can_be}


def _kinds(kind: type[LanewayError]) -> Iterator[type[LanewayError]]:
    """The error and all of its kinds in the whole program."""
    yield kind
    for below in kind.__subclasses__():
        if below.__module__.startswith("laneway."):
            yield from _kinds(below)
