"""Words that carry structure, read from `lexicon.toml`: one pattern for each thing words do in a request."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("lexicon.toml")


@cache
def lexicon() -> dict[str, re.Pattern[str]]:
    """Each group of words as one pattern that finds any of them, whole."""
    groups = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {name: _pattern(entries) for name, entries in groups.items()}


def _pattern(entries: list[str]) -> re.Pattern[str]:
    # Scripts without spaces between words have no whole words to look for.
    spaced = [entry for entry in entries if entry[0].isascii() or entry[0].lower() != entry[0].upper()]
    joined = [entry for entry in entries if entry not in spaced]
    parts = [rf"(?<!\w)(?:{'|'.join(spaced)})(?!\w)", *joined]
    return re.compile("|".join(parts))
