"""The structure of a request: clauses, mood, main verb, negation, condition, and what its time words govern.

Averaged word meanings hardly see grammar; these features do. They stay weak (see `WEIGHT`): at full weight they
look great on texts by their author and fail on texts by others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from laneway.classify.lexicon import lexicon
from laneway.classify.rules import normalise, small_talk

_BREAKS = re.compile(
    r"[.!?;\n]+(?:\s|$)|,?\s+(?:and then|then|and if not|if not|otherwise|but|und dann|sonst|aber|y luego|pero|"
    r"et puis|sinon|mais)\s+|,\s+(?:and|und|y|et)\s+"
)
_POLITE = re.compile(
    r"^(?:(?:hey|hi|hello|ok|okay|so|well|please|pls|plz|kindly|now|just|also|and|then|bitte|por favor|"
    r"s'il (?:te|vous) "
    r"plaît|(?:can|could|would|will) (?:you|u|we|someone|somebody)(?: please| just| kindly)?|would you mind|"
    r"i (?:want|need|would like|'d like) (?:you )?to|i'd like you to|let's|lets|go ahead and|make sure (?:to|that)?|"
    r"be so kind(?: as)? to|feel free to|kannst du|könntest du|können sie|puedes|podrías|peux-tu|pourrais-tu|"
    r"pouvez-vous|você pode|pode|puoi|potresti|kun je|możesz)\b[\s,]*)+"
)


@dataclass(frozen=True)
class Clause:
    """One piece of a request that says one thing."""

    text: str
    asks: bool
    verb: str
    changes: bool
    reads: bool
    negated: bool
    condition: bool


def clauses(text: str) -> list[Clause]:
    """The request in pieces, each with its mood and main verb."""
    plain = text.casefold().replace("’", "'")
    pieces: list[tuple[str, bool]] = []
    start = 0
    for found in _BREAKS.finditer(plain):
        pieces.append((plain[start : found.start()], "?" in found[0]))
        start = found.end()
    pieces.append((plain[start:], False))
    return [_clause(piece.strip(" ,:-"), asked) for piece, asked in pieces if piece.strip(" ,:-")]


def _clause(piece: str, asked: bool) -> Clause:
    bare = _POLITE.sub("", piece)
    words = re.findall(r"[\w'-]+", bare)
    polite = bare != piece
    asks = (asked and not polite) or bool(_pattern("asks").match(bare)) or bool(_pattern("tells").match(bare))
    condition = bool(_pattern("condition").search(piece))
    main = re.sub(
        r"^(?:if|when|whenever|once|as soon as|wenn|falls|sobald|si|cuando|quand|se|quando)\b[^,]*,\s*", "", bare
    )
    verb = next(iter(re.findall(r"[\w'-]+", main)), words[0] if words else "")
    return Clause(
        piece,
        asks and not _starts(main, "changes"),
        verb,
        _has(main, "changes"),
        _starts(main, "reads"),
        bool(_pattern("negation").search(piece)),
        condition,
    )


def _groups() -> list[str]:
    return [name for name in lexicon() if name not in ("changes", "reads")]


def features(text: str) -> list[float]:
    """The structure of a text as numbers between 0 and 1."""
    plain = normalise(text)
    parts = clauses(text) or [_clause(plain, False)]
    orders = [part for part in parts if not part.asks]
    risky = [part for part in orders if part.changes and not part.negated]
    found = [1.0 if _pattern(name).search(plain) else 0.0 for name in _groups()]
    first, last = parts[0], parts[-1]
    return [
        *found,
        float(text.rstrip().endswith("?")),
        float(first.asks),
        float(last.asks),
        float(any(part.asks for part in parts)),
        float(all(part.asks for part in parts)),
        float(bool(risky)),
        float(any(_starts(_POLITE.sub("", part.text), "changes") for part in parts)),
        float(any(part.reads for part in parts)),
        float(first.reads),
        float(any(part.negated for part in parts)),
        float(any(part.condition for part in parts)),
        float(bool(risky) and any(part.condition for part in parts)),
        float(bool(_POLITE.match(plain))),
        float(small_talk(text) is not None),
        min(len(parts), 4) / 4,
        min(len(plain.split()), 40) / 40,
    ]


def starts_with_verb(text: str) -> bool:
    """Whether a text begins as an order does: with a verb, politeness aside."""
    bare = _POLITE.sub("", text)
    return _starts(bare, "changes") or _starts(bare, "reads")


def order_of(text: str) -> tuple[str, str]:
    """The verb and the object of an order, in its own spelling; nothing where no order begins with a known verb."""
    line = " ".join(text.split())
    plain = line.casefold().replace("’", "'")
    polite = _POLITE.match(plain)
    start = polite.end() if polite else 0
    if len(plain) != len(line) or not starts_with_verb(plain):
        return "", ""
    verb, _, rest = line[start:].partition(" ")
    return verb.strip(",:;!."), rest.strip(" .!?")


def names() -> list[str]:
    """What each number of `features` means."""
    return [
        *_groups(),
        *("ends with ?", "asks first", "asks last", "asks somewhere", "asks only", "changes", "starts with a change"),
        *(
            "reads",
            "reads first",
            "negated",
            "condition",
            "conditional change",
            "polite",
            "small talk",
            "clauses",
            "words",
        ),
    ]


def _has(text: str, name: str) -> bool:
    return bool(_pattern(name).search(text))


def _starts(text: str, name: str) -> bool:
    return bool(_pattern(name).match(text))


def _pattern(name: str) -> re.Pattern[str]:
    return lexicon()[name]
