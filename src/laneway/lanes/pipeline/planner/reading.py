"""The request as tokens: words, numbers, dates, quotations and signs, each to be accounted for."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.words.small import CONTRACTIONS

MOST_TOKENS = 120

_TOKEN = re.compile(
    r"""
    (?P<quote>"[^"]*"|“[^”]*”|`[^`]*`|(?<![\w])'[^']*'(?!\w))
  | (?P<address>[\w.+-]*@\w[\w-]*(?:\.\w[\w-]*)*)
  | (?P<date>\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?Z?)?(?![\w-]))
  | (?P<month>\d{4}-\d{2}(?![\w-]))
  | (?P<time>\d{1,2}:\d{2}(?!\d))
  | (?P<number>(?<![\w.])[-+]?[$€£]?\d+(?:,\d{3})*(?:\.\d+)?)(?![\d.]\d)
  | (?P<op><=|>=|!=|<>|==|≤|≥|≠|[=<>*/+()×÷%–—-])
  | (?P<word>\b[wW]/[oO]?(?=\s)|[^\W\d][\w]*(?:['’][^\W\d]+)?['’]?|[€$£])
  | (?P<mark>[,;:.?!&…])
  | (?P<space>\s+)
  | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_THAT_IS = re.compile(r"\s*,?\s*\bi\.\s?e\.,?\s*", re.IGNORECASE)
"""What follows says the same in other words."""
_SIGNS = {"≤": "<=", "≥": ">=", "≠": "!=", "<>": "!=", "×": "*", "÷": "/", "&": "and", "–": "-", "—": "-"}


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
    for match in _TOKEN.finditer(_THAT_IS.sub(", ", prompt)):
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
    parted = False
    for place, token in enumerate(tokens):
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        between = token.text == "-" and token.glued and after is not None and after.glued and after.kind == "word"
        if between and kept and kept[-1].kind in ("word", "number"):
            parted = True
            continue
        if parted and kept[-1].text == "e" and token.text in ("mail", "mails"):
            kept[-1] = Token("word", f"e{token.text}", f"e{token.raw}", kept[-1].glued)
        else:
            kept.append(replace(token, glued=False) if parted else token)
        parted = False
    return kept


def _tokens(kind: str, raw: str, glued: bool) -> list[Token]:
    """What is written here: mostly one token; a contraction is two."""
    if kind == "quote":
        return [Token("quote", raw[1:-1], raw[1:-1], glued)]
    if kind == "address":
        return [Token("quote", raw, raw, glued)]
    text = _SIGNS.get(raw, raw.lower().replace("’", "'"))
    if kind == "word" and text in CONTRACTIONS:
        return [Token("word", part, part) for part in CONTRACTIONS[text].split()]
    if kind == "word" and "'" in text:
        if text.endswith(("'s", "'")):
            bare = text.removesuffix("s").removesuffix("'")
            return [Token("word", bare, raw[: len(bare)], glued), Token("mark", "'s", "'s", True)]
        if text.endswith("n't"):
            return [Token("word", text[:-3], raw[:-3], glued), Token("word", "not", "not")]
    if kind == "mark" and raw == "&":
        kind = "word"
    return [Token(kind, text, raw, glued)]


def written(tokens: list[Token]) -> str:
    """The tokens as they stood in the request, so that `9A` is one piece and `hot meal` two."""
    return "".join(token.raw if token.glued or not place else f" {token.raw}" for place, token in enumerate(tokens))


class Reader:
    """The tokens from a place on, and how far they have been read."""

    def __init__(self, tokens: list[Token], at: int = 0) -> None:
        self.tokens, self.at = tokens, at

    def token(self, ahead: int = 0) -> Token | None:
        """The token so many further on, or None behind the last."""
        place = self.at + ahead
        return self.tokens[place] if 0 <= place < len(self.tokens) else None

    def word(self, ahead: int = 0) -> str:
        """The word, sign or mark so many further on; '' for numbers, quotations and the end."""
        token = self.token(ahead)
        return token.text if token and token.kind in ("word", "op", "mark") else ""

    def takes(self, *phrases: str) -> str:
        """The first of the phrases that comes next, now read; '' if none does."""
        for phrase in phrases:
            said = phrase.split()
            if all(self.word(place) == word for place, word in enumerate(said)):
                self.at += len(said)
                return phrase
        return ""
