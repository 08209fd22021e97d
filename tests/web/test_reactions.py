"""What watchers counted, said and put down, as the HTTP door tells it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from laneway.app import Parts
from laneway.cli.why import told
from laneway.domain.session import EventKind
from laneway.engine.running import Run
from laneway.lanes.tools import ToolEntry
from laneway.llm.scripted import Asked, Call, Say, ScriptedModel, Turn
from laneway.llm.single import only
from laneway.reactors import Continue, Reaction, Reactor, ReactorContext, Warn
from laneway.reactors.border import Failed
from tests.web.conftest import Door, Open
from tests.web.test_health_and_metrics import figures


async def knock(times: int) -> dict[str, Any]:
    """Knocks."""
    return {"status": "error", "error": "nobody is home"}


def knocks(asked: Asked) -> Turn:
    return Say("Nobody is home.") if asked.turn else Call("knock", {"times": 2})


class Doorman:
    name = "doorman"

    def handle(self, ctx: ReactorContext) -> Reaction:
        return Warn("Somebody knocks.") if ctx.event.kind is EventKind.TOOL_CALLED else Continue()


def watching(run: Run, failed: Callable[[Failed], None]) -> Sequence[Reactor]:
    return [Doorman()]


PARTS = Parts(models=lambda db: only(ScriptedModel(knocks), db), tools=[ToolEntry(knock)], reactors=watching)


async def counted(door: Door, name: str) -> dict[tuple[str, ...], float]:
    async with asyncio.timeout(30):
        while not (found := {key: value for key, value in (await figures(door)).items() if key[0] == name}):
            await asyncio.sleep(0.1)
    return found


async def test_metrics_count_sessions_tokens_tool_calls_and_reactions_and_a_job_can_be_replayed(opened: Open) -> None:
    async with opened(PARTS) as door:
        asked = await door.ask("is anybody there?")
        assert await counted(door, "laneway_sessions_total") == {("laneway_sessions_total", "laneway"): 1}
        tokens = await counted(door, "laneway_session_tokens_total")
        assert all(tokens["laneway_session_tokens_total", way, "scripted", "laneway"] for way in ("input", "output"))
        calls = await counted(door, "laneway_tool_calls_total")
        assert calls == {("laneway_tool_calls_total", "error", "laneway", "knock"): 1}
        said = await counted(door, "laneway_reactions_total")
        assert said == {("laneway_reactions_total", "doorman", "warning"): 1}

        life = await door.get(f"/messages/{asked['id']}/why")
        [reaction] = life["jobs"][0]["reactions"]
        assert (reaction["reactor"], reaction["what"], reaction["tool"]) == ("doorman", "warned", "knock")
        assert any("Reactor doorman warned: Somebody knocks." in line for line in told(life))

        page = await door.get(f"/replays/{asked['jobs'][0]['id']}")
        kinds = [event["kind"] for event in page["items"]]
        assert kinds == ["user", "assistant", "tool_called", "tool_ended", "assistant", "ended"]
        assert page["items"][3]["failed"]
        await door.get("/replays/01a1e4a3-a4fd-7b3f-97d0-ea11e8b9018b", 404)
