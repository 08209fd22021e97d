"""What tests of the small model share: the real SDKs, asking a provider on loopback that answers by its script."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from laneway.classify.model import SmallModel
from laneway.classify.taxonomy import Flag, Label, Taxonomy
from laneway.domain.conversation import Author
from laneway.domain.ids import new_id
from laneway.llm.choice import choose
from laneway.llm.prompts import Prompts
from laneway.settings import Settings
from laneway.store.database import Database
from laneway.transcript import Turn
from tests.servers import AnthropicServer, ModelServer, Received, Say
from tests.servers.wire import text_of

UNCLEAR = "the nginx thing again, like last time"
"""No word order tells the rules what this is."""
PROMPT = Prompts(Path("nowhere")).text("classification")
JUDGED: Mapping[str, Any] = {
    "intent": "command",
    "summary": "Wants nginx restarted.",
    "plan": "Restart it and report.",
    "needs_confirmation": True,
    "confidence": 0.9,
}
ASK = (
    "how full is the disk?", "is the server up?", "who is logged in?", "should someone worry about the load",
    "should the logs be so big", "should the database be slow now", "uptime of the database", "size of the log folder",
    "version of the kernel", "owner of that process", "load of the server at night",
)  # fmt: skip
TALK = ("hello there", "thanks a lot", "see you later", "good morning")
CHANGE = ("restart the web server", "delete the old logs", "stop the database")
LOOK = ("show the last log lines", "list all users", "print the disk usage")
UNSURE = Taxonomy(
    "message",
    (Label("question", examples=ASK), Label("command"), Label("other", examples=TALK)),
    (Flag("needs_confirmation", "command", yes=CHANGE, no=LOOK),),
    fallback="question",
    precision=2.0,
)
"""A taxonomy whose local classifier is never sure: no judgement is right more than always."""


def answer(**changed: Any) -> Say:
    """The model judges so."""
    return Say(json.dumps({**JUDGED, **changed}, ensure_ascii=False))


def small_model(
    server: ModelServer, db: Database, *, seconds: float = 20, version: str = "test:1", **settings: Any
) -> SmallModel:
    """The small model as a running Laneway would ask it, but for the pauses between two tries."""
    given: dict[str, Any]
    if isinstance(server, AnthropicServer):
        given = {"anthropic_api_key": "sk-test", "anthropic_base_url": server.url}
    else:
        given = {
            "openai_api_key": "sk-test",
            "openai_base_url": server.url,
            "default_model": "openai:gpt-4.1-mini",
        }
    models = choose(Settings.model_validate(given | settings), db, sleep=_at_once)
    assert models.classify is not None
    return SmallModel(models.classify, models.classify_settings, PROMPT, version, seconds)


async def _at_once(seconds: float) -> None:
    return None


def turns(*texts: str) -> list[Turn]:
    """A conversation whose last word is the user's."""
    authors = [Author.USER if place % 2 == 0 else Author.ASSISTANT for place in range(len(texts))]
    return [Turn(new_id(), author, text) for author, text in zip(reversed(authors), texts, strict=True)]


def instructions_of(request: Received) -> str:
    """What the model was told once and for all."""
    body = request.body
    return text_of(body["system"]) if "system" in body else text_of(body["messages"][0]["content"])


def asked_of(request: Received) -> str:
    """What the model was told of this one message."""
    first = next(message for message in request.body["messages"] if message["role"] == "user")
    return text_of(first["content"])


def section(text: str, name: str) -> Sequence[str]:
    """The lines between the marks of this name."""
    return text.split(f"<{name}>\n", 1)[1].split(f"\n</{name}>", 1)[0].splitlines()


async def paid(db: Database) -> list[tuple[Any, ...]]:
    """The ledger: provider, state, tokens and the prompt's version of each call, in their order."""
    async with db.transaction() as tx:
        cursor = await tx.execute(
            "SELECT provider, state, tokens_total, meta_json->>'prompt' FROM token_ledger ORDER BY id"
        )
        return await cursor.fetchall()
