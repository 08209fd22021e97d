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
from laneway.llm.offline.orders import Offer, Understood, one
from laneway.llm.offline.paths import for_shell, is_file
from laneway.llm.offline.politeness import Words
from laneway.llm.offline.run_commands import bash
from laneway.llm.offline.shapes import Found, fitting, shapes

WRITE_FILE, EDIT_FILE = "write_file", "edit_file"

_CREATE = r"(?:create|make|write|save|add|generate|erstelle?|lege?|schreibe?|cree[rz]?|cre(?:a|ar|e)|escrib(?:e|ir|a)|ecri[rsv]e?z?)"
_WITH = (
    r"(?:(?:with|containing|that (?:says|contains|reads)|saying|holding|mit|avec|con|contenant|que (?:diga|contenga)|an)"
    r"(?: (?:the|this|these|following|exact|its|as|dem|den|folgendem|folgenden|le|la|el|este|siguiente|suivant|ce"
    r"|content|contents|text|texte|texto|line|lines|inhalt|zeile|contenu|contenido|ligne|linea|and nothing else))*)"
)
_TEXT = (
    r"(?:(?:the|this|following|den|die|le|la|el) )*(?:(?:text|line|word|words|sentence|string|note|zeile|satz|texte|ligne"
    r"|mot|texto|linea|palabra) )?"
)
_NEW = r"@the@file?@named?<name>"
_FREE = shapes(
    rf"{_CREATE} {_NEW}(?: {_WITH})?\s*:\s*<content:rest>",
    rf"(?:write|save|put|store) (?:this|the following|the text)? ?(?:to|into|in|as) {_NEW}\s*:\s*<content:rest>",
    rf"(?:new|neue|nouveau|nuevo) @file@named?<name>(?: {_WITH})?\s*:\s*<content:rest>",
)
_QUOTED = shapes(
    rf"{_CREATE} {_NEW},? (?:{_WITH}\s*:?\s*)<content:block>(?: (?:in it|as content|as its content))?",
    rf"(?:write|save|store|schreibe?|speichere?|ecri[rs]e?|ecrivez|escrib(?:e|ir|a)|guarda) {_TEXT}<content:block>"
    rf" (?:to|into|in|as|under|unter|dans|sous|en|como) {_NEW}",
    rf"(?:put|add) {_TEXT}<content:block> (?:in|into|to) a new @file@named?<name>",
)
_APPENDS = shapes(
    rf"(?:append|add|hange?|fuge|ajoute[rz]?|agreg(?:a|ar|ue)|anad(?:e|ir|a)) {_TEXT}<content:quoted>"
    rf" (?:to|at the end of|to the end of|an|zu|a|al final de|a la fin de) @the@file?<name>(?: (?:an|hinzu))?"
)
_ALL = r"(?P<all>(?:all|every|each|alle|toutes les|todas las|todos los)(?: (?:occurrences?|instances?|vorkommen|apariciones))?(?: (?:of|von|de))? )?"
_BY = r"(?:with|by|for|durch|mit|par|por|con)"
_REPLACE = r"(?:replace|swap|substitute|ersetze?|remplace[rz]?|reemplaz(?:a|ar|e)|sustituye)"
_CHANGE = r"(?:change|turn|andere?|change[rz]?|cambi(?:a|ar|e)|correct)"
_IN = r"(?:in|inside|within|dans|en) @the@file?<name>"
_EDITS = shapes(
    rf"{_REPLACE} {_ALL}<old> {_BY} <new> {_IN}(?P<everywhere> everywhere)?",
    rf"{_IN}\s*[,:]? {_REPLACE} {_ALL}<old> {_BY} <new>(?P<everywhere> everywhere)?",
    rf"{_CHANGE} {_ALL}<old:quoted> (?:to|into|in|zu|en|por|a) <new:quoted> {_IN}(?P<everywhere> everywhere)?",
    rf"{_IN}\s*[,:]? {_CHANGE} {_ALL}<old:quoted> (?:to|into|in|zu|en|por|a) <new:quoted>(?P<everywhere> everywhere)?",
)
# Bare words that stand for something else than themselves.
_NOT_MEANT = frozenset(
    "the a an it this that them nothing something everything these those my our your his her".split()
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
    return one(offer.order(WRITE_FILE, f"write `{path}`", lambda _: done, is_free=is_free, path=path, content=content))


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
    if not _is_file(found) or any(part.quoted is None and part.value.lower() in _NOT_MEANT for part in (old, new)):
        return None
    everywhere = {"all": True} if found.has("all") or found.has("everywhere") else {}
    about, done = f"replace the text in `{path}`", f"Replaced `{old.value}` with `{new.value}` in `{path}`."
    return one(offer.order(EDIT_FILE, about, lambda _: done, path=path, old=old.value, new=new.value, **everywhere))
