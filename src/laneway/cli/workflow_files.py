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
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    import yaml

    try:
        value = yaml.load(text, Loader=_plain_loader())  # noqa: S506  a SafeLoader that takes less
    except (yaml.YAMLError, RecursionError) as error:
        said = " ".join(str(error).split())[:200]
        raise BadInput(f"{name} is neither JSON nor YAML: {said}.", hint="Correct it.") from None
    return value


def _plain_loader() -> Any:
    """YAML without anchors (a small file could become a huge one) and without dates (they are texts in JSON)."""
    import yaml

    class Plain(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.events.AliasEvent):
                raise yaml.YAMLError("references (*name) are not taken")
            return super().compose_node(parent, index)

    Plain.yaml_implicit_resolvers = {
        key: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:timestamp"]
        for key, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    return Plain


def written(document: Any, form: Form) -> str:
    """The document as text in this form."""
    if form == "json":
        return json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    import yaml

    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
