"""Errors of providers become sentences that say what to do, and whether trying again can help."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime

import pytest
from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelHTTPError,
    UnexpectedModelBehavior,
    UserError,
)
from pydantic_ai.models import Model

from laneway.errors import BudgetExceeded, ModelFault, PermanentFault, TransientFault
from laneway.llm import faults
from laneway.llm.retry import RetryingModel
from tests.llm.conftest import anthropic, ask, listen, openai
from tests.servers import AnthropicServer, CutStream, Fail, Hang, Malformed, OpenAIServer, Order

NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
REFUSED = {
    400: "rejected the request (HTTP 400): Prompt has no end.",
    401: "did not accept our key (HTTP 401). Check ANTHROPIC_API_KEY.",
    403: "does not let our key do this (HTTP 403). Check ANTHROPIC_API_KEY.",
    404: "knows no model `claude-sonnet-5-5` (HTTP 404). Check models.execute.model",
    413: "says the request is too large (HTTP 413)",
    402: "has no credit left. Top it up",
}


def once(model: Model) -> RetryingModel:
    """The model with its errors explained and nothing tried again."""
    return RetryingModel(model, attempts=1, key_setting="ANTHROPIC_API_KEY")


async def test_each_status_has_its_sentence_and_the_busy_ones_are_worth_trying_again(
    anthropic_server: AnthropicServer, openai_server: OpenAIServer
) -> None:
    model = once(anthropic(anthropic_server))
    for status in (408, 409, 425, 429, 500, 502, 503, 504, 529):
        anthropic_server.script.then(Fail(status, retry_after=7))
        with pytest.raises(TransientFault, match=f"claude-sonnet-5-5 .*HTTP {status}") as caught:
            await ask(model)
        assert caught.value.retry_after == 7
        assert "tried again" not in str(caught.value), "that would be said of the last try, too"
    for status, sentence in REFUSED.items():
        anthropic_server.script.then(Fail(status, message="Prompt has no end."))
        with pytest.raises(PermanentFault) as refused:
            await ask(model)
        assert sentence in str(refused.value)
    body = {"error": {"message": "You exceeded your quota", "type": "insufficient_quota", "code": "insufficient_quota"}}
    openai_server.script.then(Fail(429, body=body))
    with pytest.raises(PermanentFault, match="no credit left"):
        await ask(once(openai(openai_server)))


@pytest.mark.parametrize("order", [CutStream(0), CutStream(3), Malformed(), Hang(30), Fail(529, after_pieces=2)])
async def test_a_broken_call_is_worth_trying_again(
    anthropic_server: AnthropicServer, openai_server: OpenAIServer, order: Order
) -> None:
    for server in (anthropic_server, openai_server):
        server.script.default = order
    for model in (anthropic(anthropic_server), openai(openai_server)):
        for call in (ask, listen):
            with pytest.raises(TransientFault):
                await call(RetryingModel(model, attempts=1, time_limit=0.2))


async def test_a_server_that_is_not_there_is_worth_trying_again() -> None:
    with AnthropicServer() as gone:
        pass
    with pytest.raises(TransientFault, match="connection"):
        await ask(once(anthropic(gone)))


async def test_no_sentence_holds_a_secret(anthropic_server: AnthropicServer) -> None:
    secret = "sk-ant-api03-AbCdEfGhIjKl"
    for status in (400, 401, 422, 500):
        anthropic_server.script.then(Fail(status, message=f"Bad key {secret}, sent as Bearer {secret}"))
        with pytest.raises(ModelFault) as caught:
            await ask(once(anthropic(anthropic_server, key=secret)))
        assert secret not in str(caught.value)


def test_retry_after_is_read_as_seconds_milliseconds_or_a_date() -> None:
    told = ("1.5", "Thu, 01 Jan 2026 12:00:30 GMT", "Thu, 01 Jan 2026 11:00:00 GMT", "soon", "-3")
    assert [faults.retry_after({"Retry-After": one}, NOW) for one in told] == [1.5, 30.0, 0.0, None, None]
    assert faults.retry_after({"retry-after-ms": "250", "retry-after": "3"}, NOW) == 0.25
    assert faults.retry_after({}, NOW) is None


def test_refusals_of_the_library_are_final_and_what_is_no_fault_of_the_model_is_left_alone() -> None:
    for error in (ContentFilterError("no"), UnexpectedModelBehavior("too often"), UserError("no tools here")):
        assert type(faults.explain(error, "m")) is PermanentFault, "what the library refuses it will refuse again"
    assert faults.explain(ZeroDivisionError(), "m") is None
    with pytest.raises(BudgetExceeded), faults.Explained("m"):
        raise BudgetExceeded("no money")


def test_a_fault_survives_being_stored() -> None:
    fault = faults.explain(ModelHTTPError(429, "m", headers={"retry-after": "9"}), "m")
    again = pickle.loads(pickle.dumps(fault))
    assert (type(again), str(again), again.retry_after) == (TransientFault, str(fault), 9)
