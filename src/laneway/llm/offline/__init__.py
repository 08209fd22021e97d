"""The offline model: answers and acts by rules, without a key and without a network.

It is a Pydantic AI model like any other. It reads the latest message and the tools on offer, lets each skill look at
them in turn, and answers with a tool call or with text. What no skill knows is answered with the plain sentence that a
model key is needed: it never guesses, advises, foretells or pretends.

Questions are answered by `small_talk`, `file_requests` and `server_questions`. `thresholds` compares a figure of the
server with a limit (`watching`, `measures`) and keeps silent below it where that is allowed. Orders are read by
`plans`, which splits a message into steps and hands each to the skills `run_commands`, `service_orders`,
`file_orders`, `text_orders`, `search_orders`, `web_orders`, `reminders`, `notes` and `task_orders`; `carrying_out`
makes the calls one by one and tells what became of them. Only the user's own words are read for orders
(`turn.Turn.own_words`), with quotations blotted out (`marking`), and a shape must fit all of them (`shapes`): so a
word more means that nothing is done.
"""

from __future__ import annotations

from laneway.llm.offline.model import OfflineModel
from laneway.llm.offline.turn import NEEDS_KEY

__all__ = ["NEEDS_KEY", "OfflineModel"]
