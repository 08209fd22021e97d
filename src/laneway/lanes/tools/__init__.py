"""The tools lane: a model that looks things up and acts, one durable step at a time."""

from laneway.lanes.tools.entry import ToolEntry
from laneway.lanes.tools.lane import ToolsLane
from laneway.lanes.tools.toolbox import Toolbox

__all__ = ["ToolEntry", "Toolbox", "ToolsLane"]
