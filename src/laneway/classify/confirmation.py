# ruff: noqa: E501
"""Whether a message asks for something that must not happen without a yes.

The message is taken apart into clauses; the worst of them counts. What grammar makes certain is settled here,
everything else by the learned probability with a low guard: uncertain never becomes an unconfirmed action.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from laneway.classify import effects, programs
from laneway.classify.effects import Effect
from laneway.classify.lexicon import lexicon
from laneway.classify.rules import small_talk

Probability = Callable[[Sequence[str]], Sequence[float]]

_QUOTES = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|`[^`\n]*`|(?<!\w)'[^'\n]{3,}'(?!\w)")
_PICTURES = re.compile("[\u2600-\u27bf\ufe0f\U0001f000-\U0001faff]")
_MATERIAL = re.compile(r"(?<=[a-z)\]\"]):\s.*", re.DOTALL)
_SENTENCES = re.compile(r"([.!?;\n。！？；؟…]+)(?=\s|$|[^\x00-\x7f])")
_JOINTS = re.compile(
    r"\s*,\s*|\s+[-–—]+\s+|:\s+|\s+(?=(?:and|then|but|otherwise|or else|if not|if so|und|dann|aber|sonst|falls nicht|y|luego|"
    r"pero|et|puis|mais|sinon|e|ed|poi|ma|en|maar|oraz|ale|ve|и|а|но)\s)|，|、"
)
_QUESTION = re.compile(
    r"^(?:so |and |ok(?:ay)? |well |hey |hi |um+ |but |also |hm+ |eh |lol |good morning |hello |sorry |please |pls |before .{1,30}: )*"
    r"(?:(?:have|had|do) (?:i|we|they|people|customers|users|you (?!mind))\b|(?:can|could|may|should|shall|must|did|does|am|would|will|might) (?:i|we|it|that|this|they|he|she|"
    r"the|a|an|there|anyone|anybody|my|our|your|us)\b|would (?:it|that|you (?:recommend|say|suggest|restart first|rather))\b|"
    r"are you (?:able|sure|allowed)|is (?!there any (?:chance|way) (?:that )?you)|are |was |were |isn't|aren't|wasn't|"
    r"doesn't|didn't|wouldn't|hasn't|has |how(?:'s|s)?\b|since when|why$|what|when (?:did|does|is|was|will|do|are|were|you say|you said)|where|"
    r"which|wich |who|whose|why (?!(?:don't|dont) (?:you|we))|whta|whats|any (?!chance (?:that )?you|way (?:that )?you)|eta\b|"
    r"curious|(?:i(?: was|'m| am)? )?wonder|i(?:'d| would) like to know|i (?:need|want) to know|"
    r"(?:(?:can|could) you )?(?:tell|explain to) me (?:if|whether|how|why|what|when|where|who|which)|"
    r"(?:can|could) you (?:tell|let) me|not sure (?:if|whether|why|how)|"
    r"wie |wer |wo |wann |warum |wieso |welche\w* |was |ist |sind |hat |haben |läuft |kann ich|darf ich|soll ich|gibt es|weißt|"
    r"¿|qué |cómo |cuándo |dónde |cuánt\w+ |cuál|quién |por qué|hay |es |est-ce|quel|comment (?!out)|combien |pourquoi |où |c'est |"
    r"qui |y a-t-il|puis-je|qual |quais |quanto|quanta|quem |onde |por que|posso |come |dove |perché |chi |quale |è |c'è |"
    r"wat |hoe |waar|waarom |wanneer |welke |czy |jak |gdzie |kiedy |dlaczego |ile |kto |почему|как |где |когда|сколько|"
    r"кто |هل|كيف|لماذا|ما )"
)
_REQUEST = re.compile(
    r"(?:can|could|would|will) (?:you|u|someone|somebody|we)\b|would you mind|do you mind|any (?:chance|way) (?:that )?you|why (?:don't|dont) (?:you|we)|"
    r"kannst du|könntest du|können sie|würdest du|puedes|podrías|peux-tu|tu peux|pourr|pouvez|pode |poderia|puoi|potresti|"
    r"kun je|kan je|możesz|mısın|misin|mısınız|ますか|てもらえ|можешь|please|pls"
)
_AFTER_QUESTION = re.compile(
    r"^(?:and |then |but )*(?:if (?:not|so|yes|no)|otherwise|then|if it(?:'s| is)(?: not|n't)?(?: \w+)?|falls|sonst|si no|sinon)\b"
)
_HOW_TO = re.compile(
    r"\b(?:how (?:to|i|we|you|one)|ways? to|steps? (?:to|for)|plan (?:to|for)|procedure|would|pros and cons|command (?:to|for)|whether to|the risk)\b"
)
_REHEARSAL = re.compile(
    r"\b(?:dry.?run|simulat\w+|pretend\w*|preview(?! (?:env|branch|deploy|server|site|pod|box))|what.?if|rehears\w+|hypothetical\w*|no changes|without (?:saving|changing|applying|"
    r"executing|running|sending|touching)|read.?only|only the text|on paper only|nothing (?:goes|may|should|must|is to|gets|else)|no apply|"
    r"(?:don't|dont|do not|never) (?:actually )?(?:run|execute|apply|send|save|submit|commit|install|change|touch)\b|"
    r"probelauf|nur anzeigen|nichts (?:löschen|ändern)|simulacro|sin (?:tocar|cambiar|borrar)|à blanc|sans rien)"
)
_IN_EARNEST = re.compile(
    r"\b(?:for real|if (?:that|it|all|everything|this) (?:looks|is|works|passes|goes|seems)|looks? (?:clean|good|ok|fine)|afterwards|and then|first|after that|the rest|otherwise)\b"
)
_VERB_LIKE = re.compile(
    r"^(?:and|then|but|und|y|et) (?:then |also |just |please )*(?!the|a|an|it|its|that|this|those|these|for|in|on|at|to|of|with|if|how|"
    r"what|why|which|who|when|where|whether|my|our|your|his|her|their|not|no|all|only\b)[a-z]+ (?:\w+ )?(?:it|them|the|each|that|all|"
    r"every|those|a|an|my|our|one|everything|on|him|her|up|down|off|out)\b|^(?:and|then) (?!so|others?|more|such)[a-z]+$"
)
_ASSENT = re.compile(
    r"^(?:(?:yes|yep|yeah|ok|okay|sure|fine|no|nope|nah|please|then|thanks|alright|right|go|do it|go ahead|go for it|go on|proceed|approved|confirmed|"
    r"never mind|nvm|forget it|scratch that|leave it|ja|mach das|sí|adelante|oui|vas-y)[\s,.!]*)+$"
)


@dataclass(frozen=True)
class Piece:
    """One clause with what it does."""

    text: str
    effect: Effect


def pieces(text: str) -> list[Piece]:
    """The message in clauses, each with its effect as an order, a question or a remark."""
    plain = _plain(text)
    found: list[Piece] = []
    start = 0
    for end in [*_SENTENCES.finditer(plain), None]:
        sentence = plain[start : end.start() if end else len(plain)].strip()
        if sentence:
            found += _of_sentence(sentence, bool(end and set("?？؟") & set(end[0])))
        start = end.end() if end else start
    return found


def settled(text: str) -> bool | None:
    """Whether the message needs a yes, where grammar makes that certain."""
    plain = _plain(text)
    if small_talk(text) is not None or _ASSENT.match(plain):
        return False
    line = programs.effect(plain)
    if line is Effect.CHANGES:
        return True
    seen = {piece.effect for piece in pieces(text)}
    if line is Effect.HARMLESS and Effect.CHANGES not in seen:
        return False
    if _REHEARSAL.search(plain) and not _IN_EARNEST.search(plain):
        return False if Effect.CHANGES not in seen or not _outside_rehearsal(text) else None
    if Effect.CHANGES in seen:
        return True
    return False if Effect.HARMLESS in seen and Effect.UNCLEAR not in seen else None


def needs_confirmation(text: str, probability: Probability, guard: float) -> bool:
    """True where the message, or any clause of it, would change something or might."""
    certain = settled(text)
    if certain is not None:
        return certain
    return max(probability([text]), default=1.0) >= guard


def features(text: str) -> list[float]:
    """How the message is built, as numbers between 0 and 1, for learning the same decision."""
    seen = [piece.effect for piece in pieces(text)]
    certain = settled(text)
    return [
        *(float(effect in seen) for effect in Effect),
        float(bool(seen) and seen[0] is Effect.CHANGES),
        float(bool(seen) and seen[0] is Effect.HARMLESS),
        float(certain is True),
        float(certain is False),
        float(bool(_REHEARSAL.search(_plain(text)))),
        float(any(_QUESTION.match(piece.text) for piece in pieces(text))),
        float(any(lexicon()["changes"].search(piece.text) for piece in pieces(text) if piece.effect is Effect.UNCLEAR)),
    ]


def _plain(text: str) -> str:
    """The message in lower case, without what it only quotes or hands over as material."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'").strip()
    unquoted = _QUOTES.sub(" it ", folded) if not _QUOTES.fullmatch(folded) else folded
    before = unquoted.partition(":")[0]
    if _MATERIAL.search(unquoted) and effects.effect(before) is Effect.HARMLESS and not effects.remark(before):
        unquoted = _MATERIAL.sub("", unquoted)
    return re.sub(r"[ \t]+", " ", _PICTURES.sub(" ", unquoted)).strip()


