"""Reads whether a message answers the question that is open in its thread: a choice, or a typed yes, no or always."""

from __future__ import annotations

from dataclasses import dataclass

from laneway.domain.conversation import Incoming
from laneway.domain.job import JobMode
from laneway.domain.judgement import Approval, ApprovalState


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word.strip() for line in lines for word in line.split("|"))


YES = _words(
    "yes|y|yep|yeah|yup|ok|okay|sure|approve|approved|confirm|confirmed|go|proceed|do it|go ahead|yes please",
    "please do|yes do it|yes, do it|yes, please|ja|jawohl|ja bitte|mach das|oui|vas-y|si|sí|adelante|sim",
    "да|так|はい|是|evet|👍|✅",
)
NO = _words(
    "no|n|nope|nah|reject|rejected|deny|denied|cancel|stop|don't|dont|no thanks|no, thanks",
    "do not|don't do it|do not do it|nein|nein danke|nicht|non|non merci|no gracias|não|nie|niet|нет|いいえ|否|👎|❌",
)
ALWAYS = _words("always|always allow|always yes|yes always|yes, always|immer|toujours|siempre")


@dataclass(frozen=True, slots=True)
class Said:
    """An answer: yes or no, the choice made, and whether it holds for the next times as well."""

    state: ApprovalState
    choice: str | None = None
    always: bool = False


def answered(asked: Approval, incoming: Incoming) -> Said | None:
    """What the message answers, if it is nothing but an answer by somebody who may give it."""
    if incoming.principal.role not in asked.may_answer or incoming.mode != JobMode.AUTO or incoming.lane is not None:
        return None
    if incoming.files or any(incoming.meta.get(key) for key in ("forwarded", "voice", "sources")):
        return None
    said = " ".join(incoming.text.strip().strip(".!() ").casefold().split())
    if asked.choices:
        return _chosen(asked, said)
    if said in ALWAYS:
        return Said(ApprovalState.APPROVED, always=True)
    if said in YES:
        return Said(ApprovalState.APPROVED)
    return Said(ApprovalState.REJECTED) if said in NO else None


def _chosen(asked: Approval, said: str) -> Said | None:
    """The choice a message makes: by its number, its words or its label."""
    for number, choice in enumerate(asked.choices, 1):
        if said in (str(number), choice["label"].casefold(), choice["text"].casefold()):
            return Said(ApprovalState.APPROVED, choice["label"])
    return None
