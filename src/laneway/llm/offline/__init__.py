"""The offline model: answers and acts by rules, without a key and without a network.

It is a Pydantic AI model like any other. `turn` finds the latest message of the user and the tools on offer, `plan`
splits the message into steps and looks each up in the tables of shapes: `orders`, `server_questions` and `limits`. A
shape must account for every word (`shapes`, `kinds`), else nothing is done and one line names what was not understood.
`outcomes` tells what became of the calls.
"""

from __future__ import annotations

from laneway.llm.offline.model import OfflineModel
from laneway.llm.offline.turn import NEEDS_KEY

__all__ = ["NEEDS_KEY", "OfflineModel"]
