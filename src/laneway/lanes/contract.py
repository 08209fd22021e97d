"""What a lane gets and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from laneway.domain.conversation import Message, World
from laneway.domain.job import Job
from laneway.domain.judgement import Classification
from laneway.transcript import Turn


@dataclass(frozen=True, slots=True)
class Request:
    """Everything a lane may know of the work: the job, the words, and the judgement on them."""

    job: Job
    message: Message
    world: World
    turns: list[Turn]
    judged: Classification


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said to the user, and what is kept beside it in the job's result."""

    text: str
    result: dict[str, Any] = field(default_factory=dict)


class Lane(Protocol):
    """A way of doing work."""

    name: str

    @property
    def acts(self) -> bool:
        """Whether anything in this lane can change the world; if so a confirmation may be asked first."""
        ...

    async def run(self, request: Request) -> Answer:
        """The work is done and its answer returned."""
        ...
