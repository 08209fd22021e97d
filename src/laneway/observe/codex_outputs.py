"""Whether a tool of Codex failed, by what it put out; there is no field for it."""

from __future__ import annotations

import re
from typing import Any

from laneway.observe.strict_json import as_list, as_record, as_text, parsed_text

_HEAD = 600
_EXIT = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d+)\s*$", re.MULTILINE)


def failed(output: Any) -> bool:
    """Whether the output says so: an exit code that is not 0, or `success` that is false."""
    if type(output) is dict:
        return _object_failed(output)
    text = text_of(output)
    if text.startswith("{"):
        value = parsed_text(text)
        if type(value) is dict:
            return _object_failed(value)
    # The command's own output follows the line `Output:` and may say anything.
    found = _EXIT.search(text[:_HEAD].partition("\nOutput:")[0])
    return found is not None and int(found[1]) != 0


def _object_failed(value: dict[str, Any]) -> bool:
    code = as_record(value.get("metadata")).get("exit_code", value.get("exit_code"))
    return value.get("success") is False or (type(code) is int and code != 0)


def text_of(output: Any) -> str:
    """The output as text: itself, the texts of its list, or its `content` or `output`."""
    if type(output) is str:
        return output
    if type(output) is dict:
        return text_of(output.get("content", output.get("output")))
    return "\n".join(text for item in as_list(output) if (text := as_text(as_record(item).get("text"))))
