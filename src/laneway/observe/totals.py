"""What a session adds up to: turns, messages, tool calls, tokens, and how sure that is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from laneway.domain.session import NO_TOKENS, Tokens


@dataclass(slots=True)
class Totals:
    """The counts of one session, by the rules in `docs/sessions.md`."""

    user_turns: int = 0
    user_commands: int = 0
    user_injected: int = 0
    sidechain_prompts: int = 0
    assistant_messages: int = 0
    tool_calls: Counter[str] = field(default_factory=Counter)
    tool_errors: int = 0
    tool_unanswered: int = 0
    tokens: Tokens = NO_TOKENS
    tokens_naive: Tokens = NO_TOKENS
    tokens_visible: Tokens | None = None
    tokens_complete: bool = True
    uncertain: list[str] = field(default_factory=list)
    """Why the tokens may be wrong: what the log does not say."""


class Calls:
    """Tool calls, each counted once by its id, with their ends."""

    def __init__(self) -> None:
        self.by_name: Counter[str] = Counter()
        self.failed: set[str] = set()
        self._open: set[str] = set()
        self._known: set[str] = set()
        self._ended: set[str] = set()

    def called(self, call_id: Any, name: Any) -> bool:
        """The call is counted, unless its id was already; True if it is new."""
        if type(call_id) is str:
            if call_id in self._known:
                return False
            self._known.add(call_id)
            if call_id not in self._ended:
                self._open.add(call_id)
        self.by_name[name if type(name) is str and name else "?"] += 1
        return True

    def ended(self, call_id: Any, *, failed: bool) -> bool:
        """The call has a result; True if it had none before."""
        if type(call_id) is not str:
            return False
        if failed:
            self.failed.add(call_id)
        if call_id in self._ended:
            return False
        self._ended.add(call_id)
        self._open.discard(call_id)
        return True

    @property
    def unanswered(self) -> int:
        return len(self._open)

    def into(self, totals: Totals) -> None:
        """The totals have these calls."""
        totals.tool_calls = self.by_name
        totals.tool_errors = len(self.failed)
        totals.tool_unanswered = self.unanswered


class Times:
    """The first and the last time a session names, spelt as it spells them."""

    def __init__(self) -> None:
        self.first: tuple[datetime, str] | None = None
        self.last: tuple[datetime, str] | None = None

    def see(self, stamp: Any) -> datetime | None:
        """The time as a moment, or None if it is none; the earliest and the latest are kept."""
        moment = moment_of(stamp)
        if moment is None:
            return None
        if self.last is None or moment >= self.last[0]:
            self.last = (moment, spelt(stamp, moment))
        if self.first is None or moment < self.first[0]:
            self.first = (moment, spelt(stamp, moment))
        return moment


def moment_of(stamp: Any) -> datetime | None:
    """A time as ISO text or as milliseconds since 1970, in UTC; None if it is neither."""
    try:
        if type(stamp) is str:
            moment = datetime.fromisoformat(stamp)
            return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        if type(stamp) in (int, float):
            return datetime.fromtimestamp(stamp / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def spelt(stamp: Any, moment: datetime) -> str:
    """The time as the log spells it; a number as ISO text."""
    return stamp if type(stamp) is str else moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
