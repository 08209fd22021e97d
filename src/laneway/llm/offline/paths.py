"""Which words name a file or a folder, and how a shell is told of them."""

from __future__ import annotations

import re
import shlex

from laneway.llm.offline.marking import Said
from laneway.llm.offline.words import FOLDERS

_DOMAIN = re.compile(
    r"(?:[a-z0-9-]+\.)+(?:com|org|net|io|de|fr|es|dev|ai|co|uk|eu|info|local|lan|internal|cloud)", re.I
)
_EXTENSION = re.compile(r"[^/\n]*[\w)-]\.(?=\w*[A-Za-z])\w{1,12}(?:\.\w{1,12})*")
_SPELLED = re.compile(r"[\w@%+~./-]+")
_WELL_KNOWN = re.compile(r"(?:Makefile|Dockerfile|README|LICENSE|CHANGELOG|Procfile|Vagrantfile|Jenkinsfile|Gemfile)")


def is_file(name: Said, *, is_named: bool = False, is_called: bool = False) -> bool:
    """True if this is a file's name and nothing else: "the file X" says so, and "a file called X" leaves no doubt."""
    text = name.value
    if not text.strip() or any(not char.isprintable() for char in text) or len(text) > 300 or "://" in text:
        return False
    if name.quoted is None and not _SPELLED.fullmatch(text):
        return False
    if is_domain(text) and not (is_named or is_called):
        return False
    if is_called or (is_named and (name.quoted is not None or not text.isalpha())):
        return True
    return bool("/" in text.strip("/") or is_absolute(text) or _EXTENSION.fullmatch(text) or _known(text))


def is_folder(name: Said, *, is_named: bool = False) -> bool:
    """True if these words are a folder's name; a plain word only if it is said to be one or usually is."""
    text = name.value
    if not text.strip() or "://" in text or any(not char.isprintable() for char in text):
        return False
    if name.quoted is None and not _SPELLED.fullmatch(text):
        return False
    return is_named or text in (".", "..") or text.lower() in FOLDERS or "/" in text


def is_domain(text: str) -> bool:
    """True if this reads as the name of a machine or a site rather than of a file."""
    return _DOMAIN.fullmatch(text) is not None


def is_absolute(path: str) -> bool:
    """True if the path begins at the root or at home, so outside any workspace."""
    return path.startswith(("/", "~/"))


def for_shell(path: str) -> str:
    """The path as a shell reads it: quoted where needed, the home sign left to the shell, never taken as an option."""
    if path.startswith("~/"):
        return "~/" + (shlex.quote(path[2:]) if path[2:] else "")
    return shlex.quote(f"./{path}" if path.startswith("-") else path)


def last_part(path: str) -> str:
    """The name alone."""
    return path.rstrip("/").rsplit("/", 1)[-1]


def _known(text: str) -> bool:
    return _WELL_KNOWN.fullmatch(text) is not None or re.fullmatch(r"\.[a-z][\w.-]+", text) is not None
