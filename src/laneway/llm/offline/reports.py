"""Reports ("the backup failed last night"): nothing is ordered, so what they are about is looked at, and no more."""

from __future__ import annotations

import re
from functools import partial
from typing import Any, Final

from laneway.language.tokens import fold
from laneway.llm.offline.kinds import PROGRAMS, SUBCOMMANDS
from laneway.llm.offline.orders import ORDERS, Offer, Order
from laneway.llm.offline.outcomes import Outcome
from laneway.llm.offline.server_questions import LINES_TO_SEARCH, describe_facts, facts_order

REMARK: Final = (
    "I find no order or question in that, so nothing was done. If something is wrong, name what: a service, the disk,"
    " the memory, the network, a log."
)
LOOKED: Final = "I read that as a report and looked, changing nothing."
NAME_IT: Final = "For more, ask “is nginx running?” or “any errors in the logs?”, or say “fetch https://example.com”."

_LONGEST: Final = 400
_WORD: Final = re.compile(r"[a-z][\w-]*\w")
# A report has a subject and a verb; what begins with a verb is an order, and what asks or sets a condition no report.
_STATEMENT: Final = re.compile(
    r"^(?:the|our|my|your|this|that|these|those|an?|some\w*|every\w*|no|nothing|we|it|they|he|she|i|there|too|lots"
    r"|people|users|customers)\b"
    r"|\b(?:is|are|was|were|am|has|have|had|does|do|did|can|cannot|keeps?)\b|n't\b|\w{3}ed\b"
)
_OTHERWISE: Final = re.compile(
    r"\?|\b(?:if|unless|whether|until|whenever|should|would|could|shall|must|how|why|what|which|who"
    r"|warn|alert|notify|(?:tell|let|ask|remind) me|i(?:'d| would)? (?:want|need|like))\b"
)
_VERBS: Final = {
    verb
    for row in ORDERS
    if (first := re.match(r"[a-z|]+(?=[ :]|\Z)", row.shape.written))
    for verb in first[0].split("|")
    if verb not in ("the", "a")
}
_ORDER: Final = re.compile(
    r"(?:^|[,;.!:]|\b(?:and|then|also|so|please|just|(?:need|needs|have|has|got|wants?|going) to)\b)\s*"
    rf"(?:please|don't|do not|never|fix|{'|'.join(sorted(_VERBS))})\b(?! (?:is|are|was|were|has|have)\b)"
)
CHECKS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("disk disks space storage drive partition volume filesystem", ("disk",)),
    ("memory ram swap", ("memory", "swap", "processes")),
    ("cpu processor load fan slow sluggish server machine", ("load", "cpu", "memory", "disk", "processes")),
    ("network internet connection connections dns vpn", ("network",)),
    ("log logs error errors timeout timeouts", ("logs",)),
    ("backup backups export import cron job jobs deploy deployment build update queue", ("disk",)),
    ("website site page shop api app login mail email emails database certificate", ("load", "memory", "disk")),
)
"""The words a report is about, and what is looked at for them."""
_VAGUE: Final = CHECKS[-2:]


def is_report(words: str) -> bool:
    """Whether the words are a statement by their grammar: they order nothing, ask nothing and set no condition."""
    text = " ".join(fold(words[: _LONGEST + 1]).split())
    if len(text) > _LONGEST or _OTHERWISE.search(text) or _ORDER.search(text):
        return False
    # A program that does something, and no command of one.
    first = _WORD.findall(text)[:3]
    acts = len(first) > 2 and first[0] in PROGRAMS and first[1] not in _VERBS | SUBCOMMANDS
    return acts or _STATEMENT.search(text) is not None


def read_report(words: str, offer: Offer, *, is_remark: bool) -> list[Order] | None:
    """The look at what the report is about; None if these words are none or name nothing that can be looked at."""
    text = " ".join(fold(words[: _LONGEST + 1]).split())
    if len(text) > _LONGEST or "server_info" not in offer.tools:
        return None
    if not (is_remark or is_report(text)):
        return None
    named = _WORD.findall(text)
    program = next((word for word in named if word in PROGRAMS), None)
    fitting = [check for check in CHECKS if not set(named).isdisjoint(check[0].split())]
    topics = (["processes"] if program else []) + [topic for _, looked in fitting for topic in looked]
    if not topics:
        return None
    more: dict[str, Any] = {"lines": LINES_TO_SEARCH} if "logs" in topics else {}
    more |= {"process": program} if program else {}
    is_vague = program is None and all(check in _VAGUE for check in fitting)
    return facts_order(offer, list(dict.fromkeys(topics)), partial(_tell, is_vague=is_vague), **more)


def _tell(outcome: Outcome, *, is_vague: bool) -> str:
    return "\n".join([LOOKED, describe_facts(outcome, only_errors=True), *([NAME_IT] if is_vague else [])])
