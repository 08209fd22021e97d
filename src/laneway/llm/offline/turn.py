"""One turn of a conversation as a skill sees it, and what a skill answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    TextContent,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.tools import ToolDefinition

from laneway.domain.schedule import NOTHING

NEEDS_KEY = "I need a model key for that."
HOW_TO_SET_ONE = (
    "Set ANTHROPIC_API_KEY or OPENAI_API_KEY, or point OPENAI_BASE_URL at any OpenAI-compatible server"
    " (Ollama, vLLM, llama.cpp) in the settings."
)
# What can be said of the skills depends on the tools at hand.
_SKILLS = {
    "server_info": "tell how this server is doing (uptime, load, CPU, disk, memory, swap, processes, logs, time,"
    " operating system, network, logged-in users)",
    "read_file": "show a text file (“show notes.txt”)",
    "bash": "run a command you write in backticks, and restart, start or stop a service (“restart nginx”)",
    "write_file": 'write text you give me (“write "hello" to notes.txt”)',
    "edit_file": "replace a text in a file",
    "move_file": "move or rename a file",
    "delete_file": "delete a file",
    "list_files": "list files",
    "glob": "find files by name",
    "grep": "search files for a word",
    "http_request": "fetch an address (“fetch https://…”)",
    "remind": "remind you (“remind me in 20 minutes to …”)",
    "remember": "remember something (“remember that …”)",
    "recall": "look up what I remember",
    "create_task": "create a task (“create a task: …”)",
    "delegate": "hand work to another lane (“delegate to codegen: …”)",
    "search_tools": "search the tools",
}

# The judgement on a message, put below it for models that can use it.
_UNDERSTOOD_AS = re.compile(r"\n\n\[Understood as: .*\]\s*\Z", re.S)
# The word for silence as a prompt writes it; "change NOTHING without asking" is another matter.
_SILENCE = re.compile(
    rf"[`'\"“‘*]{NOTHING}[`'\"”’*]"
    rf"|\b(?i:answer|reply|respond|say|write|return)s?(?: with| exactly| only| just| the word)* {NOTHING}\b"
)
# The first line of an attachment, as the transcript describes it.
_ATTACHED = re.compile(r"^\[(?:file |voice note,|image,|video,|sticker,)", re.M)


@dataclass(frozen=True)
class Turn:
    """The latest question, the tools on offer, and what they returned since it was asked.

    `own_words` is the question without what is attached to it: only there are orders looked for. `may_be_silent` is
    true if the instructions name the word that means nothing is to be said: nobody waits for an answer then.
    """

    question: str
    own_words: str
    tools: Mapping[str, ToolDefinition]
    returns: tuple[ToolReturnPart, ...]
    number: int
    hostname: str
    may_be_silent: bool = False

    def returned(self, tool: str) -> ToolReturnPart | None:
        """What this tool returned last, or None if it was not called since the question."""
        return next((part for part in reversed(self.returns) if part.tool_name == tool), None)

    def call(self, tool: str, **arguments: Any) -> list[ToolCallPart]:
        """A call of this tool with those arguments that its schema knows."""
        known = self.tools[tool].parameters_json_schema.get("properties", {})
        kept = {name: value for name, value in arguments.items() if name in known and value is not None}
        # The same conversation must give the same call, so that a durable run can be replayed.
        return [ToolCallPart(tool, kept, tool_call_id=f"offline_{self.number}_{tool}")]


Answer = Sequence[TextPart | ToolCallPart]
Skill = Callable[[Turn], Answer | None]


def text(said: str) -> Answer:
    """An answer in words."""
    return [TextPart(said)]


def needs_key(tools: Iterable[str]) -> Answer:
    """The honest answer to everything outside the skills."""
    return text(" ".join(part for part in (NEEDS_KEY, HOW_TO_SET_ONE, offline_skills(tools)) if part))


def offline_skills(tools: Iterable[str]) -> str:
    """What can be done without a model, with these tools; empty if nothing."""
    offered = set(tools)
    known = [skill for tool, skill in _SKILLS.items() if tool in offered]
    if not known:
        return ""
    *first, last = known
    return f"Without one I can {'; '.join(first)}{'; and ' if first else ''}{last}."


def latest_turn(messages: Sequence[ModelMessage], tools: Sequence[ToolDefinition], hostname: str) -> Turn:
    """The turn that these messages end with."""
    question, returns, instructions = "", list[ToolReturnPart](), ""
    for message in (message for message in messages if isinstance(message, ModelRequest)):
        for part in message.parts:
            if isinstance(part, UserPromptPart):
                # Earlier turns may have had other instructions.
                question, returns, instructions = _words_of(part), [], ""
            elif isinstance(part, ToolReturnPart):
                returns.append(part)
        instructions = message.instructions or instructions
    question = _UNDERSTOOD_AS.sub("", question)
    own_words = _ATTACHED.split(question, maxsplit=1)[0].strip()
    offered = {tool.name: tool for tool in tools}
    silent = _SILENCE.search(instructions) is not None
    return Turn(question, own_words, offered, tuple(returns), len(messages), hostname, silent)


def _words_of(part: UserPromptPart) -> str:
    """What was asked; files and further texts beside it are material, not the question."""
    if isinstance(part.content, str):
        return part.content
    for item in part.content:
        if isinstance(item, str | TextContent):
            return item if isinstance(item, str) else item.content
    return ""
