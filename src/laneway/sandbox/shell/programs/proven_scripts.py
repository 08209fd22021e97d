"""Which scripts of sed and awk provably only read: no file written, no program run."""

from __future__ import annotations

import re

from laneway.sandbox.shell.holes import has_hole, may_be_option
from laneway.sandbox.shell.invocation import Invocation

_SED_OPTION = re.compile(r"-[nErsuz]+|--(quiet|silent|regexp-extended|posix|null-data|separate|unbuffered)")
_SED_SCRIPT = re.compile(r"-[nErsuz]*e|--expression")
_ADDRESS = r"(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\.)*/I?|\+\d+)"
_SUBSTITUTE = "|".join(
    rf"[sy]{sign}(?:[^{sign}\\]|\\.)*{sign}(?:[^{sign}\\]|\\.)*{sign}[gpiI\d]*"
    for sign in ("/", r"\|", "#", ",", ":", "@", "!", "%")
)
_SED_COMMAND = re.compile(
    rf"[\s;]*(?:{_ADDRESS}(?:\s*,\s*{_ADDRESS})?)?\s*!?\s*(?:{_SUBSTITUTE}|[pdPDhHgGxnNlz=]|[qQ]\d*|[{{}}])\s*(?=[;}}\n]|$)|[\s;]*\}}"
    rf"|[\s;]*(?:{_ADDRESS}(?:\s*,\s*{_ADDRESS})?)?\s*!?\s*\{{|[\s;]*(?:{_ADDRESS})?[aic]\s*\\?[^\n]*|[\s;]+$",
    re.DOTALL,
)
_LONGEST = 2000
"""Characters of a script that is read; a longer one counts as doing anything."""
_AWK_OPTION = re.compile(r"-F.*|-v.*|--(field-separator|assign)=.*|--posix|--re-interval|--")


def sed_only_reads(run: Invocation) -> bool:
    """Whether sed is told only to print, delete and substitute on its way to the standard output."""
    scripts: list[str] = []
    words, rest = list(run.args), []
    while words:
        word = words.pop(0)
        if _SED_SCRIPT.fullmatch(word):
            scripts.append(words.pop(0) if words else "")
        elif word.startswith("--expression="):
            scripts.append(word.partition("=")[2])
        elif word.startswith("-") and word != "-":
            if not _SED_OPTION.fullmatch(word):
                return False
        else:
            rest.append(word)
    scripts = scripts or rest[:1]
    # A word that the text does not tell may turn out to be an option.
    return not any(may_be_option(word) for word in rest) and all(map(_is_plain_sed, scripts))


def _is_plain_sed(script: str) -> bool:
    if len(script) > _LONGEST or re.search(r"\s{9}", script):
        return False
    place = 0
    while place < len(script):
        found = _SED_COMMAND.match(script, place)
        if found is None or found.end() == place:
            return False
        place = found.end()
    return not has_hole(script)


def awk_only_reads(run: Invocation) -> bool:
    """Whether awk is given a program in plain text that neither redirects, nor pipes, nor runs or loads anything."""
    rest: list[str] = []
    words = list(run.args)
    while words:
        word = words.pop(0)
        if word in ("-F", "-v"):
            words = words[1:]
        elif word.startswith("-") and not rest:
            if not _AWK_OPTION.fullmatch(word):
                return False
        else:
            rest.append(word)
    return bool(rest) and not may_be_option(rest[0]) and _is_plain_awk(rest[0])


def _is_plain_awk(program: str) -> bool:
    if has_hole(program) or re.search(r"system|getline|@|/inet|\bclose\b", program):
        return False
    _, prints, after = program.partition("print")
    return not prints or (">" not in after and not re.search(r"(?<!\|)\|(?!\|)", after))
