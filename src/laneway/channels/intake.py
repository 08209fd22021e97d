"""Every door ends here: check, recognise chat commands, write down, acknowledge."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, replace
from typing import Protocol

from laneway.channels.answers import Said, answered
from laneway.domain.conversation import Incoming, IncomingFile, Principal, Receipt, Role
from laneway.domain.job import NODE_OF, JobMode, JobStatus, Scope
from laneway.domain.judgement import Approval, ApprovalState, Intent
from laneway.engine.breath import Breath
from laneway.errors import BadInput, TooLarge
from laneway.lanes.workflow.secrets import check_secrets
from laneway.store import approvals, intake, jobs, permissions, senders
from laneway.store.artifacts import Artifacts
from laneway.store.database import Connection, Database

COMMAND = re.compile(r"/(?P<name>[a-z]{1,32})(?:@\w+)?(?:\s.*)?", re.IGNORECASE | re.DOTALL)
KNOWN = {"help", "new", "status", "budget", "stop", "start", "undo"}
PLAN = re.compile(r"/plan\s+(?P<what>.+)", re.IGNORECASE | re.DOTALL)
LONGEST_ID = 200


@dataclass(frozen=True, slots=True)
class Limits:
    text_bytes: int
    file_bytes: int
    per_minute: int | None = None
    """Messages taken from the owner or an operator in a minute; None: as many as come."""
    customer_per_minute: int | None = None

    def pace(self, principal: Principal) -> int | None:
        """How many messages of this sender are taken in a minute."""
        return self.customer_per_minute if principal.role is Role.CUSTOMER else self.per_minute


class Phrase(Protocol):
    """A message that starts something by its words alone: how it is written down, and what is done with it then."""

    incoming: Incoming

    async def begun(self, tx: Connection, receipt: Receipt) -> None: ...


Spoken = Callable[[Connection, Incoming], Awaitable[Phrase | None]]


class Intake:
    """Writes messages down, once each, or says clearly why not."""

    def __init__(
        self, db: Database, lanes: Collection[str], limits: Limits, originals: Artifacts | None = None,
        breath: Breath | None = None, spoken: Spoken | None = None,
    ) -> None:  # fmt: skip
        self._db, self._lanes, self._limits, self._originals = db, frozenset(lanes), limits, originals
        self.breath, self._spoken = breath or Breath(), spoken

    def paced(self, per_minute: int) -> Intake:
        """The same, for senders that may write so often: programs, not people."""
        limits = replace(self._limits, per_minute=per_minute, customer_per_minute=per_minute)
        # A queue waits as long as it has to: what is taken from it holds up no jobs, as people at a door do.
        return Intake(self._db, self._lanes, limits, self._originals)

    async def receive(self, incoming: Incoming) -> Receipt:
        """The message and its job are committed, or it was here before; bad input wrote nothing."""
        self.check(incoming)
        if self._originals is not None:
            # Before the transaction: a slow shelf must not hold up the thread.
            incoming = replace(incoming, files=await self._originals.lay_all(incoming.files))
        with self.breath.door():
            async with self._db.transaction() as tx:
                return await self.write(tx, incoming)

    async def write(self, tx: Connection, incoming: Incoming) -> Receipt:
        """Within `tx`, the checked message and its job are written, and what it answers is answered."""
        incoming, aside = _recognised(incoming)
        open_ones = await approvals.open_questions(tx, incoming.channel, incoming.thread, lock=True)
        asked = open_ones[0] if open_ones else None
        said = answered(asked, incoming) if asked else None
        if asked is not None and said is not None:
            # A choice only says what was meant; a yes lets something happen, so it must be meant for this question.
            unread = not asked.choices and await approvals.is_fresh(tx, asked)
            command = "chosen" if len(open_ones) == 1 and not unread else "which"
            said = said if command == "chosen" else None
            given = {**incoming.payload, "command": command}
            incoming, aside = replace(incoming, mode=JobMode.ANSWER, lane="answer", payload=given), True
        pace = self._limits.pace(incoming.principal)
        # Whoever writes too fast can still stop what they began and answer what they are asked.
        if pace is not None and not (aside and incoming.principal.role is not Role.CUSTOMER):
            await senders.check(tx, incoming, pace)
        phrase = await self._spoken(tx, incoming) if self._spoken and not aside and said is None else None
        if phrase is not None:
            # A run is nobody's turn in the conversation: it may wait for days, and asks beside other questions.
            receipt = await intake.write(tx, phrase.incoming, aside=True, scope=Scope.PROACTIVE)
            if not receipt.duplicate:
                await phrase.begun(tx, receipt)
            return receipt
        receipt = await intake.write(tx, incoming, aside=aside)
        if receipt.duplicate:
            return receipt
        if incoming.payload.get("command") == "stop":
            await _stop_thread(tx, receipt)
        if asked is not None and said is not None:
            await _answer(tx, asked, said, incoming.principal)
        elif asked is not None and asked.choices and not aside:
            # Whoever says something new instead of choosing has moved on.
            await approvals.supersede(tx, asked)
        return receipt

    def check(self, incoming: Incoming) -> None:
        """Returns only if the message can be written down and worked on."""
        _check_text(incoming, self._limits)
        for what, name in ((incoming.thread, "thread"), (incoming.external_id, "id")):
            if not what or len(what) > LONGEST_ID or not what.isprintable():
                raise BadInput(f"The {name} must be 1 to {LONGEST_ID} printable characters.", hint="Choose another.")
        if incoming.mode not in JobMode.__members__:
            raise BadInput(f"Unknown mode `{incoming.mode[:40]}`.", hint=f"Known: {', '.join(JobMode)}.")
        if incoming.lane is not None and incoming.lane not in self._lanes:
            raise BadInput(f"Unknown lane `{incoming.lane[:40]}`.", hint=f"Known: {', '.join(sorted(self._lanes))}.")
        if incoming.mode == JobMode.EXECUTE or "classification" in incoming.payload:
            _check_classification(incoming.payload.get("classification"))
        for key in ("command", "stopped", "waiting", "again_of", "workflow_run", "offer", NODE_OF):
            if key in incoming.payload:
                raise BadInput(f"`payload.{key}` is ours to set.", hint="Send the command as text, like `/stop`.")
        check_secrets(incoming)


def _check_text(incoming: Incoming, limits: Limits) -> None:
    if not incoming.text.strip() and not incoming.files:
        raise BadInput("The message is empty.", hint="Send some text or a file.")
    if "\x00" in incoming.text:
        raise BadInput("The text holds a NUL character.", hint="Send plain text.")
    try:
        size = len(incoming.text.encode())
    except UnicodeEncodeError:
        raise BadInput("The text is not valid Unicode.", hint="Send it as UTF-8.") from None
    if size > limits.text_bytes:
        raise TooLarge(
            f"The text has {size} bytes; at most {limits.text_bytes} are taken.", hint="Send it as a file, or shorter."
        )
    for file in incoming.files:
        # What still lies with its provider is measured when it is fetched.
        if isinstance(file, IncomingFile) and len(file.content) > limits.file_bytes:
            raise TooLarge(
                f"{file.name[:80]} has {len(file.content)} bytes; at most {limits.file_bytes} are taken.",
                hint="Send a smaller file.",
            )


def _check_classification(given: object) -> None:
    if not isinstance(given, dict) or given.get("intent") not in list(Intent):
        raise BadInput(
            "`payload.classification` must have an intent of question, command or other; the mode EXECUTE needs it.",
            hint="Send without a mode to have it classified here.",
        )
    if not isinstance(given.get("needs_confirmation", False), bool):
        raise BadInput("`payload.classification.needs_confirmation` must be true or false.", hint="Correct it.")
    confidence = given.get("confidence", 1.0)
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise BadInput("`payload.classification.confidence` must be a number from 0 to 1.", hint="Correct it.")


def worded(incoming: Incoming) -> str:
    """The text as it is written down."""
    return _recognised(incoming)[0].text


def _recognised(incoming: Incoming) -> tuple[Incoming, bool]:
    """The message with what its first word asks for, and whether it goes aside of the thread's order."""
    text = incoming.text.strip()
    plan = PLAN.fullmatch(text)
    if plan:
        return replace(incoming, mode=JobMode.PLAN, text=plan["what"]), False
    command = COMMAND.fullmatch(text)
    if command:
        name = command["name"].lower()
        given = {**incoming.payload, "command": name if name in KNOWN else f"unknown:{name}"}
        return replace(incoming, mode=JobMode.ANSWER, lane="answer", payload=given), name != "new"
    return incoming, False


async def _stop_thread(tx: Connection, receipt: Receipt) -> None:
    """Everything open in the thread has been told to stop, and the command's own job knows what that was."""
    stopped = await jobs.stop_thread(tx, receipt.thread_id)
    waiting = [str(job.id) for job in stopped if job.status is JobStatus.WAITING]
    await jobs.note(tx, receipt.job_id, {"stopped": [str(job.id) for job in stopped], "waiting": waiting})


async def _answer(tx: Connection, asked: Approval, said: Said, principal: Principal) -> None:
    answer = await approvals.answer(tx, asked.id, said.state, principal, said.choice)
    if said.always and answer.state is ApprovalState.APPROVED:
        await permissions.give(tx, asked, principal.id)
