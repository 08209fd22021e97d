"""With many tools a model looks for the one it needs; what it finds often stays in that thread."""

from __future__ import annotations

import sys
from pathlib import Path

from laneway.connections import McpServer
from laneway.llm.scripted import Asked, Call, Say, ScriptedModel, Turn
from laneway.store import toolboxes
from tests.running import laneway

RUDE = str(Path(__file__).parents[1] / "servers" / "mcp_rude_server.py")
MANY = McpServer(command=sys.executable, args=(RUDE, "many"), trusted=True, start_seconds=60)
FORECAST = "sky__weather_forecast"


async def test_a_found_tool_is_called_in_that_turn_and_after_three_it_stays(database_url: str, tmp_path: Path) -> None:
    offered: list[set[str]] = []

    def script(asked: Asked) -> Turn:
        offered.append(set(asked.tools))
        if any('"text":"7"' in told for told in asked.tool_results):
            return Say("Sunny.")
        found = Call(FORECAST, {"a": 7})
        return found if FORECAST in asked.tools else Call("search_tools", {"query": "weather"})

    async with laneway(database_url, tmp_path, ScriptedModel(script), mcp={"sky": MANY}) as here:
        for _ in range(3):
            began = len(offered)
            assert await here.ask("what will the weather be?") == "Sunny."
            assert [FORECAST in names for names in offered[began:]] == [False, True, True]
            assert not any("sky__press_button_1" in names for names in offered)
        began = len(offered)
        receipt = await here.send("and tomorrow, what will the weather be?")
        await here.until(receipt.job_id)
        assert FORECAST in offered[began]
        async with here.app.db.transaction() as tx:
            kept = await toolboxes.of_thread(tx, receipt.thread_id)
            assert [(one.tool, one.kept) for one in kept] == [(FORECAST, True)]
        began = len(offered)
        await here.ask("what will the weather be?", "elsewhere")
        assert FORECAST not in offered[began]
