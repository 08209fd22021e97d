"""One cascade for every decision: the cheapest that is sure decides. No tier can make a job fail.

Exact matches and rules → the first encoder → both encoders → what the small model said before → the small model.
What is still unsure is said to be: then a person is asked, and without an answer the safe label counts.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from laneway.classify import rules, wording
from laneway.classify.at_hand import AtHand
from laneway.classify.context import LONGEST_SHORT, meant, stands_alone
from laneway.classify.context_learned import Come
from laneway.classify.decided import POSSIBLE, SURE, Decided, locally, of_model
from laneway.classify.local import LocalClassifier
from laneway.classify.memory import Memory
from laneway.classify.model import Said, SmallModel
from laneway.classify.spoken import beyond
from laneway.classify.taxonomy import Taxonomy, load
from laneway.domain.bounded_text import bounded
from laneway.domain.conversation import World
from laneway.domain.judgement import Classification, Intent
from laneway.errors import LanewayError, LeaseLost
from laneway.llm.offline.reports import is_report
from laneway.store.questions import Question
from laneway.transcript import Turn, bounded_turns

NEAR = 4
MESSAGE, LANE, FLAG = "message", "lane", "needs_confirmation"
NOTHING = AtHand()
_log = logging.getLogger("laneway.classify")


class Cascade:
    """Judges messages, and any text by any taxonomy."""

    def __init__(
        self,
        small_model: SmallModel | None = None,
        local: LocalClassifier | None = None,
        memory: Memory | None = None,
        taxonomies: Mapping[str, Taxonomy] | None = None,
    ) -> None:
        self._small_model, self._local, self._memory = small_model, local, memory
        self.taxonomies = load() if taxonomies is None else taxonomies

    async def judge(self, turns: Sequence[Turn], world: World = World.OWNER, near: AtHand = NOTHING) -> Classification:
        """The judgement on the last turn, with who made it and how long it took."""
        began, whole, turns = time.perf_counter(), turns[-1].text, bounded_turns(turns)
        if near.runner or near.taken_up(turns[-1].text) or await self._about_its_tables(turns[-1].text, near):
            return await self._for_runner(turns, world, near)
        meaning = meant(turns)
        known = meaning.label or ("command" if meaning.order else None)
        come, said = await self._come_to(turns), beyond(meaning.text, turns[-1].text)
        decided = await self.decide(
            MESSAGE, meaning.text, said=said, earlier=turns[:-1], known=known, come=come, world=world
        )
        if decided.choices and decided.decided_by not in ("model", "memory") and is_report(meaning.text):
            # Nobody is asked what a statement wants done: it is looked into, and nothing is changed.
            decided = await self.decide(MESSAGE, meaning.text, said=said, known=Intent.OTHER, model=False)
        intent = Intent(decided.label)
        confirm = decided.flags.get(FLAG, False) if meaning.confirm is None else meaning.confirm
        # Whoever sees a change in it is heard: the rules, the words, or what was learned.
        confirm = confirm or (come is not None and come.confirm)
        lane, perhaps = ("answer", None) if intent is Intent.OTHER else await self._lane(meaning.text, near)
        return Classification(
            intent,
            decided.summary,
            decided.plan,
            # What was not read may ask for a change.
            whole != turns[-1].text or (confirm and intent is Intent.COMMAND),
            round(decided.confidence, 4),
            lane=lane,
            decided_by=decided.decided_by,
            runner_up=perhaps or decided.runner_up,
            milliseconds=round((time.perf_counter() - began) * 1000, 3),
            choices=decided.choices,
        )

    async def decide(
        self,
        name: str,
        text: str,
        *,
        said: str = "",
        earlier: Sequence[Turn] = (),
        known: str | None = None,
        come: Come | None = None,
        model: bool = True,
        world: World = World.OWNER,
    ) -> Decided:
        """The decision of one taxonomy on a text, or what it comes to in its place; without `model`, none is asked.

        `said` are the user's own words, where the text is only what they refer to.
        """
        began = time.perf_counter()
        text = bounded(text)
        taxonomy = self._local.taxonomy(name) if self._local is not None else self.taxonomies[name]
        decided = await self._cheaply(taxonomy, text, come.label if come else known)
        if come is not None:
            decided = replace(decided, confidence=come.confidence, sure=come.confidence >= SURE, top=come.top)
        if model and not decided.sure and self._small_model is not None:
            decided = await self._by_model(self._small_model, taxonomy, text, said, earlier, decided, world)
        return replace(
            decided,
            summary=decided.summary or wording.summary(name, decided.label, text, said),
            plan=decided.plan or wording.plan(name, decided.label, text, said),
            milliseconds=round((time.perf_counter() - began) * 1000, 3),
        )

    async def prepare(self, name: str) -> None:
        """The taxonomy can be judged by at once."""
        if self._local is not None and not self._local.ready(name):
            await asyncio.to_thread(self._local.warm, [name], 2)

    def question(self, turns: Sequence[Turn], judged: Classification, seconds: int) -> Question:
        """What a person is asked about the last turn: two or three choices, with numbers to answer by."""
        taxonomy = self.taxonomies[MESSAGE]
        choices = [{"label": name, "text": taxonomy.label(name).offered} for name in judged.choices]
        lines = [f"{number}. {choice['text']}" for number, choice in enumerate(choices, 1)]
        text = "\n".join(["I am not sure what you want. Answer with a number:", *lines])
        action = {"message": str(turns[-1].message_id), "meaning": judged.choices}
        return Question("meaning", action, f"What was meant by: {judged.summary}", text, seconds, choices)

    async def settled(self, turns: Sequence[Turn], judged: Classification, choice: str | None) -> Classification:
        """The judgement once a person chose; without a choice, in its safe reading."""
        label, whole, turns = choice or self.taxonomies[MESSAGE].fallback, turns[-1].text, bounded_turns(turns)
        text = meant(turns).text
        found = await self.decide(MESSAGE, text, said=beyond(text, turns[-1].text), known=label, model=False)
        intent = Intent(label)
        return replace(
            judged,
            intent=intent,
            summary=found.summary,
            plan=found.plan,
            needs_confirmation=whole != turns[-1].text or (found.flags.get(FLAG, False) and intent is Intent.COMMAND),
            confidence=1.0 if choice else judged.confidence,
            lane="answer" if intent is Intent.OTHER else await self._kept_lane(judged, text),
            decided_by="person" if choice else "default",
            runner_up=None,
            choices=[],
        )

    async def _come_to(self, turns: Sequence[Turn]) -> Come | None:
        """What a short message comes to after what was said; None if it stands alone or nothing was learned."""
        if stands_alone(turns) or self._local is None or not self._local.ready(MESSAGE):
            return None
        return await asyncio.to_thread(self._local.come_to, turns)

    async def _for_runner(self, turns: Sequence[Turn], world: World, near: AtHand) -> Classification:
        """Patch or execute, by the taxonomy `lane`; not sure of a lasting change = done once, and offered as one."""
        text = turns[-1].text
        if (lane := near.taken_up(text)) is not None:
            # A person's own word for it, right after the offer or the table.
            found = Decided("patch" if lane == "workflow" else "execute", 1.0, "rules", sure=True)
        else:
            await self._ready(LANE)
            found = await self.decide(LANE, text, earlier=near.context, world=world)
        perhaps = not found.sure and any(name == "patch" and p >= POSSIBLE for name, p in found.top)
        # Whoever sends a workflow along and names a step of it means that; it is shown before it is stored.
        lasting = (found.label == "patch" and found.sure) or (perhaps and near.names_its_steps(text))
        perhaps = perhaps and not lasting
        summary = found.summary or wording.summary(LANE, found.label, text)
        return Classification(
            Intent.COMMAND if lasting else Intent.QUESTION,
            summary,
            found.plan or wording.plan(LANE, found.label, text),
            False,
            round(found.confidence, 4),
            lane="workflow" if lasting else "pipeline",
            decided_by=found.decided_by,
            runner_up="workflow" if perhaps else None,
            milliseconds=found.milliseconds,
        )

    async def _about_its_tables(self, text: str, near: AtHand) -> bool:
        """Whether a message that came with a table asks for work on it; a file alone may be meant for other things."""
        if not near.tables or (near.job is not None and near.job.lane is not None):
            return False
        if near.names_its_tables(text):
            return True
        if self._local is None:
            return False
        await self._ready("route")
        if not self._local.ready("route"):
            return False
        found = await asyncio.to_thread(self._local.judge, "route", text, None, 1)
        return found.label == "pipeline" and not found.unsure

    async def _ready(self, name: str) -> None:
        """The taxonomy can be judged by: in the first seconds of a process it is waited for."""
        if self._local is not None and name in self.taxonomies and not self._local.ready(name):
            await asyncio.to_thread(self._local.warm, [name], 1)

    async def _kept_lane(self, judged: Classification, text: str) -> str:
        return judged.lane if judged.lane != "answer" else (await self._lane(text, NOTHING))[0]

    async def _lane(self, text: str, near: AtHand) -> tuple[str, str | None]:
        """The lane for what a message asks: by the taxonomy `route`, refined by `lane`; in doubt, the tools.

        The second is what it may be as well: a lasting change that nobody is sure of is not made, but offered.
        """
        if self._local is None:
            return "tools", None
        await self._ready("route")
        if not self._local.ready("route"):
            return "tools", None
        # The second encoder is not loaded for this: whoever is unsure here goes where all can be done.
        found = await asyncio.to_thread(self._local.judge, "route", text, None, 1)
        if found.unsure:
            return "tools", None
        if found.label not in ("pipeline", "workflow") or not self._local.ready(LANE):
            return ("tools" if found.label == "pipeline" and not near.rows else found.label), None
        lasting = await asyncio.to_thread(self._local.judge, LANE, text)
        if lasting.label == "patch" and not lasting.unsure:
            return "workflow", None
        # A lasting change is never made on a guess; and without rows there is nothing to work on.
        return ("pipeline" if near.rows else "tools"), "workflow" if lasting.label == "patch" else None

    async def _cheaply(self, taxonomy: Taxonomy, text: str, known: str | None) -> Decided:
        """What rules and the local classifier say."""
        if self._local is not None and self._local.ready(taxonomy.name):
            return locally(await asyncio.to_thread(self._local.judge, taxonomy.name, text, known))
        if taxonomy.name != MESSAGE:
            return Decided(taxonomy.fallback, 0.0, "default", sure=False)
        guess = rules.judge(text)
        label, sure = (known, True) if known else (guess.intent.value, guess.confidence >= SURE)
        # An order that was taken up word for word may change anything.
        confirm = guess.needs_confirmation or (known == "command" and guess.intent is not Intent.COMMAND)
        return Decided(label, guess.confidence, "rules", sure, flags={FLAG: confirm and label == "command"})

    async def _by_model(
        self,
        model: SmallModel,
        taxonomy: Taxonomy,
        text: str,
        said: str,
        earlier: Sequence[Turn],
        cheap: Decided,
        world: World,
    ) -> Decided:
        # What depends on the turns before it must not be remembered as if it stood alone.
        memory = self._memory if not earlier or (not said and len(text.split()) > LONGEST_SHORT) else None
        meaning = await asyncio.to_thread(self._local.meaning, text) if self._local is not None else None
        try:
            told = await memory.recall(taxonomy, text, meaning, likely=cheap.label, world=world) if memory else None
            if told is not None:
                return of_model(told, cheap, "memory", await self._flags(taxonomy, text, told, cheap))
            near = await self._nearest(taxonomy.name, text)
            told = await model.judge(taxonomy, said or text, earlier, near, about=text if said else "")
            if memory is not None:
                # Its words may tell of the turns before it, which are nobody else's.
                kept = replace(told, summary="", plan="") if earlier else told
                await memory.keep(taxonomy, text, meaning, kept, world)
        except LeaseLost:
            raise
        except LanewayError as error:
            # A judgement we are unsure of is better than a message without an answer.
            _log.warning("The small model did not judge, the %s judgement stands: %s", cheap.decided_by, error)
            return cheap
        return of_model(told, cheap, "model", await self._flags(taxonomy, text, told, cheap))

    async def _flags(self, taxonomy: Taxonomy, text: str, said: Said, cheap: Decided) -> dict[str, bool]:
        """The flags of a judgement once the model named its label: raised by the model, or by the cheap tiers."""
        found = cheap.flags
        if said.label != cheap.label and self._local is not None and self._local.ready(taxonomy.name):
            found = (await asyncio.to_thread(self._local.judge, taxonomy.name, text, said.label)).flags
        # Caution stays: no text can talk a model out of a confirmation that grammar asks for.
        raised = {name for name, answer in [*said.flags.items(), *found.items()] if answer}
        return {flag.name: flag.name in raised and flag.applies_to == said.label for flag in taxonomy.flags}

    async def _nearest(self, name: str, text: str) -> list[tuple[str, str]]:
        if self._local is None:
            return []
        return await asyncio.to_thread(self._local.nearest, name, text, NEAR)
