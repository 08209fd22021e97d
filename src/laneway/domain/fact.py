"""A fact: something a model was told to remember, and whose words it was."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from laneway.domain.conversation import World

LONGEST_FACT, LONGEST_KEY, LONGEST_SOURCE = 2000, 120, 300
MOST_FACTS = {World.OWNER: 1000, World.CUSTOMER: 100}
"""How many facts the owner's world holds, and how many one customer's thread."""

# Words that say nothing about what is looked for, where others do.
_EMPTY = frozenset({
    "a", "an", "and", "are", "at", "be", "do", "for", "from", "how", "i", "in", "is", "it", "me", "my", "of", "on",
    "or", "our", "that", "the", "this", "to", "was", "we", "what", "when", "where", "which", "who", "why", "with",
    "you", "your",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fact:
    """`source` names whose words it rests on, if they were a stranger's; None if the person said it."""

    id: UUID
    world: World
    thread_id: UUID
    key: str
    text: str
    source: str | None
    job_id: UUID | None
    created_at: datetime
    changed_at: datetime


def query_words(query: str) -> list[str]:
    """The beginnings of words that can tell one fact from another, at most twelve; `backups` finds `backup`, too."""
    words = re.findall(r"\w+", query.lower())
    telling = [word for word in words if word not in _EMPTY] or words
    return list(dict.fromkeys(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in telling))[:12]
