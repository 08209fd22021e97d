"""What a lane gets and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from laneway.domain.conversation import Message, World
from laneway.domain.job import Job
from laneway.domain.judgement import Classification
from laneway.store.questions import Question
from laneway.transcript import Turn


@dataclass(frozen=True, slots=True)
class Request:
    """Everything a lane may know of the work: the job, the words, and the judgement on them."""

    job: Job
    message: Message
    world: World
    turns: list[Turn]
    judged: Classification
    resumes: bool = False
    """Whether an earlier run of the job stopped at a question and left something to go on with."""
    host_mode: bool = False
    """Whether the principal asking lets commands run on the machine itself."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said to the user, and what is kept beside it in the job's result."""

    text: str
    result: dict[str, Any] = field(default_factory=dict)


class Lane(Protocol):
    """A way of doing work."""

    name: str

    async def run(self, request: Request) -> Answer | Question:
        """The work is done and its answer returned, or it stands at a question a person must answer first.

        Once the question is answered, the lane is run again, in another run if that takes longer than this one.
        """
        ...
