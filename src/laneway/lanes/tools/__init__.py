"""The tools lane: a model that looks things up and acts, one durable step at a time."""

from laneway.lanes.tools.entry import ToolEntry
from laneway.lanes.tools.lane import ToolsLane, Turns
from laneway.lanes.tools.toolbox import TO_OTHERS, Toolbox

__all__ = ["TO_OTHERS", "ToolEntry", "Toolbox", "ToolsLane", "Turns"]
