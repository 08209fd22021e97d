"""Ready answers for small talk, and the chat commands."""

from __future__ import annotations

from laneway.classify.rules import small_talk
from laneway.domain.bounded_text import bounded
from laneway.lanes.answer.commands import Commands
from laneway.lanes.contract import Answer, Request

READY = {
    "greeting": "Hello. Ask me something or tell me what to do; /help shows what I know.",
    "thanks": "You're welcome.",
    "farewell": "Goodbye.",
    "bare": "There is no open question of mine that this answers.",
    "noise": "I could not read that. /help shows what I understand.",
}
NO_MODEL_ASKED = (
    "This was sent in the mode ANSWER, which never calls a model, and I have no ready answer for it. "
    "Send it without a mode to have it worked on."
)


class AnswerLane:
    """Answers at once and never calls a model."""

    name = "answer"

    def __init__(self, commands: Commands) -> None:
        self._commands = commands

    async def run(self, request: Request) -> Answer:
        command = request.job.payload.get("command")
        if command is not None:
            return Answer(await self._commands.answer(str(command), request))
        kind = small_talk(bounded(request.message.text))
        if kind is not None:
            return Answer(READY[kind])
        return Answer(NO_MODEL_ASKED)
