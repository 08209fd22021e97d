"""Further examples of a taxonomy, one a line: the same lines that `laneway classify eval` reads.

Thousands of examples are read from here in a moment; from the taxonomy's own file they would take a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from laneway.errors import SettingsError

HINT = 'Each line is like {"text": "…", "label": "…"}. See docs/adding-a-taxonomy.md.'


def further(path: Path, tree: Mapping[str, Any]) -> dict[str, Any]:
    """What the file adds to the taxonomy's tree: examples for its labels, and for its flags where a line tells one."""
    labels: dict[str, dict[str, list[Any]]] = {}
    flags: dict[str, dict[str, list[Any]]] = {}
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if not line.strip():
            continue
        told = _read(line, path, number)
        if told.get("label") not in tree["labels"]:
            raise SettingsError(f"{path}, line {number}: there is no label `{told.get('label')}`.", hint=HINT)
        example = told["text"] if "text" in told else {"description": told["description"], "args": told.get("args")}
        judged = [
            name
            for name, flag in tree.get("flags", {}).items()
            if flag.get("applies_to") == told["label"] and isinstance(told.get(name), bool)
        ]
        for name in judged:
            flags.setdefault(name, {"yes": [], "no": []})["yes" if told[name] else "no"].append(example)
        if not judged:
            labels.setdefault(told["label"], {"examples": []})["examples"].append(example)
    return {"labels": labels, "flags": flags}


def _read(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        told = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise SettingsError(f"{path}, line {number} is not valid JSON: {error}.", hint=HINT) from None
    if not isinstance(told, dict) or not isinstance(told.get("text", told.get("description")), str):
        raise SettingsError(f"{path}, line {number} has neither a text nor a description.", hint=HINT)
    return told
