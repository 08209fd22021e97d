"""What became of a tool call, read from what the tool returned, and how its output is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from pydantic_ai.messages import ToolReturnPart

MOST_LINES: Final = 40
MOST_CHARACTERS: Final = 4000


class Ending(StrEnum):
    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    STOPPED = "stopped"
    UNCERTAIN = "uncertain"


_ENDINGS: Final = {"success": Ending.DONE, "refused": Ending.REFUSED, "stopped": Ending.STOPPED}


@dataclass(frozen=True)
class Outcome:
    """A tool's outcome in the shape all tools share."""

    ending: Ending
    result: Any = None
    error: str | None = None
    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = None

    @property
    def fields(self) -> Mapping[str, Any]:
        """The result, if it has named fields."""
        return self.result if isinstance(self.result, Mapping) else {}

    @property
    def output(self) -> str:
        """What was printed, on either stream."""
        return "\n".join(text.rstrip() for text in (self.stdout, self.stderr) if text.strip())


def outcome_of(part: ToolReturnPart) -> Outcome:
    """The outcome that this part of the conversation holds."""
    content = _decode(part.content)
    if part.outcome != "success":
        ending = Ending.REFUSED if part.outcome == "denied" else Ending.FAILED
        return Outcome(ending, error=part.model_response_str(wrap_if_error=False) or "it gave no result")
    if not isinstance(content, Mapping) or "status" not in content:
        # Tools of others return what they like; that they returned at all is their success.
        return Outcome(Ending.DONE, result=content)
    ending = Ending.UNCERTAIN if content.get("uncertain") else _ENDINGS.get(str(content["status"]), Ending.FAILED)
    code = content.get("exit_code") if isinstance(content.get("exit_code"), int) else None
    if ending is Ending.DONE and code:
        ending = Ending.FAILED
    stdout, stderr = (str(content.get(stream) or "") for stream in ("stdout", "stderr"))
    error = str(content["error"]) if content.get("error") else None
    return Outcome(ending, content.get("result"), error, stdout, stderr, code)


def _decode(content: Any) -> Any:
    try:
        return json.loads(content) if isinstance(content, str) else content
    except ValueError:
        return content


def describe(about: str, outcome: Outcome, done: str) -> str:
    """The honest sentence: `done` only if it was done."""
    # The rule's name is for models.
    error = re.sub(r"^Refused \([\w.-]+\): ", "", (outcome.error or "").strip())
    reason = f": {error}{'' if error.endswith(('.', '!', '?', ')')) else '.'}" if error else "."
    if outcome.ending is Ending.DONE:
        return done
    if outcome.ending is Ending.UNCERTAIN:
        return f"I cannot tell whether this happened ({about}){reason}"
    if outcome.ending is Ending.REFUSED:
        return f"I did not {about}{reason}"
    if outcome.ending is Ending.STOPPED:
        return f"I was stopped before I could {about}{reason}"
    code = "" if outcome.exit_code is None or "exit code" in error else f" (exit code {outcome.exit_code})"
    # An error that quotes the output would say it twice.
    output = f"\n{block(outcome.output)}" if outcome.output and outcome.output.strip() not in error else ""
    return f"I could not {about}{code}{reason}{output}"


def block(text: str) -> str:
    """The text in a code block, at most so many lines of it, and how much was left out."""
    lines = text.rstrip().splitlines()
    shown = "\n".join(lines[:MOST_LINES])[:MOST_CHARACTERS]
    fence = "`" * max(3, 1 + max((len(ticks) for ticks in re.findall(r"`+", shown)), default=0))
    left, letters = len(lines) - len(shown.splitlines()), len(text.rstrip()) - len(shown)
    more = f"{left} more line{'s' if left > 1 else ''}" if left > 0 else f"{letters} more characters"
    return f"{fence}\n{shown}\n{fence}" + (f"\n({more} left out.)" if letters > 0 else "")


def lines_of(result: Any) -> list[str]:
    """The lines of a result: names, hits, facts, whatever the tool calls them."""
    if isinstance(result, Mapping):
        return [_line(item) for inner in result.values() if isinstance(inner, list) for item in inner]
    if isinstance(result, list):
        return [_line(item) for item in result]
    return str(result or "").splitlines()


def _line(item: Any) -> str:
    """One thing of a list: "src/a.py:3: import os", "docs/", "a fact", "name: what it is about"."""
    if not isinstance(item, Mapping):
        return str(item)
    place = ":".join(str(item[name]) for name in ("path", "line") if item.get(name) is not None)
    name = str(item.get("name") or item.get("operation") or "") + ("/" if item.get("kind") == "folder" else "")
    said = next((str(item[one]) for one in ("text", "fact", "title", "about") if item.get(one)), "")
    return ": ".join(part for part in (place or name, said) if part) or str(dict(item))
