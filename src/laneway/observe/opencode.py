"""OpenCode: sessions, messages and parts, each a row or a file of its own, written anew when they change."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, NamedTuple

from laneway.domain.session import NO_TOKENS, EventKind, Tokens
from laneway.observe.reader import EPOCH, Reader, hash_of
from laneway.observe.strict_json import Record, as_record, as_text, counted, price
from laneway.observe.totals import Totals

ENDS = {"completed", "error"}
PARTS = {
    *("text", "reasoning", "tool", "file", "step-start", "step-finish", "snapshot", "patch", "agent", "retry"),
    *("compaction", "subtask"),
}


class Part(NamedTuple):
    """A tool call: its newest state counts."""

    name: str
    status: str


class OpenCode(Reader):
    """One session of OpenCode, or all of a storage folder; whatever comes again replaces itself."""

    provider: ClassVar[str] = "opencode"

    def __init__(self, *, wanted: bool = False, born: datetime = EPOCH) -> None:
        super().__init__(wanted=wanted, born=born)
        self.sessions: dict[str, None] = {}
        self._roles: dict[str, str] = {}
        self._tokens: dict[str, Tokens] = {}
        self._costs: dict[str, Decimal] = {}
        self._parts: dict[str, Part] = {}
        self._naive = NO_TOKENS

    def add(self, record: Record) -> None:
        if type(record.get("role")) is str:
            self._message(record)
        elif type(record.get("messageID")) is str:
            self._piece(record)
        elif "directory" in record or "projectID" in record or "project_id" in record:
            self._session(record)
        else:
            self.unknown_kind(record.get("type"))

    def _session(self, record: Record) -> None:
        self._belongs(record.get("id"))
        self.identify("", record.get("directory"))
        self.version = as_text(record.get("version")) or self.version
        times = as_record(record.get("time"))
        self.see(times.get("created"))
        self.see(times.get("updated"))

    def _belongs(self, session: Any) -> None:
        if type(session) is str:
            self.sessions[session] = None
            self.identify(session)

    def _message(self, record: Record) -> None:
        name, role = as_text(record.get("id")) or f"#{len(self._roles)}", record["role"]
        self._belongs(record.get("sessionID"))
        self.identify("", as_record(record.get("path")).get("cwd"))
        times = as_record(record.get("time"))
        self.see(times.get("created"))
        self.see(times.get("completed"))
        new = name not in self._roles
        self._roles[name] = role
        if role == "assistant":
            self._answer(name, record, new)

    def _answer(self, name: str, record: Record, new: bool) -> None:
        model = record.get("modelID")
        self.uses(model)
        tokens, before = _tokens(as_record(record.get("tokens"))), self._tokens.get(name, NO_TOKENS)
        self._tokens[name] = tokens
        self._naive += tokens
        cost_before = self._costs.get(name, Decimal(0))
        self._costs[name] = price(record.get("cost")) or cost_before
        if not self.wanted:
            return
        self.keyed = name
        if tokens != before:
            used = tokens.input + tokens.cache_read + tokens.cache_write
            more = self._costs[name] - cost_before
            self.emit(EventKind.TOKENS, tokens=tokens - before, cost=more or None, context_used=used)
        if new and type(record.get("error")) is dict:
            self.emit(EventKind.ERROR, text=as_text(as_record(record["error"].get("data")).get("message")))

    def _piece(self, record: Record) -> None:
        kind = record.get("type")
        self._belongs(record.get("sessionID"))
        if kind == "tool":
            self._tool(record)
        elif kind == "text" and self.wanted:
            self._text(record)
        elif kind == "step-finish":
            self._naive += _tokens(as_record(record.get("tokens")))
            if self.wanted and record.get("reason") == "stop":
                self._tell_once(record, EventKind.OTHER, "end of turn", turn_ended=True)
        elif type(kind) is not str or kind not in PARTS:
            self.unknown_kind(kind, "part/")

    def _text(self, record: Record) -> None:
        role = self._roles.get(record["messageID"])
        text = as_text(record.get("text"))
        if not text.strip() or record.get("synthetic") is True:
            return
        if role == "user":
            self._tell_once(record, EventKind.USER, text, cwd=self.cwd)
        elif as_record(record.get("time")).get("end") is not None or "time" not in record:
            self._tell_once(record, EventKind.ASSISTANT, text)

    def _tell_once(self, record: Record, kind: EventKind, text: str, **fields: Any) -> None:
        name = as_text(record.get("id"))
        if f"told/{name}" not in self._roles:
            self._roles[f"told/{name}"] = ""
            self.keyed = name
            self.emit(kind, text=text, **fields)

    def _tool(self, record: Record) -> None:
        call = as_text(record.get("callID")) or as_text(record.get("id")) or f"#{len(self._parts)}"
        state = as_record(record.get("state"))
        name, status = as_text(record.get("tool")) or "?", as_text(state.get("status"))
        times = as_record(state.get("time"))
        self.see(times.get("start"))
        self._parts[call] = Part(name, status)
        if not self.wanted:
            return
        self.keyed = call
        if self.calls.called(call, name):
            self.emit(EventKind.TOOL_CALLED, tool=name, call_id=call, arguments=as_record(state.get("input")),
                      cwd=self.cwd)  # fmt: skip
        self.see(times.get("end"))
        if status in ENDS and self.calls.ended(call, failed=status == "error"):
            output = state.get("output", state.get("error"))
            self.emit(EventKind.TOOL_ENDED, tool=name, call_id=call, failed=status == "error", text=as_text(output),
                      result_hash=hash_of(output))  # fmt: skip

    def totals(self) -> Totals:
        roles = Counter(role for role in self._roles.values())
        totals = Totals(user_turns=roles["user"], assistant_messages=roles["assistant"])
        totals.tool_calls = Counter(part.name for part in self._parts.values())
        totals.tool_errors = sum(part.status == "error" for part in self._parts.values())
        totals.tool_unanswered = sum(part.status not in ENDS for part in self._parts.values())
        totals.tokens = sum(self._tokens.values(), NO_TOKENS)
        totals.tokens_naive = self._naive
        return totals


def _tokens(fields: Record) -> Tokens:
    cache, reasoning = as_record(fields.get("cache")), counted(fields.get("reasoning"))
    return Tokens(
        input=counted(fields.get("input")),
        output=counted(fields.get("output")) + reasoning,
        cache_read=counted(cache.get("read")),
        cache_write=counted(cache.get("write")),
        reasoning=reasoning,
    )
