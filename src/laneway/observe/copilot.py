"""Copilot CLI: `session-state/<id>/events.jsonl`, lines of {type, data, id, parentId, timestamp}."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from laneway.domain.session import NO_TOKENS, EventKind, Tokens
from laneway.observe.reader import EPOCH, Reader, hash_of
from laneway.observe.strict_json import Record, as_record, as_text, counted
from laneway.observe.totals import Totals

KNOWN = {
    *("session.start", "session.resume", "session.model_change", "session.shutdown", "session.error", "session.info"),
    *("session.compaction_start", "session.compaction_complete", "session.truncation", "user.message"),
    *("assistant.message", "assistant.turn_start", "assistant.turn_end", "assistant.reasoning", "assistant.intent"),
    *("tool.execution_start", "tool.execution_complete", "tool.execution_progress", "tool.user_requested", "abort"),
    *("subagent.started", "subagent.completed", "subagent.failed", "hook.start", "hook.end", "system.message"),
}


class Copilot(Reader):
    """A session of Copilot CLI; what it read and cached is known only when it shuts down."""

    provider: ClassVar[str] = "copilot-cli"

    def __init__(self, *, wanted: bool = False, born: datetime = EPOCH) -> None:
        super().__init__(wanted=wanted, born=born)
        self._turns = self._nameless = self._shutdowns = self._failed_nameless = 0
        self._answers: dict[str, int] = {}
        self._tokens = self._naive = NO_TOKENS
        self._written = 0
        self._since = 0
        """Output tokens told since the last shutdown, which tells them again."""
        self._unsettled = 0

    def add(self, record: Record) -> None:
        kind, data = record.get("type"), as_record(record.get("data"))
        self.see(record.get("timestamp"))
        if kind == "user.message":
            self._user(data)
        elif kind == "assistant.message":
            self._assistant(data)
        elif kind == "tool.execution_start":
            self._call(data)
        elif kind == "tool.execution_complete":
            self._end(data)
        elif type(kind) is str and kind.startswith("session."):
            self._session(kind, data)
        elif kind in ("assistant.turn_end", "abort"):
            self.emit(EventKind.OTHER, text="end of turn", turn_ended=True)
        if type(kind) is not str or kind not in KNOWN:
            self.unknown_kind(kind)

    def _session(self, kind: str, data: Record) -> None:
        if kind in ("session.start", "session.resume"):
            self.identify(data.get("sessionId"), as_record(data.get("context")).get("cwd"))
            self.version = as_text(data.get("copilotVersion")) or self.version
            self.uses(data.get("selectedModel"))
        elif kind == "session.model_change":
            self.uses(data.get("newModel"))
        elif kind == "session.error":
            self.emit(EventKind.ERROR, text=as_text(data.get("message")))
        elif kind == "session.compaction_complete":
            self.emit(EventKind.COMPACTED)
        elif kind == "session.shutdown":
            self._shutdown(as_record(data.get("modelMetrics")))

    def _user(self, data: Record) -> None:
        content = as_text(data.get("content"))
        if not content.strip() or as_text(data.get("source")).startswith("skill-"):
            return
        if content.startswith("<skill-context"):
            return
        self._turns += 1
        self.emit(EventKind.USER, text=content, cwd=self.cwd)

    def _assistant(self, data: Record) -> None:
        output, name = counted(data.get("outputTokens")), data.get("messageId")
        before = 0
        if type(name) is str:
            before = self._answers.get(name, 0)
            self._answers[name] = max(before, output)
        else:
            self._nameless += 1
        self._naive += Tokens(output=output)
        self.uses(data.get("model"))
        increase = max(0, output - before)
        self._written += increase
        self._since += increase
        self._unsettled += 1
        text = as_text(data.get("content"))
        if text.strip():
            self.emit(EventKind.ASSISTANT, text=text)
        if increase:
            self.emit(EventKind.TOKENS, tokens=Tokens(output=increase))

    def _call(self, data: Record) -> None:
        call, name = data.get("toolCallId"), data.get("toolName")
        if self.calls.called(call, name) and self.wanted:
            side = type(data.get("parentToolCallId")) is str
            self.emit(EventKind.TOOL_CALLED, tool=as_text(name) or "?", call_id=as_text(call), side=side,
                      arguments=as_record(data.get("arguments")), cwd=self.cwd)  # fmt: skip

    def _end(self, data: Record) -> None:
        call, failed = data.get("toolCallId"), data.get("success") is False
        self._failed_nameless += failed and type(call) is not str
        self.uses(data.get("model"))
        if self.calls.ended(call, failed=failed) and self.wanted:
            result = data.get("result", data.get("error"))
            text = (
                as_text(result)
                or as_text(as_record(result).get("content"))
                or as_text(as_record(result).get("message"))
            )
            self.emit(
                EventKind.TOOL_ENDED, text=text, call_id=as_text(call), failed=failed, result_hash=hash_of(result)
            )

    def _shutdown(self, metrics: Record) -> None:
        """All that was used since the session was last opened is known now."""
        used = NO_TOKENS
        for model, figures in metrics.items():
            self.uses(model)
            used += _usage(as_record(figures).get("usage"))
        self._shutdowns += 1
        self._tokens += used
        self.emit(EventKind.TOKENS, tokens=used - Tokens(output=self._since))
        self.emit(EventKind.ENDED)
        self._since = self._unsettled = 0

    def totals(self) -> Totals:
        totals = Totals(user_turns=self._turns, assistant_messages=len(self._answers) + self._nameless)
        self.calls.into(totals)
        totals.tool_errors += self._failed_nameless
        totals.tokens = self._tokens if self._shutdowns else Tokens(output=self._written)
        totals.tokens_naive = self._tokens + self._naive
        if self._unsettled:
            totals.tokens_complete = False
            what = "only output tokens are known" if not self._shutdowns else "what came after the last one is missing"
            totals.uncertain.append(f"Copilot writes its usage when it shuts down; {what}")
        return totals


def _usage(fields: Any) -> Tokens:
    usage = as_record(fields)
    read, write = counted(usage.get("cacheReadTokens")), counted(usage.get("cacheWriteTokens"))
    return Tokens(
        input=counted(usage.get("inputTokens")) - read - write,
        output=counted(usage.get("outputTokens")),
        cache_read=read,
        cache_write=write,
        reasoning=counted(usage.get("reasoningTokens")),
    )
