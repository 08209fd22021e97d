"""A growing log is followed: only complete lines count, and a file that was replaced begins anew."""

from __future__ import annotations

import json
import random
from pathlib import Path

from laneway.domain.keepable import keepable
from laneway.domain.session import EventKind, SessionEvent
from laneway.observe.lines import Lines
from laneway.observe.sources import zstandard
from laneway.observe.tail import DocumentTail, Tail, followed, whole
from tests.observe.claude_logs import answer, result, use, used, user
from tests.observe.logs import log
from tests.observe.samples import OWN, gem
from tests.observe.test_read import fed

SMALL = [sample for sample in OWN if sample.name.endswith(".jsonl") and len(sample.content) < 200_000]


def append(path: Path, content: bytes) -> None:
    with path.open("ab") as file:
        file.write(content)


def texts(events: list[SessionEvent], kind: EventKind = EventKind.USER) -> list[str]:
    return [event.text for event in events if event.kind is kind]


def test_files_that_grow_by_random_pieces_tell_the_same_events(tmp_path: Path) -> None:
    wrong = []
    for sample in SMALL:
        path, chance = tmp_path / sample.provider / sample.name, random.Random(str(sample))
        path.parent.mkdir(exist_ok=True)
        tail, events, start = Tail(path), [], 0
        assert tail.read() == []
        while start < len(sample.content):
            end = start + chance.randint(1, 3000)
            append(path, sample.content[start:end])
            events += tail.read()
            start = end
        append(path, b"\n")
        events += tail.read()
        wrong += [] if events == fed(path, [sample.content + b"\n"])[1] else [str(sample)]
    assert not wrong, wrong


def test_a_file_that_was_cut_written_anew_or_replaced_begins_anew(tmp_path: Path) -> None:
    path, new = tmp_path / "s.jsonl", tmp_path / "new"
    path.write_bytes(log(user("one"), user("two")))
    tail = Tail(path)
    assert texts(tail.read()) == ["one", "two"]
    path.write_bytes(log(user("3")))
    assert texts(tail.read()) == ["3"]
    path.write_bytes(log(user("another"), user("story"), user("altogether")))
    assert texts(tail.read()) == ["another", "story", "altogether"]
    before = tail.identity
    new.write_bytes(log(user("another"), user("story"), user("altogether"), user("again")))
    new.replace(path)
    assert texts(tail.read()) == ["another", "story", "altogether", "again"]
    assert tail.life == 3
    assert tail.identity != before
    path.unlink()
    assert (tail.read(), tail.gone) == ([], True)
    path.write_bytes(log(user("back")))
    assert (texts(tail.read()), tail.gone) == (["back"], False)


def test_a_line_that_is_too_long_is_dropped_and_its_bytes_are_not_kept() -> None:
    lines = Lines(longest=1000)
    for _ in range(50):
        assert list(lines.feed(b"x" * 100)) == []
        assert sum(map(len, lines._tail)) <= 1000
    assert [record["a"] for record in lines.feed(b'\n{"a": 1}\n')] == [1]
    assert (lines.lines, lines.malformed, lines.too_long, lines.records) == (2, 1, 1, 1)
    assert lines.offset == 50 * 100 + 1 + 9


def test_a_document_is_read_again_when_it_changes_and_tells_only_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "session-1.json"
    document = {"sessionId": "g", "projectHash": "h", "messages": [gem("user", "u")]}
    path.write_text(json.dumps(document))
    tail = followed(path)
    assert isinstance(tail, DocumentTail)
    assert texts(tail.read()) == ["u"]
    assert tail.read() == []
    document["messages"] = [gem("user", "u"), gem("gemini", "a", (5, 1, 0, 0, 0)), gem("user", "v")]
    path.write_text(json.dumps(document)[:-4])
    assert tail.read() == []
    path.write_text(json.dumps(document))
    events = tail.read()
    assert texts(events) == ["v"]
    assert sum(event.tokens.total for event in events) == 6
    again = {event.offset for event in whole(path)}
    assert {event.offset for event in events} <= again, "an event has the same place whenever it is read"


def test_a_compressed_log_is_told_once(tmp_path: Path) -> None:
    path = tmp_path / "rollout-1.jsonl.zst"
    path.write_bytes(zstandard().compress(log(user("one"), user("two"))))
    tail = followed(path)
    assert texts(tail.read()) == ["one", "two"]
    assert tail.read() == []
    assert texts(whole(path)) == ["one", "two"]


def test_what_a_log_says_is_redacted_and_bounded(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    key = "sk-ant-" + "a1b2c3d4" * 5
    path.write_bytes(log(user("y" * 1990 + " " + key), answer("m", [use("t")], used(1, 1)), result("t")))
    events = whole(path)
    [text] = texts(events)
    assert len(text) <= 2000
    assert "a1b2" not in text
    assert [(event.kind.value, event.call_id) for event in events if event.call_id] == [
        ("tool_called", "t"),
        ("tool_ended", "t"),
    ]


def test_arguments_that_are_nested_deep_do_no_harm(tmp_path: Path) -> None:
    deep = b"[" * 900 + b"]" * 900
    path = tmp_path / "s.jsonl"
    path.write_bytes(
        b'{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"X","input":{"a":'
        + deep + b'}}]}}\n{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":'
        + deep + b"}]}}\n"
    )  # fmt: skip
    called, ended = [event for event in whole(path) if event.call_id]
    assert ended.result_hash
    assert len(str(keepable(called.arguments))) < 100
