"""Skill: running a command that the user wrote out, by the `bash` tool.

Shapes:
    run `df -h`                          execute: git status
    please run the command ls -la /tmp   run `id` and `groups`
    run this: ```…```                    ```…``` run this please
    run "docker ps" and tell me the output
    führe `df -h` aus · führ den Befehl … aus · exécute `ls` · lance la commande … · ejecuta `date` · corre el comando …

What is quoted is the command. Without quotes it must begin with a program everybody knows and go on with nothing but
options, paths, figures and the usual subcommands; a plain word more, and the user is asked for backticks.
"""

from __future__ import annotations

import re

from laneway.llm.offline.marking import Said
from laneway.llm.offline.orders import Ask, Offer, Order, Understood, every
from laneway.llm.offline.outcomes import Outcome, block
from laneway.llm.offline.politeness import Words
from laneway.llm.offline.shapes import Found, fitting, shape, shapes
from laneway.llm.offline.words import BEFORE_A_NAME, SHELL_PROGRAMS, SUBCOMMANDS

BASH = "bash"
WHERE_IT_ENDS = "I cannot tell where the command begins and ends. Put it in backticks, like this: run `ls -la /tmp`."
SHALL_I = "I run a command only when told to. If you want that, say: run, and then the command in backticks."

_COMMANDS = r"(?P<commands>@quotations(?:(?:,|,? @and(?: then| dann)?| then|&) @quotations)*)"
_QUOTED = shapes(
    rf"@run ?:? ?(?:bitte )?@command_is{_COMMANDS}(?: (?:command|befehl))? ?@run_end",
    rf"{_COMMANDS} ?(?:bitte )?(?:@run (?:this|that|it|the above|das|ceci|esto)|ausfuhren)@run_end",
)
_ALONE = shapes("@quotations")
_BARE = shapes(r"@run(?P<colon> ?:)? @command_is(?P<command>\S.*?)@run_end")
_OPERATORS = frozenset({"|", "&&", "||"})


def run_commands(words: Words, offer: Offer) -> Understood:
    """The commands as calls of `bash`, or a question where one begins or ends nowhere clearly."""
    if words.is_question:
        return None
    for found in fitting(words.core, _QUOTED):
        return every([_order(command, offer) for command in _quoted(found) if command])
    for found in fitting(words.core, _ALONE):
        return Ask(SHALL_I) if _looks_like_one(found.said.value) and offer.has(BASH) else None
    # The core has lost a full stop at its end, which may be the folder in "ls ."
    ending = re.sub(r"(?<=[\w/'\"-])[.!?]+$", "", words.open.marked)
    spoken = words.open if words.open.marked.endswith(" .") else words.core
    for found in fitting(spoken.cut(0, len(ending)), _BARE):
        return _unquoted(found.part("command"), offer, has_colon=found.has("colon"))
    return None


def bash(command: str, offer: Offer, *, about: str | None = None, done: str | None = None) -> Order | None:
    """The order to run this command; `about` and `done` say what it was for, where that is not the command itself."""

    def tell(outcome: Outcome) -> str:
        output = "\n".join(text.rstrip() for text in (outcome.stdout, outcome.stderr) if text.strip())
        first = done or (f"{_shown(command)}:" if output else f"{_shown(command)} ended well and printed nothing.")
        return f"{first}\n{block(output)}" if output else first

    return offer.order(BASH, about or f"run {_shown(command)}", tell, command=command)


def _order(command: str, offer: Offer) -> Order | None:
    return bash(command, offer)


def _shown(command: str) -> str:
    first, *more = command.splitlines() or [""]
    return f"`{first}`" + (" …" if more else "")


def _quoted(found: Found) -> list[str]:
    """The commands between the marks, without the prompt sign some people copy along."""
    part = found.part("commands")
    places = shape("@quotations").finditer(part.marked)
    return [re.sub(r"\A\$ ", "", part.cut(*place.span()).value.strip()) for place in places]


def _unquoted(command: Said, offer: Offer, *, has_colon: bool) -> Understood:
    written = command.raw.strip()
    tokens = _tokens(command)
    if not tokens or not _is_program(tokens[0]):
        return Ask(WHERE_IT_ENDS) if has_colon and tokens and offer.has(BASH) else None
    if not _is_all_command(tokens):
        return Ask(WHERE_IT_ENDS) if offer.has(BASH) else None
    return every([_order(written, offer)])


def _tokens(command: Said) -> list[str]:
    """The words of the command; what is quoted inside it counts as one that is no plain word."""
    marked = re.sub(r"\x01+\x00*\x02+", "'", command.marked)
    # A plain word is judged as written: "Status" begins a sentence, "status" is a subcommand.
    return (command.raw if "'" not in marked else marked).split()


def _is_all_command(tokens: list[str]) -> bool:
    before = ""
    for token in tokens:
        if before in ("", *_OPERATORS):
            is_fine = _is_program(token)
        elif token.isalpha():
            is_fine = token in SUBCOMMANDS or token in SHELL_PROGRAMS or before in BEFORE_A_NAME
        else:
            is_fine = token in _OPERATORS or _is_argument(token)
        if not is_fine:
            return False
        before = token
    return before not in _OPERATORS


def _is_program(token: str) -> bool:
    return token in SHELL_PROGRAMS or re.fullmatch(r"(?:\.{1,2}|~)?/[\w@%+./-]*\w", token) is not None


def _is_argument(token: str) -> bool:
    """True for options, paths, figures and the like: what no sentence has as a word of its own."""
    if re.search(r"[;`\x00-\x04]", token) or re.fullmatch(r"\w+[,:.!?]+|[a-z]+'[a-z]+", token, re.I):
        return False
    return re.search(r"[-/.=*$<>:~@'\"\d_+%]", token) is not None


def _looks_like_one(text: str) -> bool:
    first = text.split()[0] if text.split() else ""
    return _is_program(first) or first == "sudo"
