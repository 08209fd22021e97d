"""Skill: what files there are, where one is, and where a word stands.

Shapes:
    list the files · show me the files in docs/ · what files are in the workspace? · ls src   → `list_files`
    list the files in /etc/nginx                                                              → `bash`
    find *.log · find all .py files · find all files ending in .csv · where is settings.py?   → `glob`
    search for timeout in src · grep for "import os" in the workspace · search all files for "…" → `grep`
    which files contain "…"?
    zeig mir die Dateien · finde alle *.txt · suche nach "…" in … · liste les fichiers · cherche "…" dans …
    lista los archivos · encuentra *.log · busca "…" en …
"""

from __future__ import annotations

import re
from typing import Any

from laneway.llm.offline.marking import Said
from laneway.llm.offline.orders import Offer, Telling, Understood, one
from laneway.llm.offline.outcomes import Outcome, block, listed
from laneway.llm.offline.paths import for_shell, is_absolute, is_file, is_folder
from laneway.llm.offline.politeness import Words
from laneway.llm.offline.run_commands import bash
from laneway.llm.offline.shapes import Found, fitting, shapes

LIST_FILES, GLOB, GREP = "list_files", "glob", "grep"

_LISTS = shapes(
    "@show(?:@me)? @all_of?@the@files@here",
    "@show(?:@me)? @all_of?@the@files@in_folder",
    "@show(?:@me)? @the@contents@in_folder",
    "@which_files @there_are@here",
    "@which_files @there_are@in_folder",
    "(?:ls|dir)(?: <path>)?",
)
_GLOBS = shapes(
    "@find(?:@me)? @all_of?@the(?:@files )?(?:(?:matching|like|named|called|namens) )?<pattern>@here",
    "@find(?:@me)? @all_of?@the@ending[ -]@files@here",
    "@find(?:@me)? @all_of?@the@files @with_ending @ending@here",
    "@where_is @the@file?<pattern>",
)
_GREPS = shapes(
    "@search @for_what @within @everywhere",
    "@search @for_what @within @the(?:@folder|@file)?<path>(?: (?:folder|directory))?",
    "@for_quoted @within @everywhere",
    "@for_quoted @within @the(?:@folder|@file)?<path>(?: (?:folder|directory))?",
    "@search_in @everywhere (?:for|nach) (?:@the@word)?<pattern>",
    "@search_in @the(?:@folder|@file)?<path> (?:for|nach) (?:@the@word)?<pattern>",
    "@which_files @contain (?:@the@word)?<pattern:quoted>",
    "grep <pattern>(?: <path>)?",
)


def search_orders(words: Words, offer: Offer) -> Understood:
    """Calls that list, find and search; they change nothing, so a question orders them too."""
    for found in fitting(words.core, _LISTS):
        if (understood := _list(found, offer)) is not None:
            return understood
    for found in fitting(words.core, _GREPS):
        if (understood := _grep(found, offer)) is not None:
            return understood
    for found in fitting(words.core, _GLOBS):
        if (understood := _glob(found, offer)) is not None:
            return understood
    return None


def _list(found: Found, offer: Offer) -> Understood:
    if not found.has("path"):
        return one(offer.order(LIST_FILES, "list the files", _telling("Files here", "No files here.")))
    path = found.part("path")
    if not is_folder(path, is_named=found.has("folder")):
        return None
    if is_absolute(path.value):
        return one(bash(f"ls -la {for_shell(path.value)}", offer))
    about, tell = f"list `{path.value}`", _telling(f"In `{path.value}`", f"`{path.value}` is empty.")
    return one(offer.order(LIST_FILES, about, tell, path=path.value))


def _glob(found: Found, offer: Offer) -> Understood:
    pattern = "*" + found.value("ending").lstrip("*") if found.has("ending") else found.value("pattern")
    if not found.has("ending") and not _is_pattern(found.part("pattern")):
        return None
    if is_absolute(pattern):
        return None
    sought = pattern if "/" in pattern else f"**/{pattern}"
    about, tell = f"look for `{pattern}`", _telling(f"Files that match `{pattern}`", f"No file matches `{pattern}`.")
    return one(offer.order(GLOB, about, tell, pattern=sought))


def _grep(found: Found, offer: Offer) -> Understood:
    pattern = found.part("pattern")
    where: dict[str, Any] = {}
    if found.has("path"):
        path = found.part("path")
        is_place = is_folder(path, is_named=found.has("folder")) or is_file(path, is_named=found.has("file"))
        if not is_place or is_absolute(path.value):
            return None
        where = {"path": path.value}
    about, nothing = f"search for `{pattern.value}`", f"`{pattern.value}` was not found."
    tell = _telling(f"`{pattern.value}` was found", nothing)
    return one(offer.order(GREP, about, tell, pattern=_sought(pattern.value, offer), **where))


def _sought(text: str, offer: Offer) -> str:
    """The text as the tool takes it: word for word, unless it was plainly written as a regular expression."""
    tool = offer.tool(GREP)
    takes_expressions = tool is not None and "regular expression" in (tool.description or "").lower()
    is_expression = re.search(r"\.[*+]|\\[wsdb]|\[.+\]|^\^|\w\|\w", text) is not None
    return re.sub(r"([.^$*+?{}\[\]\\|()])", r"\\\1", text) if takes_expressions and not is_expression else text


def _is_pattern(name: Said) -> bool:
    return "*" in name.value or is_file(name)


def _telling(first: str, nothing: str) -> Telling:
    def tell(outcome: Outcome) -> str:
        lines = outcome.stdout.splitlines() or listed(outcome.result)
        return f"{first}:\n{block(chr(10).join(lines))}" if lines else nothing

    return tell
