"""Workflows as files: JSON or YAML, read and written."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Literal

from laneway.errors import BadInput

LARGEST = 2_000_000
Form = Literal["json", "yaml"]


def read_value(name: str) -> Any:
    """The JSON or YAML value of a file, or of standard input for `-`."""
    try:
        text = sys.stdin.read(LARGEST + 1) if name == "-" else Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise BadInput(f"{name} cannot be read: {error}.", hint="Name a file with JSON or YAML.") from None
    if len(text) > LARGEST:
        raise BadInput(f"{name} is too large for a workflow.", hint="Keep large values outside of it.")
    return parsed(text, name)


def parsed(text: str, name: str) -> Any:
    """The value of a JSON or YAML text; YAML's own tags and references make nothing here."""
    from laneway.lanes.workflow.document import NotJson, strict

    try:
        return strict(text)
    except NotJson:
        pass
    except BadInput as error:
        raise BadInput(f"{name} is not taken. {error.message}", hint=error.hint) from None
    from laneway.lanes.workflow.yaml_text import from_yaml

    try:
        return from_yaml(text, most_bytes=LARGEST)
    except BadInput as error:
        raise BadInput(f"{name} is neither JSON nor YAML. {error.message}", hint=error.hint) from None


def written(document: Any, form: Form) -> str:
    """The document as text in this form."""
    if form == "json":
        return json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    from laneway.lanes.workflow.yaml_text import to_yaml

    return to_yaml(document)
