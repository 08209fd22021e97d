"""Gemini CLI: a `.json` document that is written anew each time, or a `.jsonl` log of messages and changes."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any, ClassVar, NamedTuple

from laneway.domain.session import NO_TOKENS, EventKind, Tokens
from laneway.observe.reader import EPOCH, Reader, hash_of
from laneway.observe.strict_json import Record, as_list, as_record, as_text, counted
from laneway.observe.totals import Totals

ANSWERS = {"gemini", "model"}
KNOWN = {*ANSWERS, "user", "info", "error", "warning"}
ENDS = {"success", "error", "cancelled"}


class Call(NamedTuple):
    """A tool call as a message shows it."""

    call_id: str | None
    name: str
    status: str
    answered: bool


class Message(NamedTuple):
    """What is kept of a message: the rest is not counted."""

    kind: str
    tokens: Tokens
    calls: tuple[Call, ...]


class Gemini(Reader):
    """A session of Gemini CLI; a message that comes again replaces itself."""

    provider: ClassVar[str] = "gemini-cli"

    def __init__(self, *, wanted: bool = False, born: datetime = EPOCH) -> None:
        super().__init__(wanted=wanted, born=born)
        self._visible: dict[str, Message] = {}
        self._spent: dict[str, Tokens] = {}
        self._sum = self._naive = NO_TOKENS
        self._rewound = 0

    def add(self, record: Record) -> None:
        if "$rewindTo" in record:
            self._rewind(record["$rewindTo"])
        elif type(record.get("$set")) is dict:
            self._change(record["$set"])
        elif "id" in record:
            self._message(_name(record["id"]), record)
        else:
            self._change(record)

    def _change(self, fields: Record) -> None:
        """The session's own fields are these; `messages` among them replaces all messages."""
        folders = as_list(fields.get("directories"))
        self.identify(fields.get("sessionId"), folders[0] if folders else "")
        self.see(fields.get("startTime"))
        self.see(fields.get("lastUpdated"))
        if type(fields.get("messages")) is not list:
            return
        self._visible = {}
        for number, message in enumerate(fields["messages"]):
            if type(message) is dict:
                self._message(_name(message["id"]) if "id" in message else f"#{number}", message)

    def _rewind(self, target: Any) -> None:
        """The message and all after it are gone from sight; their tokens are spent all the same."""
        names = list(self._visible)
        start = names.index(_name(target)) if _name(target) in self._visible else 0
        self._rewound += len(names) - start
        for name in names[start:]:
            del self._visible[name]
        self.emit(EventKind.OTHER, text="rewound")

    def _message(self, name: str, record: Record) -> None:
        self.see(record.get("timestamp"))
        kind = record.get("type")
        if type(kind) is not str or kind not in KNOWN:
            self.unknown_kind(kind)
        answers = type(kind) is str and kind in ANSWERS
        tokens = _tokens(as_record(record.get("tokens")))
        calls = tuple(_call(call) for call in as_list(record.get("toolCalls")) if type(call) is dict) if answers else ()
        if answers:
            self.uses(record.get("model"))
        new, before = name not in self._spent, self._spent.get(name, NO_TOKENS)
        self._visible[name] = Message(as_text(kind), tokens, calls)
        self._spent[name] = tokens
        self._sum += tokens - before
        self._naive += tokens
        if self.wanted:
            self._tell(name, record, new, tokens - before)

    def _tell(self, name: str, record: Record, new: bool, increase: Tokens) -> None:
        if self.keyed:
            self.keyed = name
        kind, text = record.get("type"), _text_of(record.get("content"))
        if new and kind == "user":
            self.emit(EventKind.USER, text=text, cwd=self.cwd)
        elif new and kind == "error":
            self.emit(EventKind.ERROR, text=text)
        elif new and text and kind in ("gemini", "model"):
            done = not as_list(record.get("toolCalls"))
            self.emit(EventKind.ASSISTANT, text=text, turn_ended=done)
        if increase:
            used = counted(as_record(record.get("tokens")).get("input"))
            self.emit(EventKind.TOKENS, tokens=increase, context_used=used or None)
        for call in as_list(record.get("toolCalls")):
            if type(call) is dict and kind in ("gemini", "model"):
                self._tell_call(call)

    def _tell_call(self, call: Record) -> None:
        seen = _call(call)
        if self.calls.called(seen.call_id, seen.name):
            self.emit(EventKind.TOOL_CALLED, tool=seen.name, call_id=seen.call_id or "",
                      arguments=as_record(call.get("args")), cwd=self.cwd)  # fmt: skip
        bad = seen.status == "error"
        if seen.answered and self.calls.ended(seen.call_id, failed=bad):
            result = call.get("result")
            self.emit(EventKind.TOOL_ENDED, text=as_text(call.get("resultDisplay")), tool=seen.name, failed=bad,
                      call_id=seen.call_id or "", result_hash=hash_of(result))  # fmt: skip

    def totals(self) -> Totals:
        totals = Totals(tokens=self._sum, tokens_naive=self._naive, tokens_visible=NO_TOKENS)
        calls: dict[str, Call] = {}
        names: Counter[str] = Counter()
        for message in self._visible.values():
            totals.user_turns += message.kind == "user"
            totals.assistant_messages += message.kind in ANSWERS
            totals.tokens_visible = (totals.tokens_visible or NO_TOKENS) + message.tokens
            for call in message.calls:
                if call.call_id is None or call.call_id not in calls:
                    names[call.name] += 1
                calls[call.call_id or f"?{sum(names.values())}"] = call
        totals.tool_calls = names
        totals.tool_errors = sum(call.status == "error" for call in calls.values())
        totals.tool_unanswered = sum(call.call_id is not None and not call.answered for call in calls.values())
        if self._rewound:
            totals.uncertain.append(f"{self._rewound} messages were rewound; their tokens are spent but not visible")
        return totals


def _name(message_id: Any) -> str:
    return message_id if type(message_id) is str else f"={message_id if type(message_id) is int else '?'}"


def _tokens(fields: Record) -> Tokens:
    cached, thoughts = counted(fields.get("cached")), counted(fields.get("thoughts"))
    return Tokens(
        input=counted(fields.get("input")) - cached,
        output=counted(fields.get("output")) + thoughts,
        cache_read=cached,
        reasoning=thoughts,
        tool_prompt=counted(fields.get("tool")),
    )


def _call(call: Record) -> Call:
    call_id, status = call.get("id"), as_text(call.get("status"))
    answered = status in ENDS or (not status and call.get("result") is not None)
    return Call(call_id if type(call_id) is str else None, as_text(call.get("name")) or "?", status, answered)


def _text_of(content: Any) -> str:
    if type(content) is str:
        return content
    parts = as_list(content) or [content]
    return "\n".join(text for part in parts if (text := as_text(as_record(part).get("text"))))
