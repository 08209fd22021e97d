"""The scripted model says what the script says, and reads its place in it from the history."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_ai import Agent

from laneway.errors import PermanentFault, TransientFault
from laneway.llm.scripted import Call, Fail, Say, ScriptedModel, Turn
from tests.llm.conftest import add, ask, listen

SUM: list[Turn] = [Call("add", {"a": 1, "b": 2}), Say("It is three.")]


async def test_it_calls_a_tool_and_then_speaks() -> None:
    agent = Agent(ScriptedModel(SUM), tools=[add])
    first = await agent.run("1 + 2?")
    assert (first.output, first.usage.tool_calls) == ("It is three.", 1)
    second = await agent.run("And again?", message_history=first.all_messages())
    assert second.output == "It is three.", "every prompt begins the script anew"
    async with agent.run_stream("1 + 2?") as result:
        assert [piece async for piece in result.stream_text(delta=True, debounce_by=None)] == ["It ", "is ", "three."]
    assert result.usage.output_tokens > 0
    with pytest.raises(PermanentFault, match="1 turns and was asked for turn 2"):
        await Agent(ScriptedModel(SUM[:1]), tools=[add]).run("1 + 2?")


async def test_without_a_script_it_echoes() -> None:
    assert (await ask(ScriptedModel(), "ping")).text == "You said: ping"
    assert await listen(ScriptedModel(), "ping") == "You said: ping"


@pytest.mark.parametrize(("kind", "fault"), [("transient", TransientFault), ("permanent", PermanentFault)])
async def test_it_fails_when_told_to_as_often_as_told(kind: Any, fault: type[Exception]) -> None:
    model = ScriptedModel([Fail(kind, retry_after=5, times=2, then=Say("recovered"))])
    for call in (ask, listen):
        with pytest.raises(fault) as caught:
            await call(model)
        assert getattr(caught.value, "retry_after", None) == 5
    assert (await ask(model)).text == "recovered"
