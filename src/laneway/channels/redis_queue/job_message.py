"""What a producer wrote into Redis, read: a job, or why it is none. Every byte of it is hostile."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from laneway.domain.storable import storable
from laneway.lanes.pipeline.lines import loads
from laneway.lanes.pipeline.taking_out import TakenOut
from laneway.lanes.pipeline.unpacking import LAID

MOST_DEPTH = 64
LONGEST_ID = 120
LONGEST_ANSWERED = 512
"""Characters of a job_id that is not taken and has a failed result all the same."""

LONGEST_SECONDS = 86_400 * 7
TEXTS = ("run_id", "node_id", "workflow_tag", "workflow_owner")
"""Fields that name something; a number is as good as its digits."""

KNOWN = frozenset({"version", "job_id", "prompt", "task", "context", "current_workflow", "timeout_sec", *TEXTS})
_VERSION = re.compile(r"1(\.\d{1,9})?")
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[{}\[\]]', re.DOTALL)
"""What tells how deep a place lies: brackets, and the texts whose brackets do not count."""
_ID = re.compile(rb'"job_id"\s*:\s*("(?:[^"\\]|\\.){0,4000}"|-?\d{1,600}(?![\d.eE]))', re.DOTALL)
MOST_SEARCHED = 16_000_000


@dataclass(eq=False)
class Unreadable(Exception):
    """What was written is no job that we take: a code, the reason in words, and whose it is if that can be read."""

    type: str
    reason: str
    job_id: str | None = None
    named: dict[str, str] = field(default_factory=dict)
    """Its run and its node, for those who wait for these."""


@dataclass(frozen=True, slots=True)
class JobMessage:
    """A job as its producer meant it."""

    job_id: str
    prompt: str
    source: str
    """How it came: list, stream or token."""
    named: dict[str, str] = field(default_factory=dict)
    """run_id, node_id, workflow_tag and workflow_owner, those that were given."""
    session_id: str | None = None
    previous_results: list[Any] = field(default_factory=list)
    current_workflow: dict[str, Any] | None = None
    timeout_sec: float | None = None
    context: dict[str, Any] = field(default_factory=dict)
    """The rest of the context, as it came."""
    more: dict[str, Any] = field(default_factory=dict)
    """Fields that nobody here knows, as they came."""
    tables: tuple[TakenOut, ...] = ()
    """Tables that were too large to stay in it, to be stored before it is."""

    def runner(self) -> dict[str, Any]:
        """What the lanes find in the job's payload; what was not given is not there."""
        told: dict[str, Any] = {"door": "agent:jobs", "source": self.source, "job_id": self.job_id, **self.named}
        optional = {
            "session_id": self.session_id, "previous_results": self.previous_results or None,
            "current_workflow": self.current_workflow, "timeout_sec": self.timeout_sec,
            "context": self.context or None, "more": self.more or None,
            LAID: [table.ref for table in self.tables] or None,
        }  # fmt: skip
        return told | {name: value for name, value in optional.items() if value is not None}


def fields_of(raw: bytes, most_bytes: int) -> dict[str, Any]:
    """The JSON object that was written, within bounds of size and depth; Unreadable says what it is instead."""
    check_size(raw, most_bytes)
    try:
        found = loads(raw)
    except (ValueError, RecursionError) as error:
        raise Unreadable("malformed", f"The job is not valid JSON in UTF-8: {error}.", first_id(raw)) from None
    if not isinstance(found, dict):
        raise Unreadable("malformed", f"The job must be a JSON object, not {_kind(found)}.")
    # First: whatever goes down into it is spared what has no bottom.
    check_depth(found)
    # Only written like this can a NUL be in it, and nothing else in it is unfit to be stored.
    return dict(storable(found)) if b"\\u0000" in raw else found


def check_size(raw: bytes, most_bytes: int) -> None:
    """Returns only if so much may be read."""
    if len(raw) > most_bytes:
        raise Unreadable(
            "too-large", f"The job has {len(raw)} bytes; at most {most_bytes} are taken. Store large inputs and send "
            "their artifact:// reference.", first_id(raw),
        )  # fmt: skip


def check_depth(fields: Mapping[str, Any]) -> None:
    """Returns only if nothing in it lies deeper than we go."""
    if too_deep(fields):
        reason = f"The job is nested more than {MOST_DEPTH} levels deep."
        raise Unreadable("malformed", reason, readable_id(fields.get("job_id")))


