"""Skill: greetings, thanks, farewells, and what the offline model can do."""

from __future__ import annotations

import re

from laneway.llm.offline.reading import plain
from laneway.llm.offline.turn import HOW_TO_SET_ONE, Answer, Turn, offline_skills, text

_YOU = r"(?:\ (?:there|laneway|bot|friend|all|everyone|you|team|buddy|mate|zusammen|a\ todos|tout\ le\ monde|amigo))?"
_HELLO = r"""(?:hi+|hey+|hello+|hallo|hola|bonjour|salut|moin|servus|yo|howdy|greetings|hiya|coucou|bonsoir|ciao
    |good\ (?:morning|evening|afternoon|day)|guten\ (?:morgen|tag|abend)|gruss\ gott
    |buenos\ dias|buenas(?:\ (?:tardes|noches))?)"""
_HOW_ARE_YOU = r"""(?:how\ are\ you(?:\ doing)?(?:\ today)?|what\ is\ up|how\ is\ it\ going|wie\ geht\ (?:es\ dir|s)
    |wie\ gehts|como\ estas|que\ tal|(?:comment\ )?ca\ va)"""
_WELL = r"(?:ok|okay|great|super|perfect|cool|nice)"
_THANKS = r"""(?:thanks?|thank\ you|thx|ty|cheers|danke|dankeschon|danke\ schon|vielen\ dank|(?:muchas\ )?gracias|merci)
    (?:\ (?:a\ lot|so\ much|very\ much|a\ bunch|sehr|bien|beaucoup))?"""
_BYE = r"""(?:bye(?:\ bye)?|goodbye|see\ (?:you|ya)(?:\ (?:later|soon|tomorrow))?|good\ night|later|cya
    |tschuss|tschuess|auf\ wiedersehen|bis\ (?:bald|spater|dann|morgen)|gute\ nacht
    |adios|chao|hasta\ (?:luego|pronto|manana|la\ vista)|au\ revoir|a\ bientot|bonne\ (?:nuit|journee|soiree))"""
_HELP = r"""(?:please\ )?help(?:\ me)?(?:\ please)?|h|hilfe|ayuda|aide|aidez\ moi|aide\ moi|commands|menu|start|usage
    |what\ (?:can|do)\ you\ (?:do|know|offer)(?:\ for\ me)?|what\ are\ you(?:\ able\ to\ do)?|who\ are\ you
    |how\ (?:can|could)\ you\ help(?:\ me)?|what\ (?:can|should|could)\ i\ ask(?:\ you)?
    |what\ are\ your\ (?:skills|abilities|commands|features|capabilities)|how\ do\ (?:you\ work|i\ use\ (?:you|this))
    |was\ kannst\ du(?:\ alles|\ fur\ mich\ tun|\ tun)?|w(?:er|as)\ bist\ du|wobei\ kannst\ du\ (?:mir\ )?helfen
    |que\ (?:puedes|sabes)\ hacer|quien\ eres|que\ eres|en\ que\ puedes\ ayudarme
    |que\ (?:peux|sais)\ tu\ faire|qui\ es\ tu|tu\ peux\ faire\ quoi|comment\ peux\ tu\ m\ aider
    |qu\ est\ ce\ que\ tu\ peux\ faire"""

_REPLIES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.X), reply)
    for pattern, reply in (
        (
            rf"(?:{_HELLO}{_YOU}\ ?)+(?:{_HOW_ARE_YOU})?|{_HOW_ARE_YOU}",
            "Hello! Ask me about this server, for example “how full is the disk?” or “is nginx running?”.",
        ),
        (rf"(?:{_WELL}\ )?{_THANKS}{_YOU}|good\ job|well\ done|gut\ gemacht", "You are welcome."),
        (_WELL, "All right."),
        (rf"(?:(?:{_WELL}|{_THANKS})\ )?{_BYE}{_YOU}", "Goodbye."),
    )
)
_ASKS_FOR_HELP = re.compile(_HELP, re.X)


def small_talk(turn: Turn) -> Answer | None:
    """A short reply, if the message is nothing but small talk."""
    said = " ".join(re.sub(r"[^a-z0-9 ]+", " ", plain(turn.question)).split())
    if _ASKS_FOR_HELP.fullmatch(said):
        return text(_help(turn))
    return next((text(reply) for pattern, reply in _REPLIES if pattern.fullmatch(said)), None)


def _help(turn: Turn) -> str:
    who = "I am Laneway's offline model: rules on this machine, no language model."
    return f"{who} {offline_skills(turn.tools)} For everything else I need a model key. {HOW_TO_SET_ONE}"
