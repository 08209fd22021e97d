"""The scripted model says what the script says, and reads its place in it from the history."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_ai import Agent, capture_run_messages
from pydantic_ai.messages import ModelMessagesTypeAdapter

from laneway.errors import PermanentFault, TransientFault
from laneway.llm.scripted import Asked, Call, Delay, Fail, Say, ScriptedModel, Turn
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


async def test_a_repeated_run_asks_for_the_turn_it_has_not_had() -> None:
    class Killed(BaseException):
        pass

    asked: list[int] = []

    async def kill(call: dict[str, Any]) -> None:
        if call["turn"] == 1:
            raise Killed

    async def note(call: dict[str, Any]) -> None:
        asked.append(call["turn"])

    with capture_run_messages() as messages, pytest.raises(Killed):
        await Agent(ScriptedModel(SUM, on_call=kill), tools=[add]).run("1 + 2?")
    stored = ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(messages))
    result = await Agent(ScriptedModel(SUM, on_call=note), tools=[add]).run(message_history=stored)
    assert (result.output, asked) == ("It is three.", [1])


async def test_without_a_script_it_echoes() -> None:
    assert (await ask(ScriptedModel(), "ping")).text == "You said: ping"
    assert await listen(ScriptedModel(), "ping") == "You said: ping"


async def test_a_script_can_be_a_function_of_what_was_asked() -> None:
    def script(asked: Asked) -> Turn:
        if "add" in asked.tools and not asked.tool_results:
            return [Say("Let me see."), Call("add", {"a": 20, "b": 22})]
        return Delay(Say(f"{asked.text} {asked.tool_results[0]}"), seconds=0.01, per_piece=0.01)

    assert (await Agent(ScriptedModel(script), tools=[add]).run("The answer is")).output == "The answer is 42"


@pytest.mark.parametrize(("kind", "fault"), [("transient", TransientFault), ("permanent", PermanentFault)])
async def test_it_fails_when_told_to_as_often_as_told(kind: Any, fault: type[Exception]) -> None:
    model = ScriptedModel([Fail(kind, retry_after=5, times=2, then=Say("recovered"))])
    for call in (ask, listen):
        with pytest.raises(fault) as caught:
            await call(model)
        assert getattr(caught.value, "retry_after", None) == 5
    assert (await ask(model)).text == "recovered"
