"""Tier 0: words and word order. No dependency, no cost, and it knows when it does not know."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from laneway.domain.judgement import Intent

_GREETING = r"hi+|hello+|hey+|yo|howdy|good (morning|afternoon|evening|day)|hallo|moin|servus|guten (morgen|tag|abend)|hola|buenos días|buenas|salut|bonjour|bonsoir|ciao|greetings"  # noqa: E501
_THANKS = r"thanks?( you)?|thank you|thx|ty|cheers|much appreciated|danke( schön)?|vielen dank|gracias|merci( beaucoup)?|grazie|great|perfect|nice|cool|awesome|super|ok(ay)?|alright|got it|understood|good|well done|top"  # noqa: E501
_FAREWELL = r"bye( bye)?|goodbye|see you|good ?night|later|tschüss|auf wiedersehen|adiós|hasta luego|au revoir"
_BARE = r"yes|no|nope|yep|yeah|sure|never ?mind|forget it|nah|ja|nein|sí|oui|non"
_FILLER = r"( (there|all|everyone|everybody|team|laneway|a lot|so much|very much|again|for (that|this|the help|your help)|mate|friend|folks|man|then))*"  # noqa: E501
SMALL_TALK = {
    "greeting": re.compile(rf"({_GREETING}){_FILLER}"),
    "thanks": re.compile(rf"({_THANKS})( ({_THANKS}))*{_FILLER}"),
    "farewell": re.compile(rf"({_FAREWELL}){_FILLER}"),
    "bare": re.compile(rf"({_BARE}){_FILLER}"),
}

_ASKS = re.compile(
    r"^(what|whats|what's|who|whos|where|when|why|which|whose|how|is|are|was|were|do|does|did|has|have|had|can i|"
    r"could i|should|will|would it|am i|any idea|any|wie|was|wer|wo|wann|warum|welche[rs]?|ist|sind|hat|gibt es|qué|"
    r"cómo|cuándo|dónde|cuánto|cuál|es|está|hay|quel(le)?s?|comment|quand|où|pourquoi|combien|est-ce)\b"
)
_TELLS = re.compile(r"^(tell me|let me know|explain|i('d| would) like to know|i wonder|do you know|can you tell me)\b")
_POLITE = re.compile(
    r"^(please|pls|kindly|(can|could|would|will) you( please)?|i (want|need) you to|go ahead and|bitte)\s+"
)
_READS = re.compile(
    r"^(show|list|tail|check|find|count|compare|summari[sz]e|draft|translate|read|display|print|get|look|describe|"
    r"search|grep|cat|measure|report|give|fetch|ping|open|zeige?|liste|muestra|montre|affiche)\b"
)
_CHANGES = re.compile(
    r"\b(restart|stop|start|kill|delete|remove|drop|truncate|reboot|shut ?down|install|uninstall|upgrade|update|"
    r"deploy|roll ?back|create|write|edit|change|set|add|move|rename|copy|enable|disable|format|wipe|purge|clear|"
    r"clean|send|schedule|cancel|revoke|grant|push|merge|reset|apply|run|execute|migrate|restore|rotate|block|"
    r"unblock|ban|chmod|chown|mount|unmount|reload|scale|book|order|pay|publish|neu ?starten|lösche?|starte|stoppe)\b"
)
_COMMAND_START = re.compile(rf"^({_CHANGES.pattern[2:-2]}|{_READS.pattern[1:-2]})\b")
_NEGATED = re.compile(r"\b(don'?t|do not|never|without|dry.?run|simulate|preview|what would)\b")


def normalise(text: str) -> str:
    """The text in one spelling: NFKC, lower case, single spaces, no decoration at the ends."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    return re.sub(r"\s+", " ", folded).strip(' \t\n.!,;:~-*_()[]{}"')


def small_talk(text: str) -> str | None:
    """Which kind of small talk a text is, if it is nothing else."""
    plain = re.sub(r"[^\w\s']+", " ", normalise(text))
    plain = re.sub(r"\s+", " ", plain).strip()
    if not plain:
        return "noise"
    return next((kind for kind, pattern in SMALL_TALK.items() if pattern.fullmatch(plain)), None)


@dataclass(frozen=True)
class Guess:
    """What the words alone say, and how sure they are."""

    intent: Intent
    confidence: float
    needs_confirmation: bool = False


def judge(text: str) -> Guess:
    """What the words alone say; below 0.6 confidence means: ask someone better."""
    if small_talk(text) is not None:
        return Guess(Intent.OTHER, 0.97)
    plain = _POLITE.sub("", normalise(text))
    asks = text.rstrip().endswith("?")
    if _COMMAND_START.match(plain) and not (asks and _ASKS.match(plain)):
        read_only = bool(_READS.match(plain)) and not _CHANGES.search(plain)
        confirm = not read_only and bool(_CHANGES.search(plain)) and not _NEGATED.search(plain)
        return Guess(Intent.COMMAND, 0.85, confirm)
    if _ASKS.match(plain) or _TELLS.match(plain) or asks:
        return Guess(Intent.QUESTION, 0.9 if asks else 0.8)
    if _CHANGES.search(plain):
        return Guess(Intent.COMMAND, 0.5, not _NEGATED.search(plain))
    return Guess(Intent.QUESTION, 0.4)
