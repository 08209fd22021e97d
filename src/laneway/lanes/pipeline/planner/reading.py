"""The request as tokens, and a reader that goes over them once, each token accounted for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from laneway.lanes.pipeline.planner.lexicon import CONTRACTIONS
from laneway.lanes.pipeline.planner.refusal import Refused

MOST_TOKENS = 120

_TOKEN = re.compile(
    r"""
    (?P<quote>"[^"]*"|“[^”]*”|`[^`]*`|(?<![\w])'[^']*'(?!\w))
  | (?P<date>\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?Z?)?(?![\w-]))
  | (?P<month>\d{4}-\d{2}(?![\w-]))
  | (?P<time>\d{1,2}:\d{2}(?!\d))
  | (?P<number>(?<![\w.])[-+]?[$€£]?\d+(?:,\d{3})*(?:\.\d+)?)(?![\d.]\d)
  | (?P<op><=|>=|!=|<>|==|≤|≥|≠|[=<>*/+()×÷%-])
  | (?P<word>[^\W\d][\w]*(?:['’][^\W\d]+)?)
  | (?P<mark>[,;:.?!&…])
  | (?P<space>\s+)
  | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_SIGNS = {"≤": "<=", "≥": ">=", "≠": "!=", "<>": "!=", "×": "*", "÷": "/", "&": "and"}


@dataclass(frozen=True)
class Token:
    """One word, number, quotation or sign of the request; `glued` if nothing stands before it but another token."""

    kind: str
    text: str
    raw: str
    glued: bool = False


def tokens_of(prompt: str) -> list[Token]:
    """The whole request; Refused if it holds signs that mean nothing here, or too much."""
    found: list[Token] = []
    glued = False
    for match in _TOKEN.finditer(prompt):
        kind, raw = match.lastgroup or "other", match.group()
        if kind == "space":
            glued = False
            continue
        if kind == "other":
            raise Refused(f"The sign `{raw}` says nothing about a table.", "Leave it out, or put text in quotes.")
        found.extend(_tokens(kind, raw, glued))
        glued = True
    found = _without_hyphens(found)
    while found and found[-1].kind == "mark" and found[-1].text in ".?!…":
        found.pop()
    if len(found) > MOST_TOKENS:
        raise Refused(f"The request is longer than {MOST_TOKENS} words.", "Ask for one thing at a time.")
    return found


def _without_hyphens(tokens: list[Token]) -> list[Token]:
    """`top-rated` and `4-star` are two words; `e-mail` is one."""
    kept: list[Token] = []
    for place, token in enumerate(tokens):
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        between = token.text == "-" and token.glued and after is not None and after.glued and after.kind == "word"
        if between and kept and kept[-1].kind in ("word", "number"):
            continue
        if kept and kept[-1].text == "e" and token.text in ("mail", "mails") and token.glued:
            kept[-1] = Token("word", f"e{token.text}", f"e{token.raw}", kept[-1].glued)
            continue
        kept.append(token)
    return kept


def _tokens(kind: str, raw: str, glued: bool) -> list[Token]:
    """What is written here: mostly one token; a contraction is two."""
    if kind == "quote":
        return [Token("quote", raw[1:-1], raw[1:-1], glued)]
    text = _SIGNS.get(raw, raw.lower().replace("’", "'"))
    if kind == "word" and "'" in text:
        if text in CONTRACTIONS:
            return [Token("word", part, part) for part in CONTRACTIONS[text].split()]
        if text.endswith("'s"):
            return [Token("word", text[:-2], raw[:-2], glued), Token("mark", "'s", "'s", True)]
    if kind == "mark" and raw == "&":
        kind = "word"
    return [Token(kind, text, raw, glued)]


@lru_cache(maxsize=512)
def _by_first(phrases: tuple[str, ...]) -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """The phrases, in their order, by the word they begin with."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for phrase in phrases:
        words = tuple(phrase.split())
        found.setdefault(words[0], []).append((words, phrase))
    return found


class Reader:
    """The tokens and how far they have been read."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.memo: dict[Any, Any] = {}
        """What was found at a place, so that nothing is looked for twice."""

    def __bool__(self) -> bool:
        return self.at < len(self.tokens)

    def token(self, ahead: int = 0) -> Token | None:
        """The token so many further on, or None behind the last."""
        place = max(self.at + ahead, 0)
        return self.tokens[place] if place < len(self.tokens) else None

    def word(self, ahead: int = 0) -> str:
        """The word, sign or mark so many further on; '' for numbers, quotations and the end."""
        token = self.token(ahead)
        return token.text if token and token.kind in ("word", "op", "mark") else ""

    def sees(self, phrase: str, ahead: int = 0) -> int:
        """How many tokens these words are, if they come next; else 0."""
        words = phrase.split()
        return len(words) if all(self.word(ahead + i) == word for i, word in enumerate(words)) else 0

    def takes(self, *phrases: str) -> str:
        """The first of the phrases that comes next, now read; '' if none does."""
        for words, phrase in _by_first(phrases).get(self.word(), ()):
            if all(self.word(place) == word for place, word in enumerate(words)):
                self.at += len(words)
                return phrase
        return ""

    def skips(self, words: frozenset[str]) -> None:
        """None of these words comes next any more."""
        while self.word() in words:
            self.at += 1

    def rest(self, most: int = 4) -> str:
        """The beginning of what is not read yet, to be shown."""
        return " ".join(token.raw for token in self.tokens[self.at : self.at + most])
