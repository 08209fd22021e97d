"""Codex: `sessions/YYYY/MM/DD/rollout-*.jsonl`, lines of {timestamp, type, payload}; older ones are bare payloads."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from laneway.domain.session import NO_TOKENS, EventKind
from laneway.observe.codex_forks import Lineage, Own, Turns, Usage, usage_of
from laneway.observe.codex_outputs import failed, text_of
from laneway.observe.reader import EPOCH, Reader, hash_of
from laneway.observe.strict_json import Record, as_list, as_record, as_text, counted, parsed_text
from laneway.observe.totals import Totals

INJECTED = (
    *("<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<INSTRUCTIONS>"),
    *("<permissions instructions>", "<turn_aborted>", "<skill", "<subagent_notification>", "<collaboration_mode>"),
    *("<recommended_plugins", "<user_action>", "<personality_spec>"),
)
NAMED_CALLS = {"function_call", "custom_tool_call"}
OTHER_CALLS = {
    "local_shell_call": "local_shell",
    "web_search_call": "web_search",
    "tool_search_call": "tool_search",
    "image_generation_call": "image_generation",
}
OUTPUTS = {"function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output"}
ITEMS = {*NAMED_CALLS, *OTHER_CALLS, *OUTPUTS, "message", "reasoning", "compaction", "ghost_snapshot"}
EVENTS = {
    *("token_count", "task_started", "turn_started", "task_complete", "turn_complete", "turn_aborted", "user_message"),
    *("agent_message", "agent_reasoning", "thread_rolled_back", "thread_settings_applied", "patch_apply_end"),
    *("mcp_tool_call_end", "web_search_end", "context_compacted", "entered_review_mode", "exited_review_mode"),
    *(
        "sub_agent_activity",
        "item_completed",
        "error",
        "stream_error",
        "thread_name_updated",
        "agent_reasoning_raw_content",
    ),
}
LINES = {
    *("session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"),
    *("inter_agent_communication", "inter_agent_communication_metadata", "security_risk_score"),
}
_BY_EVENT, _BY_ITEM, _BY_MESSAGE = 0, 1, 2


class Codex(Reader):
    """One rollout of Codex."""

    provider: ClassVar[str] = "codex"

    def __init__(self, *, wanted: bool = False, born: datetime = EPOCH) -> None:
        super().__init__(wanted=wanted, born=born)
        self.lineage = Lineage()
        self._named = False
        self._users = [0, 0, 0]
        self._answers = [0, 0, 0]
        self._ids: set[str] = set()
        self._usage = Usage()
        self._tokens = self._naive = NO_TOKENS
        self._restarts = 0
        self._heard = self._told = ""

    def add(self, record: Record) -> None:
        kind, payload = record.get("type"), record.get("payload")
        self.see(record.get("timestamp"))
        if type(payload) is not dict:
            # Before 2025-09 the payload stood at the top, and the first line was the bare metadata.
            payload, kind = record, _older_kind(record)
        if kind == "session_meta":
            self._meta(payload)
            return
        self.lineage.turn(payload.get("turn_id"), record.get("ordinal"), self._turns())
        if kind == "response_item":
            self._item(payload)
        elif kind == "event_msg":
            self._event(payload, record)
        elif kind == "turn_context":
            self.uses(payload.get("model"))
            self.identify("", payload.get("cwd"))
        elif kind == "compacted":
            self.emit(EventKind.COMPACTED)
        elif type(kind) is not str or kind not in LINES:
            self.unknown_kind(kind)

    def _turns(self) -> Turns:
        return (self._users[0], self._users[1], self._users[2])

    def _meta(self, meta: Record) -> None:
        """The first one is the file's; a fork copies its parent's after it."""
        if self._named:
            return
        self._named = True
        self.identify(meta.get("id") or meta.get("session_id"), meta.get("cwd"))
        self.version = as_text(meta.get("cli_version"))
        self.lineage.named(meta)

    def _item(self, payload: Record) -> None:
        kind = payload.get("type", "message" if "role" in payload else None)
        if type(kind) is not str:
            self.unknown_kind(kind, "response_item/")
        elif kind == "message":
            self._message(payload)
        elif kind in NAMED_CALLS:
            self._call(payload, payload.get("name"))
        elif kind in OTHER_CALLS:
            self._call(payload, OTHER_CALLS[kind])
        elif kind in OUTPUTS:
            self._output(payload)
        elif kind == "reasoning":
            self._think("\n".join(as_text(as_record(part).get("text")) for part in as_list(payload.get("summary"))))
        elif kind not in ITEMS:
            self.unknown_kind(kind, "response_item/")

    def _message(self, payload: Record) -> None:
        text = text_of(payload.get("content"))
        if payload.get("role") == "assistant":
            if self._first("message", payload.get("id")):
                self._answers[0] += 1
                self._say(text)
        elif payload.get("role") == "user" and not text.lstrip().startswith(INJECTED):
            self._users[_BY_MESSAGE] += 1
            self._hear(text)

    def _first(self, what: str, name: Any) -> bool:
        """Whether this id has not been there before; what has no id is always new."""
        if type(name) is not str:
            return True
        key = f"{what}/{name}"
        fresh = key not in self._ids
        self._ids.add(key)
        return fresh

    def _call(self, payload: Record, name: Any) -> None:
        call = payload.get("call_id")
        if self.calls.called(call, name) and self.wanted:
            self._heard = ""
            self.emit(EventKind.TOOL_CALLED, tool=as_text(name) or "?", call_id=as_text(call),
                      arguments=_arguments(payload), cwd=self.cwd)  # fmt: skip

    def _output(self, payload: Record) -> None:
        call, output = payload.get("call_id"), payload.get("output")
        broken = failed(output) or payload.get("status") == "failed"
        if self.calls.ended(call, failed=broken) and self.wanted:
            self.emit(EventKind.TOOL_ENDED, text=text_of(output), call_id=as_text(call), failed=broken,
                      result_hash=hash_of(output))  # fmt: skip

    def _event(self, payload: Record, record: Record) -> None:
        kind = payload.get("type")
        if kind == "token_count":
            self._count(as_record(payload.get("info")), record.get("ordinal"))
        elif kind == "user_message":
            self._users[_BY_EVENT] += 1
            self._hear(as_text(payload.get("message")))
        elif kind == "agent_message":
            self._answers[1] += 1
            self._say(as_text(payload.get("message")))
        elif kind == "agent_reasoning":
            self._think(as_text(payload.get("text")))
        elif kind == "item_completed":
            self._completed(as_record(payload.get("item")))
        elif kind in ("task_complete", "turn_complete", "turn_aborted"):
            self.emit(EventKind.OTHER, text="end of turn", turn_ended=True)
        elif kind in ("error", "stream_error"):
            self.emit(EventKind.ERROR, text=as_text(payload.get("message")))
        elif kind == "context_compacted":
            self.emit(EventKind.COMPACTED)
        elif type(kind) is not str or kind not in EVENTS:
            self.unknown_kind(kind, "event_msg/")

    def _completed(self, item: Record) -> None:
        kind = as_text(item.get("type")).replace("_", "").lower()
        if kind == "usermessage" and self._first("item", item.get("id")):
            self._users[_BY_ITEM] += 1
            self._hear(text_of(item.get("content")) or as_text(item.get("text")))
        elif kind == "agentmessage" and self._first("item", item.get("id")):
            self._answers[2] += 1
            self._say(text_of(item.get("content")) or as_text(item.get("text")))

    def _count(self, info: Record, ordinal: Any) -> None:
        """The counter's increase is what was spent; that one event is written twice changes nothing."""
        last = usage_of(info.get("last_token_usage"))
        if last is not None:
            self._naive += last.tokens
        usage = usage_of(info.get("total_token_usage"))
        if usage is None:
            return
        increase = usage.since(self._usage)
        self._restarts += usage.input < self._usage.input or usage.output < self._usage.output
        self._usage = usage
        self._tokens += increase
        self.lineage.counted(ordinal, usage)
        if self.wanted and increase:
            used = counted(as_record(info.get("last_token_usage")).get("total_tokens"))
            window = info.get("model_context_window")
            self.emit(EventKind.TOKENS, tokens=increase, context_used=used or None,
                      context_window=window if type(window) is int else None)  # fmt: skip

    def _hear(self, text: str) -> None:
        """A person spoke; a log may tell it twice, as what was sent and as what happened."""
        if text.strip() and text != self._heard:
            self._heard, self._told = text, ""
            self.emit(EventKind.USER, text=text, cwd=self.cwd)

    def _say(self, text: str) -> None:
        if text.strip() and text != self._told:
            self._told, self._heard = text, ""
            self.emit(EventKind.ASSISTANT, text=text)

    def _think(self, text: str) -> None:
        if text.strip() and text != self._told:
            self._told, self._heard = text, ""
            self.emit(EventKind.THINKING, text=text)

    def totals(self) -> Totals:
        totals = Totals(tokens=self._tokens, tokens_naive=self._naive)
        totals.user_turns = self._users[self._way()]
        totals.assistant_messages = next((count for count in self._answers if count), 0)
        self.calls.into(totals)
        if self._restarts:
            totals.uncertain.append(f"the token counter started again {self._restarts} times")
        return totals

    def _way(self) -> int:
        """Which of the three ways of telling user turns this log uses: the first it has any of."""
        return next((way for way in (_BY_EVENT, _BY_ITEM, _BY_MESSAGE) if self._users[way]), _BY_EVENT)

    def own(self, parent: Lineage | None) -> Own | None:
        """What this fork did itself, beside its parent; None if nobody can tell."""
        if parent is None:
            return self.lineage.alone(self._turns(), self._way())
        return self.lineage.beside(parent, self._turns(), self._way())


def _older_kind(record: Record) -> str | None:
    kind = record.get("type")
    if kind is None and type(record.get("id")) is str and "record_type" not in record:
        return "session_meta"
    if type(kind) is str and kind in EVENTS:
        return "event_msg"
    if type(kind) is str and kind in ITEMS:
        return "response_item"
    return "world_state" if "record_type" in record else kind


def _arguments(payload: Record) -> Record:
    """The arguments of a call: an object, the JSON text of one, or a plain text."""
    given = payload.get("arguments", payload.get("input", payload.get("action")))
    if type(given) is str:
        value = parsed_text(given) if given.lstrip().startswith("{") else None
        return value if type(value) is dict else {"input": given}
    return as_record(given)
