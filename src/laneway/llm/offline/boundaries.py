"""What the offline model must not answer, because an answer would be invented.

The future, causes, advice, orders, other machines, measurements nobody takes here, knowledge of the world. Each
border is a table of phrases over a question read by `reading.read`; crossing one means a model key is needed.
"""

from __future__ import annotations

import re

from laneway.llm.offline.phrases import alternatives, found
from laneway.llm.offline.reading import Reading, plain
from laneway.llm.offline.words import PROGRAMS

_BORDERS = ("future", "cause", "advice", "order_anywhere", "elsewhere", "knowledge", "unmeasured")
_MORE_THAN_A_REMARK = ("future", "cause", "advice", "order_anywhere", "elsewhere")
_FILLERS = r"(?:please|pls|plz|hey|hi|hello|ok|okay|now|just|then|and|also|so|yo|bitte|por favor|stp|svp|mal|et|y|und)"
_ORDER = re.compile(
    r"(?:^|\b(?:to|please|and|then|(?<!did )you|lets|now|must|want|und|dann|bitte|y|luego|et|puis|tu|du) )"
    rf"(?:{_FILLERS} )*(?:{alternatives('order')})\b"
)
# Written out, this asks for a definition; "what's swap?" asks for a figure.
_CONCEPT = re.compile(
    r"\b(?:what is|was ist|define)\s+(?:swap|ram|cpu|memory|linux|load average|disk|a kernel|ubuntu|debian)"
    r"(?: memory| space)?\W*$"
)
_CONDITION = re.compile(r"\b(?:if|wenn|falls|once)\b")
_ASKED_WHETHER = re.compile(
    r"\b(?:check|see|know|me|wonder|wondering|sure|whether|look|verify|tell|curious|ask|asking|find out) if\b"
)
_NO_CONDITION = re.compile(r"\bif (?:so|any|yes|not|possible|you (?:can|could|please|know))\b")
_ADDRESS = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])|https?://")
_DOMAIN = re.compile(
    r"(?<![\w/@.])(?:[a-z0-9-]+\.)+(?:com|org|net|io|de|fr|es|dev|ai|co|uk|eu|info|app|local|lan|internal|cloud)\b"
)
_NUMBERED = re.compile(r"(?<![\w/.])[a-z]+(?:[-_][a-z]+)*[-_]?\d+(?![\w/])|(?<![\w/])[a-z]+\d+[a-z-]+\d*(?![\w/])")
_NOT_A_HOST = re.compile(
    r"^(?:ipv?[46]|x86|x64|i386|utf8|sd[a-z]\d*|nvme\w+|eth\d|ens\d+|wlan\d|cpu\d|md\d|vd[a-z]\d?|enp\w+|top\d+"
    r"|last\d+)$"
)


def is_beyond(reading: Reading, hostname: str) -> bool:
    """True if answering would mean inventing, whatever the topic."""
    # Both as written and as understood: a typing error neither hides a border nor makes one.
    for said in (reading.text, reading.written):
        if _ORDER.search(said) or any(found(border, said) for border in _BORDERS):
            return True
    if _CONCEPT.search(reading.raw.lower()):
        return True
    return _is_conditional(reading.text) or names_another_host(reading.raw, hostname)


def is_more_than_a_remark(reading: Reading, hostname: str) -> bool:
    """True if these words order, ask why, look ahead or name another machine, so what follows depends on them."""
    if _ORDER.search(reading.written) or any(found(border, reading.written) for border in _MORE_THAN_A_REMARK):
        return True
    return _is_conditional(reading.text) or names_another_host(reading.raw, hostname)


def is_about_the_past(reading: Reading) -> bool:
    """True if the question asks about an earlier time, which only logs and the last boot can tell."""
    return found("past", reading.text)


def names_another_host(raw: str, hostname: str) -> bool:
    """True if a machine other than this one is named: an address, a domain, or a name like `web2`."""
    text = plain(raw)
    own = {hostname.lower(), hostname.lower().split(".")[0], "localhost", "127.0.0.1"}
    named = [*_ADDRESS.findall(text), *_DOMAIN.findall(text)]
    numbered = [name for name in _NUMBERED.findall(text) if not _NOT_A_HOST.match(name) and name not in PROGRAMS]
    return any(name not in own for name in [*named, *numbered])


def _is_conditional(text: str) -> bool:
    return bool(_CONDITION.search(_ASKED_WHETHER.sub(" ", _NO_CONDITION.sub(" ", text))))
