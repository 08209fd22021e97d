"""Logs of Claude Code, with their counts worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.observe.logs import Json, Told, calls, counts, log, tokens


def user(text: Any, **fields: Any) -> Json:
    return {"type": "user", "sessionId": "s", "message": {"role": "user", "content": text}, **fields}


def answer(message_id: str | None, blocks: list[Json], usage: Json | None = None, **fields: Any) -> Json:
    message = {"role": "assistant", "model": "claude-x", "content": blocks, "usage": usage or {}}
    if message_id is not None:
        message["id"] = message_id
    return {"type": "assistant", "sessionId": "s", "message": message, **fields}


def use(call: str | None, name: str = "Bash") -> Json:
    return {"type": "tool_use", "name": name, "input": {"command": "ls"}, **({"id": call} if call else {})}


def result(call: str, error: bool = False) -> Json:
    block = {"type": "tool_result", "tool_use_id": call, "content": "out", "is_error": error}
    return user([block])


def used(fresh: int, out: int, read: int = 0, write: int = 0) -> Json:
    return {
        "input_tokens": fresh,
        "output_tokens": out,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": write,
    }


TEXT = {"type": "text", "text": "hello"}


def claude() -> Iterator[Told]:
    """All of them."""
    snapshots = log(
        user("hi", uuid="u1"),
        answer("m1", [TEXT], used(10, 1, 5), requestId="r1"),
        answer("m1", [TEXT, use("t1")], used(10, 9, 5), requestId="r1"),
        # A later snapshot with less in it does not win.
        answer("m1", [use("t1")], used(10, 3, 5), requestId="r1"),
        # The same answer in a side chain, by another request: once.
        answer("m1", [use("t1")], used(10, 9, 5), requestId="r2", isSidechain=True),
        result("t1", error=True),
        result("t1", error=True),
    )
    told = counts(10, 9, 5, users=1, answers=1, tool_calls=calls(Bash=1), failed=1, open=0)
    yield "snapshots.jsonl", snapshots, told | {"tokens_naive": tokens(input=40, output=22, cache_read=20)}
    nameless = log(
        answer(None, [use(None), use(None, "Read")], used(1, 2)),
        answer(None, [use("a"), {"type": "server_tool_use", "id": "b"}], used(1, 2)),
        {"type": "assistant", "message": "broken"},
        {"type": "progress", "data": {"message": answer("p", [use("p")], used(99, 99))}},
        {"type": "tomorrow", "sessionId": "s", "version": "9.9"},
    )
    told = counts(2, 4, answers=3, tool_calls=calls(**{"?": 1, "Bash": 2, "Read": 1}), open=2)
    yield "nameless.jsonl", nameless, told | {"unknown_records": {"9.9": {"tomorrow": 1}}}
    ties = log(
        answer("m", [TEXT], used(3, 4), uuid="x"),
        # The same uuid, kept since it is an answer; the same total, so the later one counts.
        answer("m", [TEXT], used(4, 3), uuid="x"),
        answer("n", [TEXT], used(0, 0, 100, 50)),
        user("done"),
        end=b"",
    )
    yield "ties.jsonl", ties, counts(4, 3, 100, 50, answers=2, users=1, partial_tail=False)
    yield from people()
    yield from dirt()


def people() -> Iterator[Told]:
    said = log(
        user("one"),
        user([{"type": "image", "source": {}}]),
        user("<command-name>/model</command-name>"),
        user("<bash-input>ls</bash-input>"),
        user("<local-command-stdout>x</local-command-stdout>"),
        user("[Request interrupted by user]"),
        user("do this", isSidechain=True),
        user("meta", isMeta=True),
        user("summary so far", isCompactSummary=True),
        user("   "),
        user([{"type": "text", "text": ""}]),
        {"type": "user", "message": "no object"},
        {"message": {"role": "user", "content": "without a type"}},
        {"type": "user", "message": {"role": "assistant", "content": "wrong role"}},
        user("twice", uuid="same"),
        user("twice", uuid="same"),
        {"type": "attachment", "attachment": {"type": "queued_command", "prompt": "typed during a run"}},
    )
    yield "people.jsonl", said, counts(users=4, user_commands=2, user_injected=2, sidechain_prompts=1, answers=0)


def dirt() -> Iterator[Told]:
    yield (
        "dirt.jsonl",
        b"\xef\xbb\xbf" + log(user("bom")) + b"\r\n" + log(user("crlf"), end=b"\r\n") + b"\0\0\0\0\n\n  \t \n"
        + b'{"type":"user","message":{"content":"\xff\xfe"}}\n'
        + b'{"type":"user","message":{"content":"x"},"a":NaN}\n{"a":-Infinity}\n'
        + b"[" * 100_000 + b"\n" + b'"text"\n42\nnull\n[1]\ntrue\n'
        + b'{"type":"user","message":{"content":"first"},"message":{"content":"last wins"}}\n'
        + b'{"type":"user","message":{"content":"half a surrogate \\ud83d"}}\n'
        + b'{"type":"assistant","message":{"id":"m","usage":{"output_tokens":7,"input_tokens":true,'
        + b'"cache_read_input_tokens":-5,"cache_creation_input_tokens":2.0}}}\n'
        + b'{"type":"user","message":{"content":"cut o',
        counts(0, 7, lines=19, blank_lines=3, malformed_lines=6, records=5, partial_tail=True, users=4, answers=1),
    )  # fmt: skip
    large = "x" * 1_500_000
    told = log(user(large), answer("m", [{"type": "text", "text": large}], used(1, 1)), user("small"))
    yield "large.jsonl", told, counts(lines=3, malformed_lines=0, users=2, answers=1)
    yield "empty.jsonl", b"", counts(lines=0, records=0, users=0, partial_tail=False)
