"""`remember` and `recall`: facts kept for later turns, the owner's apart from each customer's."""

from __future__ import annotations

from typing import Any

from laneway.domain.conversation import World
from laneway.domain.fact import Fact
from laneway.errors import BadInput, Conflict
from laneway.lanes.tools.entry import Arguments, Call, Outcome, ToolEntry, failure, success
from laneway.store import memories
from laneway.store.database import Database


def memory_entries(db: Database) -> list[ToolEntry]:
    """The two tools, over this database."""

    async def remember(call: Call, fact: str, key: str | None = None) -> Outcome:
        """Keep a fact for later conversations. With a key ("office wifi") it replaces what was kept under that key."""
        told = call.sources or (("a customer's message",) if call.world is World.CUSTOMER else ())
        try:
            async with db.transaction() as tx:
                kept = await memories.remember(
                    tx, call.world, call.thread_id, fact, key=key, source="; ".join(told) or None, job_id=call.job_id
                )
        except (BadInput, Conflict) as error:
            return failure(str(error))
        return success({"id": str(kept.id), "remembered": kept.text})

    async def recall(call: Call, query: str) -> Outcome:
        """Facts that were remembered, those that share the most words with the query first; at most ten."""
        async with db.transaction() as tx:
            found = await memories.recall(tx, call.world, call.thread_id, query)
        return success({"memories": [_shown(fact) for fact in found]})

    return [
        ToolEntry(remember, changes=True, idempotent=True, private=True, seconds=10, tags=("memory", "note", "keep")),
        ToolEntry(
            recall, changes=False, idempotent=True, seconds=10, source=recalled_from,
            tags=("memory", "facts", "known", "remembered"),
        ),
    ]  # fmt: skip


def recalled_from(arguments: Arguments, outcome: Outcome) -> str | None:
    """Whose words recalled facts rest on; None if only the person's."""
    found = (outcome.get("result") or {}).get("memories", [])
    strangers = dict.fromkeys(str(fact["source"]) for fact in found if fact.get("source"))
    return f"what was remembered from {'; '.join(strangers)}" if strangers else None


def _shown(fact: Fact) -> dict[str, Any]:
    named = {} if fact.key.startswith("#") else {"key": fact.key}
    return {**named, "fact": fact.text, "since": fact.changed_at.date().isoformat(), "source": fact.source}
