"""The loopback runner: any app, a free port, and a clean end."""

from __future__ import annotations

import threading
import time

import httpx2
import pytest
from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

from . import AnthropicServer, Hang, Loopback, OpenAIServer, Script

BODY = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hello"}]}


def test_any_app_answers_while_entered_and_is_gone_afterwards() -> None:
    app = FastAPI()

    @app.get("/hello")
    def hello() -> str:
        return "there"

    with Loopback(app) as loopback:
        assert httpx2.get(f"{loopback.url}/hello").json() == "there"
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(f"{loopback.url}/hello")
    assert not [thread for thread in threading.enumerate() if thread.name == f"loopback-{loopback.port}"]


def test_an_app_that_does_not_start_is_reported() -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        raise RuntimeError("no database")

    with pytest.raises(RuntimeError, match="did not start"):
        Loopback(broken, lifespan="on").__enter__()


@pytest.mark.alone
def test_a_server_with_a_waiting_client_ends_at_once() -> None:
    with OpenAIServer(Script(Hang(60))) as server:
        thread = threading.Thread(target=post_in_vain, args=(server,))
        thread.start()
        while not server.requests or server.requests[0].order is None:
            time.sleep(0.01)
        leaving = time.monotonic()
    assert time.monotonic() - leaving < 1
    thread.join(timeout=5)
    assert not thread.is_alive()
    assert not server.requests[0].client_left


def test_another_server_can_take_the_place_of_one_that_ended() -> None:
    with OpenAIServer() as first:
        post(first)
    with OpenAIServer(port=first.port) as second:
        assert second.url == first.url
        assert post(second).status_code == 200


def test_two_servers_run_side_by_side() -> None:
    with AnthropicServer() as one, OpenAIServer() as other:
        assert one.port != other.port
        assert post(other).status_code == 200
        assert httpx2.get(f"{one.url}/v1/models", headers={"anthropic-version": "2023-06-01"}).status_code == 200


def post(server: OpenAIServer) -> httpx2.Response:
    return httpx2.post(f"{server.url}/chat/completions", json=BODY, timeout=10)


def post_in_vain(server: OpenAIServer) -> None:
    with pytest.raises(httpx2.HTTPError):
        post(server)
