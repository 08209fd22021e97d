"""How a request to change a workflow differs from a request to do something now: its clauses, verbs and time words.

A request is cut into clauses; each has a mood, a condition if there is one, and signs: patterns over the groups of
its words (`lane_tags`). The rules by which the labels are given are then asked in their order, and the first that
speaks is a feature as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from laneway.classify import lane_tags
from laneway.classify.lane_signs import ACT, FILL, SIGNS, VERB

MOODS = ("order", "polite order", "question", "statement", "fragment")
_INNER = {
    *("watches", "copies", "habit", "drafts", "adds to a thing", "arrow", "each new", "asks how", "condition on data"),
    *("acts on what comes", "must on data", "edits a thing", "sets it", "names a row", "names a value", "condition"),
    *("one of them", "whenever", "always do", "halts something", "stores", "names a detail"),
}
"""Signs too rare to be numbers of their own; the rules use them."""
SHOWN = tuple(name for name in SIGNS if name not in _INNER)
_COMPILED = [(name, view, re.compile(pattern)) for name, (view, pattern) in SIGNS.items()]
_SENTENCES = re.compile(r"(?<=[?]) |(?:(?<= )|^)[.!;](?= )")
_PIECES = re.compile(
    r"(?:(?<= )|^)(?:, and|, but|and|,)(?= (?:polite |may |later |, |always |dont |now |too |once |do )*"
    rf"(?:{VERB}|may|wonder) )"
    r"|(?:(?<= )|^)and(?= (?:if|whenever|often|later|all units?|must) )|(?:(?<= )|^),(?= ask )"
)
_FRONTED = re.compile(
    rf"^(?:{FILL} )+$|^(?:{FILL} )*(?:if|whenever|until|around|often|all|on|in|later|defer|foreach|dry|:) "
)
_CONDITION = re.compile(r"\b(?:if|whenever) ")
_RELATIVE = re.compile(r"(?<!\bsome )\brel (?:(?!must |, )\S+ )*")
_ORDER = re.compile(rf"(?:^|(?<!\bi )(?<!\bit ))\b(?:{VERB}) ")
_HOLDS = re.compile(rf"(?:(?!{VERB} )\S+ )*leave ")
_WANTED = re.compile(
    r"(?:the |some |all |fresh |here )?(?:\S+ ){1,3}?(?:(?!be )\S+ ){0,6}?(?:must|instead|later|too|edit|shape) "
)


@dataclass(frozen=True)
class Clause:
    """One piece of a request: the groups of its words, its condition, its mood, and the signs found in it."""

    line: str
    main: str
    condition: str
    mood: str
    signs: frozenset[str]

    def has(self, *names: str) -> bool:
        """Whether any of these signs is there."""
        return not self.signs.isdisjoint(names)


def clauses(text: str) -> list[Clause]:
    """The request in pieces, each with its mood and signs."""
    return [_clause(piece) for sentence in _SENTENCES.split(lane_tags.tags(text)) for piece in _pieces(sentence)]


def _pieces(sentence: str) -> Iterator[str]:
    held = ""
    for piece in _PIECES.split(sentence):
        whole = f"{held} , {piece.strip(' ,')}" if held else piece.strip(" ,")
        # What is put before the order belongs to it: "every Monday, send", "if it fails, restart it".
        if _FRONTED.match(whole + " ") and not held and not _ORDER.search(whole.partition(" , ")[2] + " "):
            held = whole
            continue
        held = ""
        if whole.strip(" ?:,"):
            yield whole + " "
    if held.strip(" ?:,"):
        yield held + " "


def _clause(line: str) -> Clause:
    plain = _RELATIVE.sub("rel ", line)
    main, condition = _parts(plain)
    views = {"line": line, "plain": plain, "main": main, "condition": condition}
    signs = frozenset(name for name, view, pattern in _COMPILED if pattern.search(views[view]))
    return Clause(line, main, condition, _mood(line, main), signs)


def _parts(line: str) -> tuple[str, str]:
    """What is asked, and under which condition."""
    found = _CONDITION.search(line)
    if not found:
        return line, ""
    before, after = line[: found.start()], line[found.start() :]
    if re.search(rf"{VERB} |must |be ", before):
        return before, after
    condition, comma, rest = after.partition(", ")
    if comma:
        return before + rest, condition
    verb = re.match(rf"((?:\S+ ){{3,}}?)((?:polite )?{ACT} .*)", after)
    return (before + verb[2], verb[1]) if verb else (before + after, after)


def _mood(line: str, main: str) -> str:
    bare = re.sub(rf"^(?:(?:{FILL}|often|always|on|time|num|units?|all|until|in) )*", "", main)
    if bare.startswith("wonder "):
        return "question"
    if re.match(r"may ", bare) or re.search(r"\bmay (?:\S+ )*?(?:edit|halt|store)", main):
        return "polite order"
    if re.match(r"(?:ask|wonder|be|has|did) ", bare) or re.search(r"(?:^|, )ask ", main):
        return "question"
    if found := re.search(r"(?:^|, )can (.*)", bare):
        return "polite order" if _WANTED.match(found[1]) else "question"
    if _ORDER.search(main):
        return "order"
    if "?" in line:
        return "question"
    return "statement" if re.search(r"\b(?:must|be|has|did|done|wish|\w+ed|\w+s) ", main) else "fragment"


def features(text: str) -> list[float]:
    """The structure of a request as numbers between 0 and 1, in the order of `names`."""
    parts = clauses(text)
    found = {name for part in parts for name in part.signs}
    moods = {part.mood for part in parts}
    rule = first_rule(parts)
    return [
        *(float(name in found) for name in SHOWN),
        *(float(mood in moods) for mood in MOODS),
        *(float(rule == name) for name in RULES),
        float(rule in LASTING),
    ]


def names() -> list[str]:
    """What each number of `features` means."""
    return [*SHOWN, *MOODS, *(f"rule: {name}" for name in RULES), "rules say lasting"]


def _asks(part: Clause) -> bool:
    """Whether the clause wants to know or to have a text, not to have something done."""
    if part.mood == "question" or part.has("drafts", "asks how"):
        return True
    return part.has("wonders") and part.mood == "statement"


def _queries(part: Clause) -> bool:
    """Whether the clause wants something shown or computed from what is there."""
    listed = part.mood == "fragment" and part.has("names data", "past", "names a row", "names a value")
    return (part.has("reads") or listed) and not _goes_on(part) and not part.has("setting", "arrow")


def _goes_on(part: Clause) -> bool:
    """Whether the clause orders behaviour that goes on."""
    if part.has("later", "habit", "watches"):
        return True
    repeats = part.has("repeats") and not part.has("repeats in the data")
    about_rows = part.has("names data", "names a value", "here", "past", "names a row") and part.has(
        "reads", "shapes", "edits data"
    )
    comes = part.has("acts on what comes") and not part.has("past")
    if (repeats or comes or part.has("always do", "each new")) and not about_rows:
        return part.mood != "fragment" or not part.has("past", "names data", "names a row")
    return part.has("stops doing") and not part.has("handles a run")


def _limited(part: Clause) -> bool:
    """Whether the clause sets a rule for a time: not a wait for one thing, not a stretch of the data."""
    if part.mood in ("question", "fragment") or part.has("reads", "past", "here", "handles a run", "one of them"):
        return False
    return part.has("limited") and not (_HOLDS.match(part.main) and not part.has("repeats", "names a part", "each new"))


def _standing(part: Clause) -> bool:
    """Whether the clause says what is to happen under a condition that may come true again and again."""
    if not part.condition or part.has("condition tied", "condition past", "once") or _asks(part):
        return False
    if part.has("condition on any"):
        return not part.has("here")
    return not part.has("condition on data", "shapes", "edits data", "deferred", "now", "here", "past", "reads")


def _bound(part: Clause) -> bool:
    """Whether the clause asks for something under a condition that is met now or never."""
    return bool(part.condition) and part.has("condition tied", "condition past", "now", "here", "once", "past")


def _row_edit(part: Clause) -> bool:
    stored = part.has("edits a part", "edits a detail", "works in a part", "must on a part")
    return part.has("edits data", "shapes", "condition on data", "must on data") and not stored


def _definition_edit(part: Clause) -> bool:
    if part.has("here") and not part.has("edits a part", "edits a detail"):
        return False
    if part.mood == "statement" and part.has("past", "must on data", "now", "deferred") and not part.has("setting"):
        return False
    return part.has(
        *(
            "edits a part",
            "edits a detail",
            "works in a part",
            "edits a thing",
            "adds to a thing",
            "halts",
            "undoes",
            "copies",
            "setting",
            "must on a part",
        ),
        *("arrow", "value for value", "all must"),
    )


def first_rule(parts: list[Clause]) -> str:
    """The first rule for the labels that speaks, in the order in which they bind."""
    return next((name for name, speaks in RULES.items() if speaks(parts)), "nothing")


def _any(check: Callable[[Clause], bool]) -> Callable[[list[Clause]], bool]:
    return lambda parts: any(check(part) for part in parts)


def _edits_what_was_named(parts: list[Clause]) -> bool:
    named = any(part.has("names a part", "names a detail") for part in parts)
    return any(part.has("edits it" if named else "sets it") and not _asks(part) for part in parts)


def _wishes(part: Clause) -> bool:
    return part.has("wish") and part.has(
        "stops doing", "each new", "all must", "names a part", "names a detail", "repeats", "value for value"
    )


def _standing_rule(parts: list[Clause]) -> bool:
    """Whether a condition stands, and nothing before it ties it to what was just looked at."""
    looked = any(part.mood == "question" or part.has("now") for part in parts[:1])
    return any(_standing(part) for part in parts) and not (looked and len(parts) > 1 and not parts[0].condition)


def _lasting_beside(parts: list[Clause]) -> bool:
    """Whether one of several clauses asks for something that stays, whatever the others ask for."""
    tied = any(part.has("once", "dry", "unsaved") for part in parts)
    free = [part for part in parts if not part.has("once", "dry", "unsaved", "now", "drafts") and not _asks(part)]
    wanted = [part for part in free if not part.main.startswith("leave ") and not _describes(part)]
    if tied:
        return any(part.has("later", "edits a part", "works in a part", "stores") for part in wanted)
    return len(parts) > 1 and any((_goes_on(part) or _definition_edit(part)) and not _row_edit(part) for part in wanted)


def _describes(part: Clause) -> bool:
    """Whether the clause only says how things are."""
    return part.mood in ("statement", "fragment") and not part.has(
        "must", "later", "wish", "setting", "arrow", "limited"
    )


RULES: dict[str, Callable[[list[Clause]], bool]] = {
    "lasting word": _any(lambda part: part.has("later") and not _asks(part) and not part.has("once", "unsaved")),
    "only asks": lambda parts: all(_asks(part) or part.mood == "statement" for part in parts) and _any(_asks)(parts),
    "lasting beside once": _lasting_beside,
    "once": _any(lambda part: part.has("once", "unsaved", "dry")),
    "goes on": _any(lambda part: _goes_on(part) and not _asks(part)),
    "limited time": _any(_limited),
    "standing condition": _standing_rule,
    "condition now": _any(_bound),
    "row edit": _any(_row_edit),
    "edits what was named": _edits_what_was_named,
    "wishes": _any(_wishes),
    "definition edit": _any(lambda part: _definition_edit(part) and not _asks(part)),
    "run operation": _any(lambda part: part.has("handles a run")),
    "deferred": _any(lambda part: part.has("deferred")),
    "queries": _any(_queries),
    "stores": _any(lambda part: part.has("stores", "halts something")),
    "must": _any(lambda part: part.has("must")),
    "asks": _any(_asks),
}
LASTING = {
    *("lasting word", "lasting beside once", "goes on", "limited time", "standing condition", "definition edit"),
    *("stores", "edits what was named", "wishes"),
}
