"""One turn of a conversation as the rules see it, small talk, and what can be done with the tools at hand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

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
from laneway.language.refusal import MODEL_HINT
from laneway.language.tokens import fold

NEEDS_KEY: Final = MODEL_HINT
HOW_TO_SET_ONE: Final = (
    "Set ANTHROPIC_API_KEY or OPENAI_API_KEY, or point OPENAI_BASE_URL at any OpenAI-compatible server"
    " (Ollama, vLLM, llama.cpp) in the settings."
)
# What can be said of the skills depends on the tools at hand.
_EXAMPLES: Final = {
    "server_info": "“how full is the disk?”, “is nginx running?”, “tell me if the memory is above 80 %”",
    "bash": "“run `df -h`”, “restart nginx”, “how big is /var/log?”", "read_file": "“show notes.txt”",
    "write_file": '“write "hello" to notes.txt”', "edit_file": '“change "a" to "b" in notes.txt”',
    "move_file": "“rename a.txt to b.txt”", "delete_file": "“delete a.txt”", "list_files": "“list the files”",
    "glob": "“find *.log”", "grep": "“search for timeout in src”", "http_request": "“fetch https://example.com”",
    "remind": "“remind me at 6pm to call Ann”", "remember": "“remember that the key is under the mat”",
    "recall": "“what do you remember about the key?”", "create_task": "“create a task: order disks”",
    "delegate": "“delegate to the tools lane: restart nginx”", "search_tools": "“search the tools for mail”",
}  # fmt: skip
_HELLO: Final = "Hello! Ask me about this server, for example “how full is the disk?” or “is nginx running?”."
_SMALL_TALK: Final = {
    r"(?:hi|hey|hello|good (?:morning|evening|afternoon|day))(?: there| laneway| all)?|how are you": _HELLO,
    r"(?:(?:ok|great|perfect) )?(?:thanks|thank you|thx)(?: a lot| so much| very much)?|good job": "You are welcome.",
    r"ok|okay|great|perfect|cool|nice|alright": "All right.",
    r"(?:(?:ok|thanks) )?(?:bye|goodbye|see you(?: later| soon| tomorrow)?|good night)": "Goodbye.",
}
_HELP: Final = re.compile(r"(?:please |can you )?help(?: me)?|what can you do(?: for me)?|who are you")
NOTHING_ASKED: Final = (
    "a remark or a report that orders nothing. If it tells of a problem, look into it with what only reads and say what"
    " you found; else answer in a sentence."
)
# The judgement on a message, put below it for models that can use it.
_UNDERSTOOD_AS: Final = "\n\n[Understood as: "
# The word for silence as a prompt writes it; "change NOTHING without asking" is another matter.
_SILENCE: Final = re.compile(
    rf"[`'\"“‘*]{NOTHING}[`'\"”’*]"
    rf"|\b(?i:answer|reply|respond|say|write|return)s?(?: with| exactly| only| just| the word)* {NOTHING}\b"
)
# The first line of an attachment, as the transcript describes it.
_ATTACHED: Final = re.compile(r"^\[(?:file |voice note,|image,|video,|sticker,)", re.M)

Answer = Sequence[TextPart | ToolCallPart]


@dataclass(frozen=True)
class Turn:
    """The latest message, the tools on offer, and what they returned since."""

    own_words: str
    """The message without what is attached to it: only there are orders looked for."""
    tools: Mapping[str, ToolDefinition]
    returns: tuple[ToolReturnPart, ...]
    number: int
    may_be_silent: bool = False
    """True if the instructions name the word that means nothing is to be said: nobody waits for an answer then."""
    is_remark: bool = False
    """True if the judgement below the message says that it asks for nothing."""

    def call(self, tool: str, **arguments: Any) -> Answer:
        """A call of this tool."""
        # The same conversation must give the same call, so that a durable run can be replayed.
        return [ToolCallPart(tool, arguments, tool_call_id=f"offline_{self.number}_{tool}")]


def say(text: str) -> Answer:
    """An answer in words."""
    return [TextPart(text)]


def small_talk(turn: Turn) -> Answer | None:
    """A short reply, if the message is nothing but small talk or a call for help."""
    said = " ".join(re.sub(r"[^a-z ]+", " ", fold(turn.own_words[:200])).split())
    if _HELP.fullmatch(said):
        return say(describe_skills(turn.tools))
    return next((say(reply) for pattern, reply in _SMALL_TALK.items() if re.fullmatch(pattern, said)), None)


def describe_skills(tools: Iterable[str]) -> str:
    """What can be done without a model, with these tools, each shown by an example."""
    offered = set(tools)
    known = [f"- {example}" for tool, example in _EXAMPLES.items() if tool in offered]
    first = "I am Laneway's offline model: rules on this machine, no language model."
    return "\n".join([f"{first} Say it like this:" if known else first, *known, f"{NEEDS_KEY} {HOW_TO_SET_ONE}"])


def latest_turn(messages: Sequence[ModelMessage], tools: Sequence[ToolDefinition]) -> Turn:
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
    before, mark, judgement = question.rpartition(_UNDERSTOOD_AS)
    question = before if mark and judgement.rstrip().endswith("]") else question
    own_words = _ATTACHED.split(question, maxsplit=1)[0].strip()
    offered = {tool.name: tool for tool in tools}
    is_remark = question.endswith(f"\n\n[Understood as: {NOTHING_ASKED}]")
    is_silent = _SILENCE.search(instructions) is not None
    return Turn(own_words, offered, tuple(returns), len(messages), is_silent, is_remark)


def _words_of(part: UserPromptPart) -> str:
    """What was asked; files and further texts beside it are material, not the question."""
    items = [part.content] if isinstance(part.content, str) else part.content
    texts = (item if isinstance(item, str) else item.content for item in items if isinstance(item, str | TextContent))
    return next(texts, "")
