"""What a lane gets and what it gives back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID

from pydantic_ai import AgentRunResult

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


@dataclass(frozen=True, slots=True)
class Wait:
    """The job goes on when these jobs, to which it handed work, have ended."""

    jobs: tuple[UUID, ...]


Take = Callable[..., Awaitable[AgentRunResult[Any] | Answer | Question | Wait]]
"""`(request, agent, prompt, asked)`: an agent of any lane takes its turns with tools, as one of the tools lane does."""


class Lane(Protocol):
    """A way of doing work."""

    name: str

    async def run(self, request: Request) -> Answer | Question | Wait:
        """The work is done and its answer returned, or it stands at a question a person must answer first.

        Once the question is answered, or the jobs waited for have ended, the lane is run again, in another run if
        that takes longer than this one.
        """
        ...
