"""Politeness around an order: "hey, could you please … for me, thanks!" says the same as "…"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from laneway.llm.offline.marking import Said, said

_ASKS = (
    (
        r"(?:can|could|would|will) (?:you|u)|kannst du|konntest du|wurdest du|konnen sie|konnten sie|peux[ -]tu|tu peux"
        r"|pourrais[ -]tu|pouvez[ -]vous|pourriez[ -]vous|puedes|podrias|puede usted|podria usted"
    )
    .replace("[ -]", r"[\s-]")
    .replace(" ", r"\s+")
)
_BEFORE = re.compile(
    rf"""(?:(?P<asks>{_ASKS})
    |please|pls|plz|kindly|hey(?:\ there)?|hi|hello|ok|okay|alright|right|now|just|also|quickly|laneway|go\ ahead\ and
    |i\ (?:want|need|would\ like)\ you\ to|i'd\ like\ you\ to|id\ like\ you\ to|good\ (?:morning|evening|afternoon)
    |bitte|mal|hallo|jetzt|por\ favor|porfa|hola|ahora|s'il\ (?:te|vous)\ plait|stp|svp|salut|bonjour|maintenant
    )(?=[\s,!:])[\s,!]*(?::\s+)?""".replace(r"\ ", r"\s+"),
    re.X,
)
_AFTER = re.compile(
    r"""(?:[\s,]+(?:please|pls|plz|thanks(?:\ a\ lot)?|thank\ you|thx|for\ me|now|right\ now|right\ away|asap
    |immediately|again|once\ more|bitte|danke|jetzt|mal|sofort|por\ favor|porfa|gracias|ahora
    |s'il\ (?:te|vous)\ plait|stp|svp|merci|maintenant
    |(?:can|could|would|will)\ you(?:\ please)?)|[.!?\s])$""".replace(r"\ ", r"\s+"),
    re.X,
)
_THANKS = re.compile(
    r"(?:[\s,.!?]+(?:please|pls|thanks|thank\s+you|thx|bitte|danke|merci|svp|stp|gracias|por\s+favor"
    r"|s'il\s+(?:te|vous)\s+plait))?[\s.!?]*$"
)
# "Would you mind restarting nginx" orders what "restart nginx" does.
_MIND = re.compile(r"(?:would|do)\s+you\s+mind\s+(?P<verb>\w+ing)\b")
_VERBS = {
    "adding": "add",
    "checking": "check",
    "copying": "copy",
    "creating": "create",
    "deleting": "delete",
    "executing": "execute",
    "fetching": "fetch",
    "listing": "list",
    "moving": "move",
    "reloading": "reload",
    "reminding": "remind",
    "removing": "remove",
    "renaming": "rename",
    "replacing": "replace",
    "restarting": "restart",
    "running": "run",
    "searching": "search",
    "showing": "show",
    "starting": "start",
    "stopping": "stop",
    "writing": "write",
}


@dataclass(frozen=True)
class Words:
    """An order without the politeness around it."""

    core: Said
    """Without polite words before and after."""
    open: Said
    """Without polite words before; the end as written, for text that is taken word for word."""
    free: Said
    """Without polite words before, and without thanks and a full stop after, for orders that end with free text."""
    is_question: bool
    """True if it ends with a question mark and nothing like "can you" explains it."""


def words(spoken: Said) -> Words:
    """The order itself."""
    spoken, asks = _opened(spoken.cut(0, len(spoken.raw)))
    start = 0
    while found := _BEFORE.match(spoken.marked, start):
        asks, start = asks or found["asks"] is not None, found.end()
    end, questioned = len(spoken.marked), False
    while found := _AFTER.search(spoken.marked, start, end):
        questioned = questioned or found.group() == "?"
        end = found.start()
    free = start + len(_THANKS.sub("", spoken.marked[start:]))
    whole = spoken.cut(start, len(spoken.marked))
    return Words(spoken.cut(start, end), whole, spoken.cut(start, free), questioned and not asks)


def _opened(spoken: Said) -> tuple[Said, bool]:
    found = _MIND.search(spoken.marked)
    if found is None or found["verb"] not in _VERBS or not _only_greets(spoken.marked[: found.start()]):
        return spoken, False
    return said(_VERBS[found["verb"]] + spoken.raw[found.end() :]), True


def _only_greets(before: str) -> bool:
    return re.fullmatch(rf"(?:{_BEFORE.pattern})*", before, re.X) is not None if before else True
