"""Which settings of nodes are CEL, and what each may speak of: read by the checks, and before a run starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from laneway.lanes.workflow.conditions import EDGE_NAMES, ROW_NAMES, BadCondition, compiled, expression
from laneway.lanes.workflow.hearing import EVENT_NAMES


@dataclass(frozen=True)
class WorkedOut:
    """A setting that is CEL: its key, what it may speak of, and whether it must be true or false."""

    key: str
    names: tuple[str, ...]
    decides: bool = True

    def wrong(self, config: Mapping[str, Any]) -> BadCondition | None:
        """What is wrong with the setting; None if it can be worked out, or is no text."""
        text = config.get(self.key)
        if not isinstance(text, str):
            return None
        try:
            compiled(text, self.names) if self.decides else expression(text, self.names, "expression")
        except BadCondition as wrong:
            return wrong
        return None


OF_NODES: Mapping[str, WorkedOut] = {
    "filter": WorkedOut("condition", ROW_NAMES),
    "loop": WorkedOut("condition", EDGE_NAMES),
    "transform": WorkedOut("expression", EDGE_NAMES, decides=False),
    "wait": WorkedOut("condition", EVENT_NAMES),
}
"""Per type of node the setting that is worked out when it runs."""
OF_EDGES = WorkedOut("condition", EDGE_NAMES)
OF_TRIGGERS = WorkedOut("condition", EVENT_NAMES)
