"""What became of a tool call, read from what the tool returned, and how its output is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pydantic_ai.messages import ToolReturnPart

MOST_LINES = 40
MOST_CHARACTERS = 4000


class Ending(StrEnum):
    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    STOPPED = "stopped"
    UNCERTAIN = "uncertain"


_ENDINGS = {
    "success": Ending.DONE,
    "refused": Ending.REFUSED,
    "denied": Ending.REFUSED,
    "rejected": Ending.REFUSED,
    "stopped": Ending.STOPPED,
    "cancelled": Ending.STOPPED,
    "uncertain": Ending.UNCERTAIN,
}


@dataclass(frozen=True)
class Outcome:
    """A tool's outcome in the shape all tools share."""

    ending: Ending
    result: Any = None
    error: str | None = None
    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fields(self) -> Mapping[str, Any]:
        """The result, if it has named fields."""
        return self.result if isinstance(self.result, Mapping) else {}


def outcome_of(part: ToolReturnPart) -> Outcome:
    """The outcome that this part of the conversation holds."""
    content = _decoded(part.content)
    if part.outcome == "denied":
        return Outcome(Ending.REFUSED, error=_plain(part))
    if part.outcome != "success":
        return Outcome(Ending.FAILED, error=_plain(part))
    if not isinstance(content, Mapping) or "status" not in content:
        # Tools of others return what they like; that they returned at all is their success.
        return Outcome(Ending.DONE, result=content)
    return _shaped(content)


def told(about: str, outcome: Outcome, done: str) -> str:
    """The honest sentence: `done` only if it was done."""
    reason = f": {_sentence(outcome.error)}" if outcome.error else "."
    if outcome.ending is Ending.DONE:
        return done
    if outcome.ending is Ending.UNCERTAIN:
        return f"I cannot tell whether this happened ({about}){reason}"
    if outcome.ending is Ending.REFUSED:
        return f"I did not {about}{reason}"
    if outcome.ending is Ending.STOPPED:
        return f"I was stopped before I could {about}{reason}"
    return f"I could not {about}{_exit(outcome)}{reason}{_output(outcome)}"


def block(text: str) -> str:
    """The text in a code block, at most so many lines of it, and how much was left out."""
    lines = text.rstrip().splitlines()
    shown = "\n".join(lines[:MOST_LINES])[:MOST_CHARACTERS]
    left = len(lines) - len(shown.splitlines())
    longest = max((len(ticks) for ticks in re.findall(r"`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{shown}\n{fence}{_left_out(left, len(text.rstrip()) - len(shown))}"


def listed(result: Any) -> list[str]:
    """The lines of a result: names, hits, facts, whatever the tool calls them."""
    if result is None:
        return []
    if isinstance(result, str):
        return result.splitlines()
    if isinstance(result, Mapping):
        lists = [value for value in result.values() if isinstance(value, list)]
        return [_line(item) for inner in lists for item in inner]
    if isinstance(result, list):
        return [_line(item) for item in result]
    return [str(result)]


def _line(item: Any) -> str:
    """One thing of a list: "src/a.py:3: import os", "docs/", "a fact", "name: what it is about"."""
    if not isinstance(item, Mapping):
        return str(item)
    place = ":".join(str(item[name]) for name in ("path", "line") if item.get(name) is not None)
    name = str(item.get("name") or item.get("operation") or "") + ("/" if item.get("kind") == "folder" else "")
    said = next((str(item[one]) for one in ("text", "fact", "title", "about") if item.get(one)), "")
    return ": ".join(part for part in (place or name, said) if part) or str(dict(item))


def _left_out(lines: int, characters: int) -> str:
    if lines > 0:
        return f"\n({lines} more line{'s' if lines > 1 else ''} left out.)"
    return f"\n({characters} more characters left out.)" if characters > 0 else ""


def _shaped(content: Mapping[str, Any]) -> Outcome:
    ending = _ENDINGS.get(str(content["status"]), Ending.FAILED)
    if content.get("uncertain"):
        ending = Ending.UNCERTAIN
    exit_code = content.get("exit_code")
    if ending is Ending.DONE and isinstance(exit_code, int) and exit_code != 0:
        ending = Ending.FAILED
    return Outcome(
        ending,
        content.get("result"),
        str(content["error"]) if content.get("error") else None,
        str(content.get("stdout") or ""),
        str(content.get("stderr") or ""),
        exit_code if isinstance(exit_code, int) else None,
        content,
    )


def _exit(outcome: Outcome) -> str:
    is_told = outcome.exit_code is None or "exit code" in (outcome.error or "")
    return "" if is_told else f" (exit code {outcome.exit_code})"


def _output(outcome: Outcome) -> str:
    written = "\n".join(text.rstrip() for text in (outcome.stdout, outcome.stderr) if text.strip())
    # An error that quotes the output would say it twice.
    return f"\n{block(written)}" if written and written.strip() not in (outcome.error or "") else ""


def _sentence(error: str | None) -> str:
    text = (error or "").strip()
    return text if text.endswith((".", "!", "?", ")")) else f"{text}."


def _plain(part: ToolReturnPart) -> str:
    return part.model_response_str(wrap_if_error=False) or "it gave no result"


def _decoded(content: Any) -> Any:
    if not isinstance(content, str):
        return content
    try:
        return json.loads(content)
    except ValueError:
        return content
