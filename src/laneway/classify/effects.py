# ruff: noqa: E501
"""What one clause would do to the world: change it, only look, say nothing about it, or leave it unclear.

The verb at the head of an order decides, with its object where the verb alone does not. Only what grammar makes
certain is called a change or harmless; the rest stays unclear.
"""

from __future__ import annotations

import re
import tomllib
from enum import StrEnum
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("effects.toml")
TYPO_LETTERS = 5
"""Shorter words have too many neighbours for a slip of the finger to be told from another word."""


class Effect(StrEnum):
    """What a clause does."""

    CHANGES = "changes"
    HARMLESS = "harmless"
    UNCLEAR = "unclear"
    NOTHING = "nothing"


_SUBJECTS = r"(?:you|u|we|someone|somebody|anyone|one of you)"
_LEAD = re.compile(
    r"^(?:(?:hey|hi|hello|ok|okay|so|well|yes|yep|sure|no|right|alright|please|pls|plz|kindly|now|just|also|and|then|or|"
    r"but|um+|uh+|eh|yeah|like|maybe|perhaps|simply|quickly|quick|first(?:ly| thing)?|next|finally|afterwards|after "
    r"that|again|thanks|thank you|thx|instead|only|actually|really|immediately|right away|asap|better|rather|too|"
    r"good morning|morning|sorry|today|tonight|tomorrow|mal|bitte|doch|jetzt|dann|und|por favor|y|luego|et|puis|"
    r"s'il (?:te|vous) plaît|e|ed|en|dan|alsjeblieft|graag|proszę|lütfen|пожалуйста|sudo|do(?= (?!i\b|we\b|you\b|not\b|"
    r"the\b|a\b|an\b|it\b|that\b|this\b|they\b|[a-z]+s\b))|"
    rf"(?:can|could|would|will|might) {_SUBJECTS}(?: please| just| kindly| maybe| possibly| quickly| also| then)*|"
    rf"{_SUBJECTS} (?:can|could|may|might as well|should|must|have to|need to|has to|had better)(?: just| now| also)*|"
    r"would you mind|do you mind|mind|would it be possible to|is it possible to|(?:is there )?any (?:chance|way) "
    r"(?:that )?(?:you|we|someone) (?:could|can|might)|could i (?:ask|get|have|trouble) you to|may i ask you to|"
    r"i(?: would|'d)? (?:want|need|like|love|ask|urge|beg) (?:you )?to|i(?: would|'d) (?:appreciate|be grateful|be "
    r"glad|be happy) (?:it )?if (?:you|someone|we)(?: could| would| can)?|i was hoping (?:that )?you (?:could|would|"
    r"can)|(?:it )?(?:would|'d) be (?:great|nice|lovely|good|helpful|cool|awesome) if (?:you|someone|somebody|we) "
    r"(?:could|would|can)|be so kind(?: as)? to|feel free to|go ahead|go on|make sure (?:to|you|that you)|be sure to|"
    r"(?:don't|dont|do not) forget to|remember to|why (?:don't|dont) (?:you|we)|let's|lets|let us|i want you to|"
    r"you are to|time to|(?:when|if|as soon as|whenever) you (?:get|have|find|can)(?: \w+){0,4}?(?: minute| moment| "
    r"time| chance| sec| second)?|if (?:so|not|yes|no|needed|necessary|possible)|otherwise|else|in that case|"
    r"could u|can u|kannst du|könntest du|können sie|könnten sie|würdest du|puedes|podrías|puede|peux-tu|tu peux|"
    r"pourrais-tu|pouvez-vous|tu pourrais|pode|poderia|você pode|puoi|potresti|kun je|kan je|możesz|mógłbyś|falls "
    r"nicht|wenn nicht|sonst|si no|sinon)(?=[\s,:]|$)[\s,:]*)+"
)
_NEGATED = re.compile(
    r"^(?:whatever you do\W*|please |pls |and |but |just |ok |bitte )*(?:don'?t|do not|never|not?(?= )|without|nothing|"
    r"under no circumstances|by no means|in no case|on no account|no need to|you (?:don't|do not|needn't|must not|"
    r"mustn't|shouldn't|may not|need not)|(?:nobody|no one|nothing) (?:may|should|must)|i (?:don't|do not) want|"
    r"keep your hands off|hands off|nicht|nichts|ohne|kein\w*|sin|ne|n'|não|nao|non|niet|nie|nic|не|ничего|لا)\b"
)
_FORGET = re.compile(r"^(?:please )?(?:don'?t|do not) (?:forget|hesitate|ask|wait|bother asking)\b")
_LASTING = re.compile(
    r"\b(?:again|any ?longer|any ?more|no more|no longer|let|from now on|ever|never (?!mind)|until)\b"
)
_NOUN = re.compile(
    r"^\S+ (?:went|is|was|has|had|failed|worked|needed|finished|ran|log|logs|history|status|would|looks|seems|isn't|"
    r"wasn't|did|didn't|took|happened|completed|broke|succeeded|stats|count)\b"
)
_ABROAD_NOT = re.compile(
    r"\b(?:nicht|nichts|kein\w*|hiçbir|ohne|sin|no|ne|pas|sans|não|nao|non|senza|niet|geen|nie|не)\b"
)
_WRITES = re.compile(r"(?:write|put|save|export|dump|create|generate|make|build|store|record|compile|produce)\b")
_NAMED_FILE = re.compile(
    r"\b(?:to|into|in|as|onto|called|named) (?:(?:a|the|my|file) ){0,3}(?:[\w-]+\.(?:csv|txt|json|ya?ml|pdf|xlsx?|md|html|"
    r"sql|gz|zip|tar|log|conf|ini|sh|py|docx?)\b|[~/][\w.~-]*/?\w)"
)
_TURNS = re.compile(r"\b(?:just|only|simply|instead|rather|nur|sondern|solo|seulement)\s+(.+)")
_STATES = re.compile(
    r"^(?:i(?:'ve|'m|'ll| am| have| had| was| will| already| just| never| think| thought| guess| hate| love| like| "
    r"wish| take| changed| removed| restarted| deleted| rebooted| started| stopped| moved| updated| fixed| don't| didn't| did| nearly| almost| see| told| would never)|we(?:'ve|'re|'ll| are| have| had| used| already| did| will| re\w+ed)|"
    r"(?:he|she|they|it|there|nobody|everybody|everyone|someone|somebody)(?:'s|'ve|'re|'ll| is| are| was| were| has| "
    r"have| had| did| will| \w+ed| says| said| told| keeps?)|(?:that|this)(?:'s| is| was| did)|you(?:'re| are| have))\b|"
    r"(?:the|my|our|a|an|der|die|das|o|fyi|[\w'-]+) (?:[\w'-]+ ){0,4}?(?:is|was|were|has been|had|went|failed|says|said|"
    r"war|ist|spinnt)\b(?!.*\b(?:to|gone|needed|need|needs|should|must|please|pls|can go|off by|due|time)\b)|"
    r"(?:wow|lol|haha|ha|hm+|aha|noted|roger|makes sense|fair enough|thank(?:s| you)|thx|ty|sorry|oops|whoops|my bad|happy|"
    r"merry|good (?:night|evening|morning|job)|great|perfect|nice|cool|awesome|weird|ugh|brb|bless|danke|gracias|merci|"
    r"grazie|obrigad[oa]|dank|dzięki|teşekkürler|спасибо|谢谢|شكرا|guten|buenas|bom dia|bonne|moin|wrong (?:chat|window)|"
    r"never ?mind|heads up|just so you know|fyi|works|still|same here|all (?:good|sorted))(?!\w)(?! (?:idea|if|to)\b)"
)
_SUBORDINATE = re.compile(
    r"^(?:if|when|whenever|once|unless|as soon as|in case|after|before|until|while|since|because|although|though|the "
    r"moment|provided|should|wenn|falls|sobald|si|cuando|quand|se|quando|als|jeśli|gdy|eğer|если)\b"
)
_INNER = re.compile(
    r"(?<!\bi )(?<!\bwe )(?<!\byou )(?<!\bthey )(?<!\bto )(?<!\bthe )(?<!\ba )(?<!\ban )(?<!\bwill )(?<!\bdid )(?<!\bor )"
    r"(?<!\bof )(?<!\bno )(?<!\bwould )(?<!\bcan )(?<!\bshould )\b([\w-]+)(?= (?:it|them|him|her|the|all|that|this|"
    r"those|everything|my|our|me)\b)"
)


