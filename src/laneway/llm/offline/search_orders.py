"""Skill: what files there are, where one is, and where a word stands.

Shapes:
    list the files · show me the files in docs/ · what files are in the workspace? · ls src   → `list_files`
    list the files in /etc/nginx                                                              → `bash`
    find *.log · find all .py files · find all files ending in .csv · where is settings.py?   → `glob`
    search for TODO in src · grep for "import os" in the workspace · search all files for "…" → `grep`
    which files contain "…"?
    zeig mir die Dateien · finde alle *.txt · suche nach "…" in … · liste les fichiers · cherche "…" dans …
    lista los archivos · encuentra *.log · busca "…" en …
"""

from __future__ import annotations

from laneway.llm.offline.marking import Said
from laneway.llm.offline.orders import Offer, Telling, Understood, one
from laneway.llm.offline.outcomes import Outcome, block, listed
from laneway.llm.offline.paths import for_shell, is_absolute, is_file, is_folder
from laneway.llm.offline.politeness import Words
from laneway.llm.offline.run_commands import bash
from laneway.llm.offline.shapes import Found, fitting, shapes

LIST_FILES, GLOB, GREP = "list_files", "glob", "grep"

_SHOW = r"(?:list|show|display|print|give|liste[rz]?|zeige?|affiche[rz]?|montre[rz]?|list(?:a|ar|e)|muestr(?:a|e)|mostrar)(?: me| mir|[ -]moi|me)?"
_FILES = r"(?:all |alle |tous |todos )?@the(?:content|contents|inhalt)?(?:files?(?: names)?|dateien|fichiers|archivos|ficheros)"
_HERE = r"(?: (?:here|there|hier|ici|aqui|(?:in|of|im|dans|en|del?) @the(?:current |working |whole )?(?:workspace|work folder|work directory|directory|folder|ordner|dossier|carpeta)))?"
_IN = r" (?:in|of|from|under|inside|im|in|von|dans|de|du|en) @the@folder?<path>(?: (?:folder|directory))?"
_LISTS = shapes(
    rf"{_SHOW} {_FILES}{_HERE}",
    rf"{_SHOW} {_FILES}{_IN}",
    rf"{_SHOW} @the(?:contents?|inhalt|contenu|contenido){_IN}",
    rf"(?:what|which|welche|quels|que) (?:files|dateien|fichiers|archivos) (?:are|sind|sont|hay|do (?:we|i|you) have)(?: there)?{_HERE}",
    rf"(?:what|which|welche|quels|que) (?:files|dateien|fichiers|archivos) (?:are|sind|sont|hay|do (?:we|i|you) have)(?: there)?{_IN}",
    r"(?:ls|dir)(?: <path>)?",
)
_FIND = (
    r"(?:find|locate|look for|search for|finde?|suche?(?: nach)?|trouve[rz]?|cherche[rz]?|encuentra|busca)(?: me| mir)?"
)
_ANY = r"(?:all |any |every |alle |tous |todos )?@the"
_GLOBS = shapes(
    rf"{_FIND} {_ANY}(?:files? |dateien |fichiers |archivos )?(?:(?:matching|like|named|called|namens) )?<pattern>{_HERE}",
    rf"{_FIND} {_ANY}(?P<ending>\*?\.\w{{1,8}})[ -](?:files?|dateien|fichiers|archivos){_HERE}",
    rf"{_FIND} {_ANY}(?:files?|dateien|fichiers|archivos) (?:that )?(?:ending|end|with the (?:ending|extension)|mit der endung)"
    rf"(?: (?:in|with|on))? (?P<ending>\*?\.\w{{1,8}}){_HERE}",
    r"(?:where is|where's|wo ist|wo liegt|ou est|donde esta) @the@file?<pattern>",
)
_EVERYWHERE = r"(?:@the(?:whole )?(?:workspace|current folder|current directory)|(?:all|alle|tous|todos) @the(?:files|dateien|fichiers|archivos)|@the(?:files|dateien|fichiers|archivos)|here|hier|ici|aqui)"
_SEARCH = r"(?:search|look|grep|scan|suche?|cherche[rz]?|busca[r]?|find)"
_WHAT = r"(?:(?:for|nach|por) )?@the(?:(?:word|text|string|wort|mot|texto|palabra) )?<pattern>"
_GREPS = shapes(
    rf"{_SEARCH} {_WHAT} (?:in|inside|within|through|under|across|dans|en) {_EVERYWHERE}",
    rf"{_SEARCH} {_WHAT} (?:in|inside|within|through|under|dans|en) @the(?:@folder|@file)?<path>(?: (?:folder|directory))?",
    rf"(?:search|grep|scan|durchsuche) {_EVERYWHERE} (?:for|nach) @the(?:(?:word|text|string) )?<pattern>",
    r"(?:search|grep|scan|durchsuche) @the(?:@folder|@file)?<path> (?:for|nach) @the(?:(?:word|text|string) )?<pattern>",
    r"(?:which|what|welche) (?:files|dateien) (?:contain|have|mention|enthalten) @the(?:(?:word|text|string) )?<pattern:quoted>",
    r"grep <pattern>(?: <path>)?",
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
    pattern, where = found.part("pattern"), {}
    if found.has("path"):
        path = found.part("path")
        is_place = is_folder(path, is_named=found.has("folder")) or is_file(path, is_named=found.has("file"))
        if not is_place or is_absolute(path.value):
            return None
        where = {"path": path.value}
    about, nothing = f"search for `{pattern.value}`", f"`{pattern.value}` was not found."
    tell = _telling(f"`{pattern.value}` was found", nothing)
    return one(offer.order(GREP, about, tell, pattern=pattern.value, **where))


def _is_pattern(name: Said) -> bool:
    return "*" in name.value or is_file(name)


def _telling(first: str, nothing: str) -> Telling:
    def tell(outcome: Outcome) -> str:
        lines = outcome.stdout.splitlines() or listed(outcome.result)
        return f"{first}:\n{block(chr(10).join(lines))}" if lines else nothing

    return tell
