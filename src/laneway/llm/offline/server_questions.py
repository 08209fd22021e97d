"""Skill: questions about this server, by the `server_info` tool."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from pydantic_ai.tools import ToolDefinition

from laneway.llm.offline.carrying_out import carried_out
from laneway.llm.offline.orders import Offer, Order, Telling
from laneway.llm.offline.server_topics import ServerQuestion, server_question
from laneway.llm.offline.server_wording import worded
from laneway.llm.offline.turn import Answer, Turn

SERVER_INFO = "server_info"


def server_questions(turn: Turn) -> Answer | None:
    """The facts in a sentence, or a call of the tool that reads them, if the question is about this server now."""
    order = server_reading(turn.question, Offer(turn.tools), turn.hostname)
    return None if order is None else carried_out(turn, [order])


def server_reading(question: str, offer: Offer, hostname: str) -> Order | None:
    """The order to read the facts that these words ask for."""
    asked = server_question(question, hostname)
    tool = offer.tool(SERVER_INFO)
    if asked is None or tool is None:
        return None
    topics = [topic for topic in asked.topics if offers(tool, topic)]
    if not topics:
        return None
    wanted = {"lines": asked.lines if "logs" in topics else None, "process": asked.process}
    known = tool.parameters_json_schema.get("properties", {})
    more: dict[str, Any] = {name: value for name, value in wanted.items() if value is not None and name in known}
    order = offer.order(SERVER_INFO, "read that", _telling(asked), topics=topics, **more)
    return None if order is None else replace(order, tells_all=True)


def _telling(asked: ServerQuestion) -> Telling:
    return lambda outcome: (
        worded(asked, dict(outcome.fields), outcome.error) or f"{SERVER_INFO} told nothing about that."
    )


def offers(tool: ToolDefinition, topic: str) -> bool:
    """True unless the tool's schema lists its topics and this one is not among them."""
    listed = re.search(r"'enum': \[([^\]]*)\]", str(tool.parameters_json_schema))
    return listed is None or f"'{topic}'" in listed.group(1)
