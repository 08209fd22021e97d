"""Skill: questions about this server, by the `server_info` tool."""

from __future__ import annotations

import re

from pydantic_ai.tools import ToolDefinition

from laneway.llm.offline.server_topics import server_question
from laneway.llm.offline.server_wording import worded
from laneway.llm.offline.turn import Answer, Turn, outcome, text

SERVER_INFO = "server_info"


def server_questions(turn: Turn) -> Answer | None:
    """The facts in a sentence, or a call of the tool that reads them, if the question is about this server now."""
    asked = server_question(turn.question, turn.hostname)
    if asked is None or SERVER_INFO not in turn.tools:
        return None
    topics = [topic for topic in asked.topics if _offers(turn.tools[SERVER_INFO], topic)]
    if not topics:
        return None
    returned = turn.returned(SERVER_INFO)
    if returned is None:
        lines = asked.lines if "logs" in topics else None
        return turn.call(SERVER_INFO, topics=topics, lines=lines, process=asked.process)
    result, error = outcome(returned)
    return text(worded(asked, result, error))


def _offers(tool: ToolDefinition, topic: str) -> bool:
    """True unless the tool's schema lists its topics and this one is not among them."""
    listed = re.search(r"'enum': \[([^\]]*)\]", str(tool.parameters_json_schema))
    return listed is None or f"'{topic}'" in listed.group(1)
