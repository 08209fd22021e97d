"""The scripted model says what the script says, and reads its place in it from the history."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, capture_run_messages
from pydantic_ai.messages import ModelMessagesTypeAdapter

from laneway.errors import PermanentFault, TransientFault
from laneway.llm.scripted import Asked, Call, Delay, Fail, Say, ScriptedModel, Turn
from tests.llm.conftest import ask, listen


def add(a: int, b: int) -> int:
    """The sum."""
    return a + b


SUM: list[Turn] = [Call("add", {"a": 1, "b": 2}), Say("It is three.")]


async def test_it_calls_a_tool_and_then_speaks() -> None:
    result = await Agent(ScriptedModel(SUM), tools=[add]).run("1 + 2?")
    assert result.output == "It is three."
    assert result.usage.tool_calls == 1


async def test_it_does_the_same_in_a_stream() -> None:
    pieces = []
    async with Agent(ScriptedModel(SUM), tools=[add]).run_stream("1 + 2?") as result:
        async for piece in result.stream_text(delta=True, debounce_by=None):
            pieces.append(piece)
    assert pieces == ["It ", "is ", "three."]
    assert result.usage.output_tokens > 0


async def test_every_user_prompt_begins_the_script_anew() -> None:
    agent = Agent(ScriptedModel(SUM), tools=[add])
    first = await agent.run("1 + 2?")
    second = await agent.run("And again?", message_history=first.all_messages())
    assert second.output == "It is three."


async def test_a_repeated_run_asks_for_the_turn_it_has_not_had() -> None:
    class Killed(BaseException):
        pass

    async def kill(call: dict[str, Any]) -> None:
        if call["turn"] == 1:
            raise Killed

    agent = Agent(ScriptedModel(SUM, on_call=kill), tools=[add])
    with capture_run_messages() as messages, pytest.raises(Killed):
        await agent.run("1 + 2?")
    stored = ModelMessagesTypeAdapter.dump_json(messages)
    asked: list[int] = []

    async def note(call: dict[str, Any]) -> None:
        asked.append(call["turn"])

    afresh = Agent(ScriptedModel(SUM, on_call=note), tools=[add])
    result = await afresh.run(message_history=ModelMessagesTypeAdapter.validate_json(stored))
    assert result.output == "It is three."
    assert asked == [1]


async def test_the_same_history_gives_the_same_call() -> None:
    one, other = [await ask(ScriptedModel(SUM)) for _ in range(2)]
    assert one.tool_calls == other.tool_calls
    assert one.usage == other.usage


async def test_without_a_script_it_echoes() -> None:
    assert (await ask(ScriptedModel(), "ping")).text == "You said: ping"
    assert await listen(ScriptedModel(), "ping") == "You said: ping"


async def test_a_script_can_be_a_function_of_what_was_asked() -> None:
    def script(asked: Asked) -> Turn:
        if "add" in asked.tools and not asked.tool_results:
            return [Say("Let me see."), Call("add", {"a": 20, "b": 22})]
        return Say(f"{asked.text} {asked.tool_results[0]}")

    result = await Agent(ScriptedModel(script), tools=[add]).run("The answer is")
    assert result.output == "The answer is 42"


async def test_it_gives_structured_output_through_a_tool() -> None:
    class Weather(BaseModel):
        degrees: int

    agent = Agent(ScriptedModel([Call("final_result", {"degrees": 21})]), output_type=Weather)
    assert (await agent.run("How warm is it?")).output == Weather(degrees=21)


@pytest.mark.parametrize(("kind", "fault"), [("transient", TransientFault), ("permanent", PermanentFault)])
async def test_it_fails_when_told_to(kind: Any, fault: type[Exception]) -> None:
    model = ScriptedModel([Fail(kind, retry_after=5)])
    for call in (ask, listen):
        with pytest.raises(fault) as caught:
            await call(model)
        assert getattr(caught.value, "retry_after", None) == 5


async def test_it_can_fail_a_few_times_and_then_go_on() -> None:
    model = ScriptedModel([Fail(times=1, then=Say("recovered"))])
    with pytest.raises(TransientFault):
        await ask(model)
    assert (await ask(model)).text == "recovered"


async def test_it_can_be_slow() -> None:
    assert await listen(ScriptedModel([Delay(Say("at last"), seconds=0.01, per_piece=0.01)])) == "at last"


async def test_a_script_that_is_too_short_says_so() -> None:
    with pytest.raises(PermanentFault, match="1 turns and was asked for turn 2"):
        await Agent(ScriptedModel(SUM[:1]), tools=[add]).run("1 + 2?")
