"""Any text, judged by any taxonomy, as messages are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from laneway.classify.cascade import FLAG, MESSAGE
from laneway.classify.context import Meaning, meant
from laneway.classify.spoken import beyond
from laneway.domain.conversation import Author
from laneway.domain.ids import new_id
from laneway.errors import BadInput
from laneway.llm.meter import Account, charged_to
from laneway.transcript import Turn, bounded_turns
from laneway.web.gateway import Here, Me

router = APIRouter(tags=["classification"])


class TurnPosted(BaseModel):
    model_config = ConfigDict(extra="forbid")

    author: Author
    text: str = Field(max_length=20_000)


class Asked(BaseModel):
    model_config = ConfigDict(extra="forbid")

    taxonomy: str = Field(description="message, lane, function, secretary, route or one of your own.")
    text: str | None = Field(None, min_length=1, max_length=20_000)
    turns: list[TurnPosted] = Field(
        [],
        max_length=200,
        description="Instead of `text`, for the taxonomy message: a conversation, judged by its last.",
    )
    model: bool = Field(True, description="Whether the small model may be asked where the rest is unsure.")


class DecidedShape(BaseModel):
    label: str
    flags: dict[str, bool] = Field(description="Each flag of the taxonomy, raised or not.")
    summary: str
    plan: str
    confidence: float
    decided_by: str
    unsure: bool
    safe: str = Field(description="The label to go by: the safe one where nobody is sure.")
    top: list[tuple[str, float]]
    ms: float


@router.post("/classify", summary="Judge a text by a taxonomy, with all that was learnt")
async def classify(here: Here, me: Me, asked: Asked) -> DecidedShape:
    cascade = here.app.cascade
    taxonomy = cascade.taxonomies.get(asked.taxonomy)
    if taxonomy is None:
        names = ", ".join(sorted(cascade.taxonomies))
        raise BadInput(f"There is no taxonomy `{asked.taxonomy[:60]}`.", hint=f"There are {names}.")
    turns = bounded_turns([Turn(new_id(), turn.author, turn.text) for turn in asked.turns])
    meaning = _meaning(asked, turns)
    await cascade.prepare(asked.taxonomy)
    with charged_to(Account(principal=me.id, lane="classify", world=me.world)):
        known = meaning.label or ("command" if meaning.order else None)
        said = beyond(meaning.text, turns[-1].text) if turns else ""
        found = await cascade.decide(
            asked.taxonomy, meaning.text, said=said, earlier=turns[:-1], known=known, model=asked.model
        )
    if turns:
        confirm = found.flags.get(FLAG, False) if meaning.confirm is None else meaning.confirm
        found = replace(found, flags={**found.flags, FLAG: confirm and found.label == "command"})
    return DecidedShape(
        label=found.label,
        flags={flag.name: found.flags.get(flag.name, False) for flag in taxonomy.flags},
        summary=found.summary,
        plan=found.plan,
        confidence=round(found.confidence, 4),
        decided_by=found.decided_by,
        unsure=not found.sure,
        safe=found.label if found.sure else taxonomy.fallback,
        top=[(label, round(share, 4)) for label, share in found.top],
        ms=found.milliseconds,
    )


def _meaning(asked: Asked, turns: Sequence[Turn]) -> Meaning:
    """What is to be judged: the text, or the last turn after what was said before it."""
    if (asked.text is None) is not bool(turns):
        raise BadInput("Give either `text` or `turns`.", hint="`turns` are for the taxonomy message.")
    if not turns:
        return Meaning(asked.text or "")
    if asked.taxonomy != MESSAGE or turns[-1].author is not Author.USER:
        raise BadInput("Turns are judged by the taxonomy message, and the last one is a user's.", hint="Give `text`.")
    return meant(turns)
