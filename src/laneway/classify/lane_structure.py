"""How a request to change a workflow differs from a request to do something now: its clauses, verbs and time words.

A request is cut into clauses; each has a mood, and signs: patterns over the groups of its words (`lane_tags`). The
rules by which the labels are given are then asked in their order, and the first that speaks is a feature as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from laneway.classify import lane_tags
from laneway.classify.lane_signs import FILL, SIGNS, VERB

MOODS = ("order", "polite order", "question", "statement")
_COMPILED = {name: re.compile(pattern) for name, pattern in SIGNS.items()}
_GOES_ON = (
    *("later", "whenever", "repeated action", "repeats", "always do", "never again", "stops doing", "all new"),
    *("acts on what comes", "around each event", "limited and repeated", "watches"),
)
_EDITS = (
    *("edits a part", "edits a stored thing", "ends a stored thing", "halts", "undoes", "copies", "bare setting"),
    *("thing must", "value for value"),
)
_SPLIT = re.compile(
    rf"(?:(?<= )|^)(?:[.!;]|, and|and(?= (?:polite |may |later |, |always |the )*{VERB} )"
    r"|and(?= (?:if|whenever|all units?|later|may) )|,(?= ask ))(?= )|(?<=\?)"
)


@dataclass(frozen=True)
class Clause:
    """One piece of a request: the groups of its words, its mood, and the signs found in it."""

    line: str
    mood: str
    signs: frozenset[str]

    def has(self, *names: str) -> bool:
        """Whether any of these signs is there."""
        return not self.signs.isdisjoint(names)


def clauses(text: str) -> list[Clause]:
    """The request in pieces, each with its mood and signs."""
    line = " ".join(lane_tags.tags(text)) + " "
    pieces = [piece.strip(" ,") + " " for piece in _SPLIT.split(line)]
    return [_clause(piece) for piece in pieces if piece.strip(" ?:")]


def _clause(line: str) -> Clause:
    signs = frozenset(name for name, pattern in _COMPILED.items() if pattern.search(line))
    return Clause(line, _mood(line), signs)


def _mood(line: str) -> str:
    bare = re.sub(rf"^(?:{FILL} )+", "", line)
    if bare.startswith("may "):
        return "polite order"
    if re.match(r"(?:ask|wonder|be|can) ", bare):
        return "polite order" if re.match(r"can (?!.*wonder).*\b(?:instead|later)\b", bare) else "question"
    main = re.sub(rf"^(?:(?:{FILL} )*(?:whenever|if) |until |all |always ).*?, ", "", bare)
    if re.match(rf"(?:all units? |always |polite |x )?{VERB} ", main):
        return "order"
    return "question" if "?" in line else "statement"


def features(text: str) -> list[float]:
    """The structure of a request as numbers between 0 and 1, in the order of `names`."""
    parts = clauses(text)
    found = {name for part in parts for name in part.signs}
    moods = {part.mood for part in parts}
    rule = _first_rule(parts)
    return [
        *(float(name in found) for name in SIGNS),
        *(float(mood in moods) for mood in MOODS),
        *(float(check) for check in _combined(parts)),
        *(float(rule == name) for name in RULES),
        float(rule in _LASTING),
    ]


def names() -> list[str]:
    """What each number of `features` means."""
    combined = (
        "lasting and not once",
        "condition and effect",
        "row edit",
        "run operation",
        "edits a thing named",
        "asks about a rule",
    )
    return [*SIGNS, *MOODS, *combined, *(f"rule: {name}" for name in RULES), "rules say lasting"]


def _combined(parts: list[Clause]) -> Iterator[bool]:
    once = any(part.has("once", "unsaved", "dry") for part in parts)
    yield any(_lasting(part) for part in parts) and not once
    yield any(_standing_condition(part) for part in parts)
    yield any(_row_edit(part) for part in parts)
    yield any(_run_operation(part) for part in parts)
    yield _edits_what_was_named(parts)
    yield all(_asks(part) for part in parts) and any(part.has("asks about a part", "reads a part") for part in parts)


def _asks(part: Clause) -> bool:
    if part.mood == "question":
        return True
    return part.has("reads", "wonders") and not (part.has("repeated action") and not part.has("past"))


def _describes(part: Clause) -> bool:
    """Whether the clause only says how things are."""
    return part.mood == "statement" and not part.has("must", "later", "wish", "edits it")


def _only_asks(parts: list[Clause]) -> bool:
    """Whether the request asks, and beside asking only says how things are."""
    return any(_asks(part) for part in parts) and all(_asks(part) or _describes(part) for part in parts)


def _lasting(part: Clause) -> bool:
    """Whether the clause orders behaviour that goes on."""
    if _asks(part) and not part.has("later"):
        return False
    if part.has("past only", "here") and not part.has("later", "stops an activity"):
        return False
    return part.has(*_GOES_ON)


def _definition_edit(part: Clause) -> bool:
    if _asks(part) or part.has("dry") or (part.has("past only") and not part.has("undoes")):
        return False
    return part.has(*_EDITS)


def _standing_condition(part: Clause) -> bool:
    tied = part.has("condition on now", "now", "here", "once", "deferred by name", "past")
    acts = part.has("condition then act", "condition first")
    return acts and not tied and not _asks(part) and not part.has("condition then read")


def _row_edit(part: Clause) -> bool:
    stays = part.has("edits a part", "later", "thing must", "repeated action", "all stored things")
    return part.has("edits data", "shapes") and not stays


def _lasting_beside_once(parts: list[Clause]) -> bool:
    """Whether one clause asks for something once and another for something that stays."""
    if any(part.has("unsaved", "dry") for part in parts):
        return False
    return len(parts) > 1 and any(not part.has("once") and (_lasting(part) or _definition_edit(part)) for part in parts)


def _edits_what_was_named(parts: list[Clause]) -> bool:
    return any(part.has("edits it") for part in parts) and any(part.has("names a stored thing") for part in parts)


def _run_operation(part: Clause) -> bool:
    operates = part.has("starts", "starts a run", "ends a run", "decides", "halts a run")
    return operates and not part.has("later", "repeated action", "whenever")


def _first_rule(parts: list[Clause]) -> str:
    """The first rule for the labels that speaks, in the order in which they bind."""
    return next((name for name, speaks in RULES.items() if speaks(parts)), "nothing")


def _any(check: Callable[[Clause], bool]) -> Callable[[list[Clause]], bool]:
    return lambda parts: any(check(part) for part in parts)


RULES: dict[str, Callable[[list[Clause]], bool]] = {
    "lasting word": _any(lambda part: part.has("later") and not _asks(part)),
    "never again": _any(lambda part: part.has("never again") and not _asks(part)),
    "only asks": _only_asks,
    "kept or halted": _any(lambda part: part.has("keeps it", "halts") and not part.has("unsaved") and not _asks(part)),
    "lasting beside once": _lasting_beside_once,
    "once": _any(lambda part: part.has("once", "unsaved", "dry")),
    "goes on": _any(_lasting),
    "standing condition": _any(_standing_condition),
    "row edit": _any(_row_edit),
    "edits what was named": _edits_what_was_named,
    "definition edit": _any(_definition_edit),
    "run operation": _any(_run_operation),
    "deferred": _any(lambda part: part.has("deferred")),
    "limited time": _any(lambda part: part.has("limited time") and not part.has("here")),
    "reads": _any(_asks),
}
_LASTING = {
    *("lasting word", "never again", "kept or halted", "lasting beside once", "goes on", "standing condition"),
    *("edits what was named", "definition edit", "limited time"),
}
