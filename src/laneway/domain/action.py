"""What a tool call is judged to be: may it run, does it change anything, and what to tell the person who is asked."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Decision(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


_STRENGTH = {Decision.ALLOW: 0, Decision.ASK: 1, Decision.DENY: 2}


@dataclass(frozen=True, slots=True)
class Verdict:
    """May this exact action run? `rule` names what decided, `why` is a sentence for the person who reads it.

    `changes` says whether the action leaves anything different from before; only such an action needs an approval
    when a turn is tainted or a confirmation was called for.
    """

    decision: Decision
    rule: str
    why: str
    changes: bool = True

    def or_stricter(self, other: Verdict) -> Verdict:
        """The stricter of the two; of equals, this one."""
        return other if _STRENGTH[other.decision] > _STRENGTH[self.decision] else self


def allow(rule: str = "allowed", why: str = "", *, changes: bool = True) -> Verdict:
    return Verdict(Decision.ALLOW, rule, why, changes)


def ask(rule: str, why: str, *, changes: bool = True) -> Verdict:
    return Verdict(Decision.ASK, rule, why, changes)


def deny(rule: str, why: str, *, changes: bool = True) -> Verdict:
    return Verdict(Decision.DENY, rule, why, changes)
