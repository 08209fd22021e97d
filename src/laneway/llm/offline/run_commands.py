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

from laneway.llm.offline.command_words import PROGRAMS, SUBCOMMANDS, TAKES_A_NAME
from laneway.llm.offline.marking import Said
from laneway.llm.offline.orders import Ask, Offer, Order, Understood, every
from laneway.llm.offline.outcomes import Outcome, block
from laneway.llm.offline.politeness import Words
from laneway.llm.offline.shapes import Found, fitting, shapes

BASH = "bash"
WHERE_IT_ENDS = "I cannot tell where the command begins and ends. Put it in backticks, like this: run `ls -la /tmp`."
SHALL_I = "I run a command only when told to. If you want that, say: run, and then the command in backticks."

_RUN = (
    r"(?:run|execute|exec|fuhre?|ausfuhren|execut(?:e[rz]?)|lance[rz]?|ejecut(?:a|ar|e)|corre|type|enter|issue|do a|do)"
)
_KIND = (
    r"(?:(?:@the(?:following |folgenden |suivante? |siguiente )?(?:shell |bash |terminal )?"
    r"(?:commands?|befehle?|commandes?|comandos?|code|script|skript|block|line)|this(?: one)?|these|the following|das|dies"
    r"|ceci|esto)(?: (?:command|for me|please|here|suivante|siguiente))*\s*:?\s*)?"
)
_OUTPUT = (
    r"(?:,? (?:and|und|et|y) (?:then )?(?:(?:tell|show|give|send|print|report|let)(?: (?:me|us))?(?: (?:back|know))?"
    r"|(?:zeige?|sag|gib|nenne?)(?: mir)?|(?:montre|dis|donne)(?:[ -]moi)?|dime|muestrame|dame|ensename)"
    r"(?: (?:the|its|what|it|is|was|die|das|den|was|la|le|les|ce|que|el|lo|of|full|whole|says?|prints?|shows?|outputs?"
    r"|results?|returns?|gives?|comes out|you get|ausgabe|ergebnis|steht|sortie|resultat|salida|resultado|dice|dit"
    r"|affiche|command|there|back))+)?"
)
_WHERE = r"(?: (?:in|on|at) (?:the |a |my |your )?(?:shell|terminal|bash|console|command line|sandbox|workspace))?"
_END = rf"{_WHERE}{_OUTPUT}{_WHERE}(?: aus)?"
_QUOTES = r"(?P<commands>[\x01\x03]+\x00+[\x02\x04]+(?:(?:,|,? (?:and|und|et|y)(?: then| dann)?| then|&) [\x01\x03]+\x00+[\x02\x04]+)*)"

_QUOTED = shapes(
    rf"{_RUN} ?:?\s*(?:bitte )?{_KIND}{_QUOTES}(?: (?:command|befehl))?\s*{_END}",
    rf"{_QUOTES}\s*(?:bitte )?(?:{_RUN} (?:this|that|it|the above|das|ceci|esto)|ausfuhren){_END}",
)
_ALONE = shapes(r"[\x01\x03]+\x00+[\x02\x04]+")
_BARE = shapes(rf"{_RUN}(?P<colon> ?:)? {_KIND}(?P<command>\S.*?){_END}")
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
    places = re.finditer(r"[\x01\x03]+\x00+[\x02\x04]+", part.marked)
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
            is_fine = token in SUBCOMMANDS or token in PROGRAMS or before in TAKES_A_NAME
        else:
            is_fine = token in _OPERATORS or _is_argument(token)
        if not is_fine:
            return False
        before = token
    return before not in _OPERATORS


def _is_program(token: str) -> bool:
    return token in PROGRAMS or re.fullmatch(r"(?:\.{1,2}|~)?/[\w@%+./-]*\w", token) is not None


def _is_argument(token: str) -> bool:
    """True for options, paths, figures and the like: what no sentence has as a word of its own."""
    if re.search(r"[;`\x00-\x04]", token) or re.fullmatch(r"\w+[,:.!?]+|[a-z]+'[a-z]+", token, re.I):
        return False
    return re.search(r"[-/.=*$<>:~@'\"\d_+%]", token) is not None


def _looks_like_one(text: str) -> bool:
    first = text.split()[0] if text.split() else ""
    return _is_program(first) or first == "sudo"
