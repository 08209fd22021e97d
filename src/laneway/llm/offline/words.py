"""The vocabulary of `words.toml`: what words mean, which are understood, and which may be guessed."""

from __future__ import annotations

import tomllib
from pathlib import Path

_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_LISTS: dict[str, tuple[str, ...]] = {name: tuple(words.split()) for name, words in _TABLES["lists"].items()}

MEANINGS: dict[str, tuple[str, ...]] = {name: tuple(words.split()) for name, words in _TABLES["meanings"].items()}
PLAIN = frozenset(word for words in _TABLES["plain"].values() for word in words.split())
PROGRAMS = frozenset(_LISTS["programs"])
KEY_WORDS = _LISTS["key_words"]
LITTLE_WORDS = _LISTS["little_words"]
NOT_TYPOS = frozenset(_LISTS["not_typos"])
NOT_ENGLISH = frozenset(_LISTS["not_english"])
ENGLISH = frozenset(_LISTS["english"])
SHELL_PROGRAMS = frozenset(_LISTS["shell_programs"])
SUBCOMMANDS = frozenset(_LISTS["subcommands"])
BEFORE_A_NAME = frozenset(_LISTS["before_a_name"])
SERVICES = PROGRAMS - frozenset(_LISTS["no_services"])
FOLDERS = frozenset(_LISTS["folders"])
POINTING = frozenset(_LISTS["pointing"])