@cache
def words(name: str) -> frozenset[str]:
    """One group of words from the file."""
    return frozenset(str(_file()[name]).split()) | (words(f"{name}_abroad") if f"{name}_abroad" in _file() else set())


@cache
def phrases(name: str) -> re.Pattern[str]:
    """One list of patterns from the file, as a single pattern."""
    return re.compile("|".join(f"(?:{entry})" for entry in _file()[name]))


def bare(piece: str) -> str:
    """The clause without greetings, politeness and other things that come before the verb."""
    return _LEAD.sub("", piece)


def effect(piece: str) -> Effect:
    """What the clause does, judged as an order."""
    order = bare(piece)
    if not order:
        return Effect.NOTHING
    for form in (piece, order):
        if _NEGATED.match(form) and not _FORGET.match(form):
            return _negated(form)
    if _SUBORDINATE.match(order):
        return _of_condition(order)
    return _of_order(order, polite=order != piece)


def remark(piece: str) -> bool:
    """Whether the clause tells what is or was, and orders nothing."""
    return bool(_STATES.match(bare(piece)))


def _negated(clause: str) -> Effect:
    turned = _TURNS.search(clause)
    if turned:
        return effect(turned[1])
    # "Never again" and "no longer" end something that goes on now.
    return Effect.UNCLEAR if _LASTING.search(clause) else Effect.HARMLESS