def _of_sentence(sentence: str, marked: bool) -> list[Piece]:
    asks = bool(_QUESTION.match(sentence)) or (marked and not _REQUEST.search(sentence))
    found: list[Piece] = []
    for part in (piece.strip() for piece in _JOINTS.split(sentence)):
        if part:
            asks = asks or bool(_QUESTION.match(part))
            found.append(Piece(part, _of_part(part, asks, found)))
    return found


def _of_part(part: str, asks: bool, before: list[Piece]) -> Effect:
    judged = effects.effect(part)
    if asks:
        return judged if _AFTER_QUESTION.match(part) and before and judged is Effect.CHANGES else Effect.HARMLESS
    if not before or judged is Effect.HARMLESS:
        return judged
    if judged is Effect.UNCLEAR:
        told = any(
            piece.effect is Effect.CHANGES or (piece.effect is Effect.HARMLESS and not effects.remark(piece.text))
            for piece in before
        )
        return Effect.NOTHING if told and not _VERB_LIKE.match(part) else judged
    last = before[-1]
    if judged is Effect.CHANGES and last.effect is Effect.HARMLESS and _carried(last.text, part):
        return Effect.HARMLESS
    return judged


def _carried(last: str, part: str) -> bool:
    """Whether what made the clause before harmless goes on in this one: "do not stop, move or rename anything"."""
    joined = part.startswith(("and ", "or ", "und ", "y ", "et "))
    return (joined and bool(_HOW_TO.search(last))) or bool(re.search(r"\b(?:anything|any of|either)\b", part))


def _outside_rehearsal(text: str) -> bool:
    return any(piece.effect is Effect.CHANGES and not _REHEARSAL.search(piece.text) for piece in pieces(text))
