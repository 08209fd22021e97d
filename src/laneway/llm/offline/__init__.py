"""The offline model: answers by rules, without a key and without a network.

It is a Pydantic AI model like any other. It reads the latest question and the tools on offer, lets each skill look at
them in turn, and answers with a tool call or with text. What no skill knows is answered with the plain sentence that a
model key is needed: it never guesses, advises, foretells or pretends. The skills are `small_talk`, `file_requests` and
`server_questions`.
"""

from __future__ import annotations

from laneway.llm.offline.model import OfflineModel
from laneway.llm.offline.turn import NEEDS_KEY

__all__ = ["NEEDS_KEY", "OfflineModel"]