def _of_condition(order: str) -> Effect:
    if any(_of_verb(found[1]) is Effect.CHANGES for found in _INNER.finditer(order)):
        return Effect.CHANGES
    tail = re.search(r"\b(?:just|please|then|get|go|do|run|give|make)\b .+", order)
    return Effect.UNCLEAR if tail and not order.startswith(("before", "since", "because")) else Effect.NOTHING


def _of_order(order: str, polite: bool) -> Effect:
    if phrases("harmless_phrases").match(order):
        return _of_text(order)
    if phrases("change_phrases").match(order):
        return Effect.CHANGES
    head = re.match(r"[\w'-]+", order)
    known = _of_verb(head[0]) if head else Effect.UNCLEAR
    if head and (_NOUN.match(order) or (head[0].endswith("ing") and not polite)):
        return Effect.UNCLEAR
    if known is not Effect.UNCLEAR:
        return known
    if phrases("changes_joined").search(order):
        held = phrases("negations_joined").search(order) or phrases("reads_joined").search(order)
        return Effect.UNCLEAR if held else Effect.CHANGES
    if phrases("reads_joined").search(order) or _STATES.match(order):
        return Effect.HARMLESS
    return _of_last(order)


def _of_text(order: str) -> Effect:
    """Text that is written into a named file leaves something behind; into some file, perhaps."""
    if not _WRITES.match(order):
        return Effect.HARMLESS
    if _NAMED_FILE.search(order):
        return Effect.CHANGES
    return Effect.UNCLEAR if phrases("change_phrases").match(order) else Effect.HARMLESS


def _of_last(order: str) -> Effect:
    """Many languages put the verb last."""
    last = re.findall(r"[\w']+", order)[-1:]
    if _ABROAD_NOT.search(order) or not last:
        return Effect.UNCLEAR
    if last[0] in words("changes_abroad") and " " in order:
        return Effect.CHANGES
    return Effect.HARMLESS if last[0] in words("reads_abroad") else Effect.UNCLEAR


def _of_verb(verb: str) -> Effect:
    changes, reads = words("changes"), words("reads")
    verb = re.sub(r"(?:-(?:la|le|les|lo|moi|nous)|'s)$", "", verb)
    if verb in changes or (verb.endswith("ing") and _stems(verb) & changes):
        return Effect.CHANGES
    if verb in reads or (verb.endswith("ing") and _stems(verb) & reads):
        return Effect.HARMLESS
    return _mistyped(verb)


def _mistyped(verb: str) -> Effect:
    """A change whose name has one letter too few, one too many, or two exchanged; nothing else is certain."""
    if len(verb) < TYPO_LETTERS or not verb.isascii() or verb.endswith(("ed", "s", "er", "ing")):
        return Effect.UNCLEAR
    near = verb in _slipped() or bool(_shorter(verb) & words("changes"))
    return Effect.CHANGES if near else Effect.UNCLEAR


@cache
def _slipped() -> frozenset[str]:
    long = [word for word in words("changes") if len(word) > TYPO_LETTERS and word.isascii()]
    return frozenset(slip for word in long for slip in _shorter(word) | _exchanged(word))


def _shorter(word: str) -> set[str]:
    return {word[:place] + word[place + 1 :] for place in range(1, len(word))} if len(word) > TYPO_LETTERS else set()


def _exchanged(word: str) -> set[str]:
    return {word[:place] + word[place + 1] + word[place] + word[place + 2 :] for place in range(1, len(word) - 1)}


def _stems(verb: str) -> set[str]:
    stem = verb[:-3]
    return {stem, f"{stem}e", stem[:-1] if stem[-2:-1] == stem[-1:] else stem}


@cache
def _file() -> dict[str, str | list[str]]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))
