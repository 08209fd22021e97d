"""What producers write, read: every field, both names of the prompt, and everything that is no job."""

from __future__ import annotations

import json
from typing import Any

import pytest

from laneway.channels.redis_queue.job_message import Unreadable, fields_of, first_id, job_of, too_deep
from laneway.channels.redis_queue.tokens import fields_of_token


def job(**fields: Any) -> dict[str, Any]:
    return {"version": "1.0", "job_id": "j", "prompt": "show me", **fields}


@pytest.mark.parametrize("version", [None, "1.0", "1", "1.7", "1.12", 1, 1.0, 1.5])
def test_every_version_one_is_taken(version: object) -> None:
    assert job_of(job(version=version), "list").prompt == "show me"


@pytest.mark.parametrize("version", ["2.0", "0.9", "10", "1.x", "1.0 ", "", "one", 2, True, [], {"major": 1}])
def test_any_other_version_is_refused_as_such(version: object) -> None:
    with pytest.raises(Unreadable) as refused:
        job_of(job(version=version, run_id="r"), "list")
    assert refused.value.type == "unsupported-version"
    assert refused.value.job_id == "j"
    assert refused.value.named == {"run_id": "r"}


def test_the_prompt_may_be_called_task_and_the_prompt_counts_where_both_are() -> None:
    assert job_of({"job_id": "j", "task": "a"}, "list").prompt == "a"
    assert job_of({"job_id": "j", "task": "a", "prompt": "b"}, "list").prompt == "b"
    assert job_of({"job_id": "j", "task": "a", "prompt": "  "}, "list").prompt == "a"


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"prompt": None}, "prompt"),
        ({"prompt": " \n"}, "prompt"),
        ({"prompt": ["x"]}, "a list"),
        ({"task": 7}, "a number"),
        ({"context": "x"}, "context"),
        ({"context": {"previous_results": {}}}, "previous_results"),
        ({"context": {"session_id": ["s"]}}, "session_id"),
        ({"context": {"session_id": "s" * 121}}, "session_id"),
        ({"current_workflow": []}, "current_workflow"),
        ({"workflow_owner": {}}, "workflow_owner"),
        ({"run_id": "a\nb"}, "run_id"),
        ({"timeout_sec": 0}, "timeout_sec"),
        ({"timeout_sec": -5}, "timeout_sec"),
        ({"timeout_sec": "30"}, "timeout_sec"),
        ({"timeout_sec": True}, "timeout_sec"),
        ({"timeout_sec": 1e12}, "timeout_sec"),
    ],
)
def test_a_field_of_the_wrong_kind_is_named(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(Unreadable) as refused:
        job_of(job(**fields), "list")
    assert says in refused.value.reason
    assert (refused.value.type, refused.value.job_id) == ("malformed", "j")


@pytest.mark.parametrize("given", ["a\nb", " ", "x" * 121, "x" * 512])
def test_an_id_that_is_not_taken_is_answered_where_its_sender_waits(given: str) -> None:
    with pytest.raises(Unreadable) as refused:
        job_of(job(job_id=given, run_id="r"), "list")
    assert (refused.value.type, refused.value.job_id) == ("malformed", given)
    assert "`job_id` must be a text of 1 to 120 printable characters" in refused.value.reason
    assert refused.value.named == {"run_id": "r"}
    assert first_id(json.dumps({"job_id": given}).encode()[:-1]) == given


@pytest.mark.parametrize("given", [None, "", "x" * 513, 10**600, 1.5, True, [], {}])
def test_without_a_readable_id_there_is_nobody_to_answer(given: object) -> None:
    with pytest.raises(Unreadable) as refused:
        job_of(job(job_id=given), "list")
    assert refused.value.job_id is None


def test_an_id_may_be_a_number() -> None:
    assert job_of(job(job_id=17), "list").job_id == "17"


def test_the_id_of_what_cannot_be_read_is_found_where_it_stands_before_anything_nested() -> None:
    assert first_id(b'{"version": "1.0", "n": -1.5, "job_id": "a\\u0062c", "x": [') == "abc"
    assert first_id(b'  {"job_id":"j","prompt":"' + b"x" * 20_000_000 + b'"}') == "j"
    assert first_id(b'{"context": {"job_id": "another"}, "job_id": "j"}') is None
    assert first_id(b'{"prompt": "\\"job_id\\": \\"another\\"", "x": {}}') is None
    assert first_id(b"[1, 2]") is None
    assert first_id(b'{"job_id": "\\ud800"}') == "\N{REPLACEMENT CHARACTER}"
    assert first_id(b"") is None


def test_hostile_input_is_recognised_without_going_down_into_it() -> None:
    with pytest.raises(Unreadable) as refused:
        fields_of(b'{"job_id": "j", "a": ' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"}", 1_000_000)
    assert refused.value.job_id == "j"
    assert too_deep(json.loads("[" * 65 + "]" * 65))
    assert not too_deep(json.loads("[" * 60 + "]" * 60))


def test_a_nul_is_replaced_for_no_database_can_hold_it() -> None:
    assert fields_of(b'{"a": ["x\\u0000y"]}', 1000) == {"a": ["x\N{REPLACEMENT CHARACTER}y"]}


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
