"""Model providers on 127.0.0.1, for tests.

`AnthropicServer` and `OpenAIServer` speak the providers' real protocols, so the real SDKs and the Pydantic AI
models talk to them unchanged: enter one, give its `url` to the client as `base_url`, and any key unless the
server was made with `api_key=`. What they answer stands in a `Script`, one order per request: `Say`, `CallTool`,
`Refuse`, or a mishap: `Fail`, `Hang`, `CutStream`, `Malformed`; `Delay` slows an order down. An order may be a
function of the request (`Asked`), and when the script is at its end the server echoes. Every request stands in
`server.requests` (`Received`). The clients retry by themselves: make them with `max_retries=0`, or order the failure
as often as it shall be seen.

    from tests.servers import AnthropicServer, CallTool, Say, Script

    with AnthropicServer(Script(CallTool("add", {"a": 1, "b": 2}), Say("three"))) as server:
        provider = AnthropicProvider(api_key="any", base_url=server.url)
        agent = Agent(AnthropicModel("claude-sonnet-5-5", provider=provider), tools=[add])
        assert (await agent.run("1 + 2?")).output == "three"
        assert server.requests[1].body["messages"][-1]["content"][0]["type"] == "tool_result"

`Loopback` serves any other ASGI app in the same way.
"""

from .anthropic_server import AnthropicServer
from .loopback import Loopback
from .model_server import ModelServer, Received
from .openai_server import OpenAIServer
from .script import Asked, CallTool, CutStream, Delay, Fail, Hang, Malformed, Order, Refuse, Say, Script

__all__ = [
    "AnthropicServer",
    "Asked",
    "CallTool",
    "CutStream",
    "Delay",
    "Fail",
    "Hang",
    "Loopback",
    "Malformed",
    "ModelServer",
    "OpenAIServer",
    "Order",
    "Received",
    "Refuse",
    "Say",
    "Script",
]