def job_of(fields: Mapping[str, Any], source: str, tables: Sequence[TakenOut] = ()) -> JobMessage:
    """The job that these fields describe; Unreadable says which of them is wrong and how."""
    named: dict[str, str] = {}
    try:
        for name in TEXTS:
            if (text := _text(fields, name)) is not None:
                named[name] = text
        job_id = _name(fields.get("job_id"))
        if job_id is None:
            raise _Wrong(f"`job_id` must be a text of 1 to {LONGEST_ID} printable characters.")
        _check_version(fields.get("version"))
        context = _object(fields, "context") or {}
        previous = context.get("previous_results")
        if previous is not None and not isinstance(previous, list):
            raise _Wrong(f"`context.previous_results` must be a list, not {_kind(previous)}.")
        return JobMessage(
            job_id, _prompt(fields), source, named, _text(context, "session_id", "context."), previous or [],
            _object(fields, "current_workflow"), _seconds(fields.get("timeout_sec")),
            {key: value for key, value in context.items() if key not in ("previous_results", "session_id")},
            {key: value for key, value in fields.items() if key not in KNOWN}, tuple(tables),
        )  # fmt: skip
    except _Wrong as wrong:
        raise Unreadable(wrong.type, wrong.reason, readable_id(fields.get("job_id")), named) from None


class _Wrong(Exception):
    def __init__(self, reason: str, type: str = "malformed") -> None:
        super().__init__(reason)
        self.reason, self.type = reason, type


def _check_version(given: object) -> None:
    """Returns if it is a version 1; one that is not said is taken for it, as tokens have none."""
    text = given if isinstance(given, str) else "" if isinstance(given, bool) else str(given)
    if given is not None and not _VERSION.fullmatch(text):
        shown = f"`{text[:40]}`" if isinstance(given, str | int | float) else _kind(given)
        raise _Wrong(f"Version {shown} of jobs is not known here; 1.x is.", "unsupported-version")


def _prompt(fields: Mapping[str, Any]) -> str:
    for name in ("prompt", "task"):
        given = fields.get(name)
        if given is not None and not isinstance(given, str):
            raise _Wrong(f"`{name}` must be a text, not {_kind(given)}.")
    said = [str(fields[name]) for name in ("prompt", "task") if (fields.get(name) or "").strip()]
    if not said:
        raise _Wrong("There is neither a `prompt` nor a `task`.")
    return said[0]


def _text(fields: Mapping[str, Any], name: str, within: str = "") -> str | None:
    given = fields.get(name)
    if given is None or given == "":
        return None
    text = _name(given)
    if text is None:
        raise _Wrong(f"`{within}{name}` must be a text of at most {LONGEST_ID} printable characters.")
    return text


def _object(fields: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    given = fields.get(name)
    if given is not None and not isinstance(given, dict):
        raise _Wrong(f"`{name}` must be an object, not {_kind(given)}.")
    return given


def _seconds(given: object) -> float | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given <= LONGEST_SECONDS:
        raise _Wrong(f"`timeout_sec` must be a number of seconds above 0, at most {LONGEST_SECONDS}.")
    return float(given)


def readable_id(given: object) -> str | None:
    """The job_id that a producer waits by, fit to be stored, whether we take such a job or not; None if it is none."""
    if isinstance(given, int) and not isinstance(given, bool) and abs(given) < 10**LONGEST_ANSWERED:
        given = str(given)
    # Also of what was refused before the whole of it was made fit to be stored.
    return storable(given) if isinstance(given, str) and 0 < len(given) <= LONGEST_ANSWERED else None


def _name(given: object) -> str | None:
    """What names something here, if it can."""
    text = readable_id(given)
    return text if text and len(text) <= LONGEST_ID and text.isprintable() and text.strip() else None


def first_id(raw: bytes) -> str | None:
    """The job_id of something that is too large to be read, or no JSON: the first that lies in nothing else."""
    depth = 0
    for token in _TOKEN.finditer(raw, 0, MOST_SEARCHED):
        match token[0][:1]:
            case b"{" | b"[":
                depth += 1
            case b"}" | b"]":
                depth -= 1
            case _ if depth == 1 and (found := _ID.match(raw, token.start())):
                try:
                    return readable_id(json.loads(found[1].decode(errors="replace")))
                except ValueError:
                    return None
    return None


def too_deep(value: object) -> bool:
    """Whether something in it lies deeper than we go; counted without going down ourselves."""
    level: list[object] = [value]
    for _ in range(MOST_DEPTH):
        level = [
            inner
            for one in level
            for inner in (one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
