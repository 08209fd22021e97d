"""The small model's judgement by any taxonomy, in the shape of seed 000: intent, summary, plan, flags, confidence."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic_ai import Agent, ModelRetry, TextOutput
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from laneway.classify.taxonomy import Taxonomy
from laneway.errors import PermanentFault, TransientFault
from laneway.llm.meter import prompted_by
from laneway.transcript import Turn

CONTEXT_TURNS, LONGEST_TURN, LONGEST_TEXT, LONGEST_EXAMPLE, LONGEST_SENTENCE = 4, 200, 4000, 100, 300
PATIENCE_SECONDS = 30.0
_OBJECT, _FLAT = re.compile(r"\{.*\}", re.DOTALL), re.compile(r"\{[^{}]*\}")
_TAG = re.compile(r"<(?=\s*/?\s*(?:examples|conversation|message)\b)", re.IGNORECASE)
_DOUBLE, _SINGLE = str.maketrans("“”„‟", '""""'), str.maketrans("‘’‚‛", "''''")


@dataclass(frozen=True)
class Said:
    """What the small model judged."""

    label: str
    summary: str
    plan: str
    flags: dict[str, bool]
    confidence: float


class SmallModel:
    """Asks the small model for one judgement, and takes nothing else for an answer."""

    def __init__(
        self,
        model: Model,
        settings: ModelSettings,
        prompt: str,
        prompt_version: str = "",
        seconds: float = PATIENCE_SECONDS,
    ) -> None:
        self._model, self._settings, self._prompt, self._seconds = model, settings, prompt, seconds
        self.version = prompt_version
        self._asked: dict[str, tuple[str, Agent[None, Any]]] = {}

    async def judge(
        self,
        taxonomy: Taxonomy,
        text: str,
        earlier: Sequence[Turn] = (),
        near: Sequence[tuple[str, str]] = (),
        about: str = "",
    ) -> Said:
        """The model's judgement on `text`, said `about` something before; a LanewayError if it gave none in time."""
        try:
            async with asyncio.timeout(self._seconds):
                with prompted_by(self.version):
                    said = (await self._agent(taxonomy).run(_asked(text, earlier, near, about))).output.model_dump()
        except TimeoutError as error:
            raise TransientFault(f"The small model gave no judgement within {self._seconds:g} s.") from error
        except AgentRunError as error:
            raise PermanentFault(f"The small model gave no usable judgement: {error}") from error
        flags = {flag.name: bool(said[flag.name]) and said["intent"] == flag.applies_to for flag in taxonomy.flags}
        summary, plan = _line(said["summary"], LONGEST_SENTENCE), _line(said["plan"], LONGEST_SENTENCE)
        return Said(said["intent"], summary, plan, flags, said["confidence"])

    def _agent(self, taxonomy: Taxonomy) -> Agent[None, Any]:
        """The agent that knows this taxonomy's labels; made anew when they change."""
        version, agent = self._asked.get(taxonomy.name, ("", None))
        told = "\n".join([self._prompt, *defined(taxonomy)])
        if agent is None or version != told:
            agent = Agent(
                self._model,
                output_type=TextOutput(_read(_shape(taxonomy))),
                instructions=told,
                model_settings=self._settings,
                name="classify",
                retries=1,
            )
            self._asked[taxonomy.name] = (told, agent)
        return agent


def defined(taxonomy: Taxonomy) -> list[str]:
    """The labels, the flags and the form of the answer, in the words a model gets.

    The form stands in the prompt and not in a tool: a tool's schema alone would cost more than all the rest.
    """
    labels = [f"- {label.name}: {label.told}" for label in taxonomy.labels]
    flags = [f"{flag.name}: {flag.told}" for flag in taxonomy.flags]
    form = dict.fromkeys(("intent", "summary", "plan"), "…")
    form |= {flag.name: "true|false" for flag in taxonomy.flags} | {"confidence": "0–1"}
    fields = ", ".join(f'"{name}": {value}' for name, value in form.items())
    return ["intent, one of:", *labels, *flags, f"Answer only with JSON: {{{fields}}}"]


def _shape(taxonomy: Taxonomy) -> type[BaseModel]:
    """What the model must answer: nothing but these labels, and each flag."""
    # Under names of our own: a flag may be called what no field can be.
    flags: dict[str, Any] = {
        f"flag_{place}": (bool, Field(alias=flag.name)) for place, flag in enumerate(taxonomy.flags)
    }
    names: Any = Literal.__getitem__(tuple(taxonomy.names))
    return create_model(
        "Judgement",
        __config__=ConfigDict(extra="ignore", serialize_by_alias=True),
        intent=(names, ...),
        summary=(str, ...),
        plan=(str, ...),
        **flags,
        confidence=(float, Field(ge=0, le=1)),
    )


def _read(shape: type[BaseModel]) -> Any:
    def judgement(text: str) -> BaseModel:
        """The judgement in a model's prose: models without tools write JSON, and not always valid JSON."""
        for found in [*_OBJECT.findall(text), *reversed(_FLAT.findall(text))]:
            for reading in _readings(found):
                with suppress(ValidationError):
                    return shape.model_validate(reading)
        raise ModelRetry("Answer with that one JSON object, with one of those labels, and nothing else.")

    return judgement


def _readings(text: str) -> Iterator[Any]:
    """What an object says as it stands, and mended.

    YAML is JSON that bears trailing commas, single quotes and Python's words; typographic quotes are made plain.
    """
    straight = text.translate(_DOUBLE)
    with suppress(ValueError, RecursionError):
        yield json.loads(text, strict=False)
    for spelling in dict.fromkeys([text, straight, straight.translate(_SINGLE)]):
        with suppress(yaml.YAMLError, ValueError, RecursionError):
            yield yaml.safe_load(spelling)


def _asked(text: str, earlier: Sequence[Turn], near: Sequence[tuple[str, str]], about: str) -> str:
    examples = [f"{label}: {_line(_inside(example), LONGEST_EXAMPLE)}" for example, label in near]
    before = [f"{turn.author}: {_line(_inside(turn.text), LONGEST_TURN)}" for turn in earlier[-CONTEXT_TURNS:]]
    if about:
        # It may have been said before the turns that are shown.
        before.append(f"most likely this: {_line(_inside(about), LONGEST_TEXT)}")
    parts = []
    if examples:
        parts += ["<examples>", *examples, "</examples>"]
    if before:
        parts += ["The message may refer to this:", "<conversation>", *before, "</conversation>"]
    return "\n".join([*parts, "<message>", _inside(text[:LONGEST_TEXT]), "</message>"])


def _inside(text: str) -> str:
    """The text without our own marks in it: nobody can end a message but we."""
    return _TAG.sub("‹", text)


def _line(text: str, most: int) -> str:
    line = " ".join(text.replace("\0", " ").split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
