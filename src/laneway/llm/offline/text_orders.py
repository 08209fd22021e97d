"""Skill: writing, appending and replacing text that the user gives word for word.

Shapes:
    create a file notes.txt with: … · make hello.py containing ```…``` · save "…" as a.txt    → `write_file`
    write "hello" to notes.txt · write this to notes.txt: … · put "…" in a new file a.txt
    append "…" to todo.txt · add the line "…" to todo.txt                                     → `bash`
    replace foo with bar in a.txt · in a.txt change "x" to "y" · replace all "x" with "y" in … → `edit_file`
    erstelle eine Datei … mit dem Inhalt: … · schreibe "…" in … · ersetze "…" durch "…" in …
    crée un fichier … avec : … · écris "…" dans … · remplace "…" par "…" dans …
    crea un archivo … con: … · escribe "…" en … · reemplaza "…" por "…" en …

Text is what is quoted, fenced, or follows a colon. "Write a poem to poem.txt" gives none, and is left to a model.
"""

from __future__ import annotations

import shlex

from laneway.llm.offline.marking import Said
from laneway.llm.offline.orders import Offer, Understood, one, saying
from laneway.llm.offline.paths import for_shell, is_file
from laneway.llm.offline.politeness import Words
from laneway.llm.offline.run_commands import bash
from laneway.llm.offline.shapes import Found, fitting, shapes
from laneway.llm.offline.words import POINTING

WRITE_FILE, EDIT_FILE = "write_file", "edit_file"

_FREE = shapes(
    "@create @the@file?@named?<name>(?: @with)? ?: ?<content:rest>",
    "@write (?:(?:this|the following|the text) )?@to @the@file?@named?<name> ?: ?<content:rest>",
    "@file@named?<name>(?: @with)? ?: ?<content:rest>",
)
_QUOTED = shapes(
    "@create @the@file?@named?<name>,? @with ?:? ?<content:block>(?: (?:in it|as (?:its )?content))?",
    "@write @the_text<content:block> @to @the@file?@named?<name>",
    "(?:put|add) @the_text<content:block> (?:in|into|to) a new @file@named?<name>",
)
_APPENDS = shapes("@append @the_text<content:quoted> @to_end_of @the@file?<name>(?: (?:an|hinzu))?")
_EDITS = shapes(
    "@replace @every<old> @by <new>(?P<throughout> everywhere)? @in_file(?P<everywhere> everywhere)?",
    "@in_file ?[,:]? @replace @every<old> @by <new>(?P<everywhere> everywhere)?",
    "@change @every<old:quoted> @into <new:quoted> @in_file(?P<everywhere> everywhere)?",
    "@in_file ?[,:]? @change @every<old:quoted> @into <new:quoted>(?P<everywhere> everywhere)?",
)


def text_orders(words: Words, offer: Offer) -> Understood:
    """Calls that write exactly the text given."""
    if words.is_question:
        return None
    for found in fitting(words.core, _EDITS):
        return _edit(found, offer)
    for found in fitting(words.core, _APPENDS):
        return _append(found, offer)
    for found in fitting(words.core, _QUOTED):
        return _write(found, offer, is_free=False)
    for found in fitting(words.open, _FREE):
        content = found.part("content")
        return _write(found, offer, is_free=content.quoted is None)
    return None


def _is_file(found: Found) -> bool:
    is_named = found.has("file")
    return is_file(found.part("name"), is_named=is_named, is_called=is_named and found.has("named"))


def _write(found: Found, offer: Offer, *, is_free: bool) -> Understood:
    path, content = found.value("name"), _content(found.part("content"))
    if not _is_file(found) or path.endswith("/"):
        return None
    done = f"Wrote `{path}` ({len(content)} character{'' if len(content) == 1 else 's'})."
    return one(offer.order(WRITE_FILE, f"write `{path}`", saying(done), is_free=is_free, path=path, content=content))


def _content(given: Said) -> str:
    """The text itself: a block line by line, anything else as it stands."""
    if given.is_fenced and given.quoted is not None:
        return given.quoted if given.quoted.endswith("\n") else f"{given.quoted}\n"
    return given.value


def _append(found: Found, offer: Offer) -> Understood:
    path = found.value("name")
    if not _is_file(found):
        return None
    command = f"printf '%s\\n' {shlex.quote(found.value('content'))} >> {for_shell(path)}"
    return one(bash(command, offer, about=f"append to `{path}`", done=f"Appended a line to `{path}`."))


def _edit(found: Found, offer: Offer) -> Understood:
    old, new, path = found.part("old"), found.part("new"), found.value("name")
    if not _is_file(found) or any(part.quoted is None and part.value.lower() in POINTING for part in (old, new)):
        return None
    everywhere = {"all": True} if any(found.has(name) for name in ("all", "throughout", "everywhere")) else {}
    about, done = f"replace the text in `{path}`", f"Replaced `{old.value}` with `{new.value}` in `{path}`."
    return one(offer.order(EDIT_FILE, about, saying(done), path=path, old=old.value, new=new.value, **everywhere))
