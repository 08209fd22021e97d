"""pi: `sessions/--<folder>--/<time>_<id>.jsonl`, entries with an id and a parent; messages carry their usage."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar

from laneway.domain.session import NO_TOKENS, EventKind, Tokens
from laneway.observe.reader import EPOCH, Reader, hash_of
from laneway.observe.strict_json import Record, as_list, as_record, as_text, counted, price
from laneway.observe.totals import Totals

KNOWN = {
    *("session", "message", "model_change", "thinking_level_change", "compaction", "branch_summary", "custom"),
    *("custom_message", "label", "session_info"),
}


class Pi(Reader):
    """A session of pi, or of a program built on it."""

    provider: ClassVar[str] = "pi"

    def __init__(self, *, wanted: bool = False, born: datetime = EPOCH) -> None:
        super().__init__(wanted=wanted, born=born)
        self._turns = self._answers = 0
        self._tokens = NO_TOKENS
        self._branched = False

    def add(self, record: Record) -> None:
        kind = record.get("type")
        self.see(record.get("timestamp"))
        if kind == "message":
            self._message(as_record(record.get("message")))
        elif kind == "session":
            self.identify(record.get("id"), record.get("cwd"))
            version = record.get("version")
            self.version = str(version) if type(version) in (int, str) else ""
            self._branched = any(type(record.get(name)) is str for name in ("branchedFrom", "parentSession"))
        elif kind == "model_change":
            self.uses(record.get("modelId"))
        elif kind == "compaction":
            self.emit(EventKind.COMPACTED)
        elif type(kind) is not str or kind not in KNOWN:
            self.unknown_kind(kind)

    def _message(self, message: Record) -> None:
        role = message.get("role")
        if role == "user":
            self._turns += 1
            self.emit(EventKind.USER, text=_text_of(message.get("content")), cwd=self.cwd)
        elif role == "assistant":
            self._assistant(message)
        elif role == "toolResult":
            call, failed = message.get("toolCallId"), message.get("isError") is True
            if self.calls.ended(call, failed=failed) and self.wanted:
                content = message.get("content")
                self.emit(EventKind.TOOL_ENDED, text=_text_of(content), tool=as_text(message.get("toolName")),
                          call_id=as_text(call), failed=failed, result_hash=hash_of(content))  # fmt: skip
        elif type(role) is not str or role not in {"bashExecution", "custom", "branchSummary", "compactionSummary"}:
            self.unknown_kind(role, "message/")

    def _assistant(self, message: Record) -> None:
        self._answers += 1
        self.uses(message.get("model"))
        for block in as_list(message.get("content")):
            if type(block) is dict:
                self._block(block)
        usage = as_record(message.get("usage"))
        spent = Tokens(
            counted(usage.get("input")),
            counted(usage.get("output")),
            counted(usage.get("cacheRead")),
            counted(usage.get("cacheWrite")),
        )
        self._tokens += spent
        if spent:
            used = spent.input + spent.cache_read + spent.cache_write
            self.emit(EventKind.TOKENS, tokens=spent, cost=_cost(usage.get("cost")), context_used=used)
        if message.get("stopReason") == "error":
            self.emit(EventKind.ERROR, text=as_text(message.get("errorMessage")))
        elif message.get("stopReason") in ("stop", "aborted"):
            self.emit(EventKind.OTHER, text="end of turn", turn_ended=True)

    def _block(self, block: Record) -> None:
        kind = block.get("type")
        if kind == "toolCall":
            call, name = block.get("id"), block.get("name")
            if self.calls.called(call, name) and self.wanted:
                self.emit(EventKind.TOOL_CALLED, tool=as_text(name) or "?", call_id=as_text(call),
                          arguments=as_record(block.get("arguments")), cwd=self.cwd)  # fmt: skip
        elif kind == "text" and as_text(block.get("text")).strip():
            self.emit(EventKind.ASSISTANT, text=block["text"])
        elif kind == "thinking" and as_text(block.get("thinking")).strip():
            self.emit(EventKind.THINKING, text=block["thinking"])

    def totals(self) -> Totals:
        totals = Totals(user_turns=self._turns, assistant_messages=self._answers)
        totals.tokens = totals.tokens_naive = self._tokens
        self.calls.into(totals)
        if self._branched:
            totals.uncertain.append("the session was branched from another; what it copied from there counts in both")
        return totals


def _cost(fields: Any) -> Decimal | None:
    return price(as_record(fields).get("total"))


def _text_of(content: Any) -> str:
    if type(content) is str:
        return content
    return "\n".join(text for block in as_list(content) if (text := as_text(as_record(block).get("text"))))
