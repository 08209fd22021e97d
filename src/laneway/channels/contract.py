"""What a channel must be able to do to deliver."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from laneway.domain.conversation import PULLED
from laneway.domain.judgement import OutboxRow
from laneway.errors import PermanentFault

if TYPE_CHECKING:
    from laneway.channels.door import Door

__all__ = ["PULLED", "SENT_AGAIN", "Button", "Channel", "Duty", "Part"]

SENT_AGAIN = "(Sent again after an interruption; you may already have this.)\n"
Duty = Callable[[], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class Button:
    """Something to press under a message; what pressing it does is in `channels/presses.py`."""

    text: str
    data: str


@dataclass(frozen=True, slots=True)
class Part:
    """One message of the provider: a long reply is several."""

    text: str
    body: dict[str, Any] = field(default_factory=dict)
    buttons: tuple[Button, ...] = ()


class Channel(ABC):
    """A door that replies are pushed through. Only `send` has to be written; the rest is for those who can more."""

    name: str
    door: Door | None = None
    """Where what the channel hears by itself is taken; the app puts it here before anything begins."""

    def parts(self, row: OutboxRow) -> Sequence[Part]:
        """The messages that make up the reply, at least one; the same row gives the same parts, always."""
        return [Part(row.text)]

    @abstractmethod
    async def send(self, row: OutboxRow, part: Part, again: bool) -> dict[str, Any]:
        """The provider has taken the part, and its receipt is returned, with its id as `id`.

        A part that is sent `again` may have arrived before and says so with SENT_AGAIN. TransientFault means that the
        provider certainly has not taken it and may be asked again; UncertainFault that it may have taken it;
        PermanentFault that it never will.
        """

    async def check(self) -> None:
        """Returns if the provider answers now; asked before something that may have arrived is sent again."""
        return

    async def trouble(self) -> str | None:
        """What is wrong with the provider at this moment, in one sentence; None if nothing is, or nobody looked."""
        return None

    async def fetch(self, source: dict[str, Any], most: int) -> bytes:
        """The content of a file that lies with the provider, at most `most` bytes."""
        raise PermanentFault(f"{self.name} hands out no files.")

    async def tell(self, address: str, text: str) -> None:
        """A stranger has been told something, if that was possible; it is no reply, and nobody waits for it."""
        return

    async def settle(self, row: OutboxRow, receipts: Sequence[dict[str, Any]], outcome: str) -> None:
        """The question that the reply put is answered: its buttons are gone, if the provider can do that."""
        return

    def duties(self) -> Sequence[Duty]:
        """What one process has to do all the time for this channel; each runs until it is cancelled."""
        return ()

    async def close(self) -> None:
        """Nothing of the channel is open any more."""
        return
