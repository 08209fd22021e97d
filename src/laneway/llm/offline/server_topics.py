"""Which facts about this server a question asks for, or none when it asks for something else."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from laneway.llm.offline.boundaries import is_about_the_past, is_beyond, is_more_than_a_remark
from laneway.llm.offline.commands import command_topics
from laneway.llm.offline.program_names import asked_program
from laneway.llm.offline.reading import Reading, is_known, plain, read

LONGEST_QUESTION = 40
DEFAULT_LINES = 20
LINES_TO_SEARCH = 200


@dataclass(frozen=True)
class ServerQuestion:
    """What to ask the `server_info` tool for."""

    topics: tuple[str, ...]
    process: str | None = None
    lines: int = DEFAULT_LINES
    only_errors: bool = False


def server_question(raw: str, hostname: str) -> ServerQuestion | None:
    """The facts asked for, or None if the question is not surely about this server now."""
    if commanded := command_topics(raw):
        return ServerQuestion(commanded)
    question = _without_purpose(_without_asides(raw))
    return _understood(question, hostname) or _after_a_remark(_without_purpose(raw), hostname)


def _without_purpose(raw: str) -> str:
    """The question without what the room is wanted for: what is left is the same for every purpose."""
    return _PURPOSE.sub(r"\1", raw)


_PURPOSE = re.compile(
    r"(\b(?:left|free|remaining|available|room|space|platz|espacio|sitio|place|frei|ubrig|übrig|libre|libres|disponible)\b)\s+(?:on \w+ \w+\s+)?"
    r"(?:to|for|so|before|fur|für|um|para|pour)\b.*$",
    re.I | re.S,
)


def _after_a_remark(raw: str, hostname: str) -> ServerQuestion | None:
    """The last sentence understood alone, where what was said before it only tells the occasion."""
    *remarks, question = re.split(r"(?<=[,;:.!])\s+|\s+[–-]\s+", raw.strip())
    if not remarks or is_more_than_a_remark(read(" ".join(remarks)), hostname):
        return None
    # "It" would be the thing remarked upon, which need not be this server.
    if _POINTS_BACK.search(plain(question)) and not read(question).has("server"):
        return None
    return _understood(question, hostname)


_POINTS_BACK = re.compile(
    r"\b(?:it|its|they|them|their|he|she|his|her|er|sie|seine?|su|sus|lo|il|elle|ils|son|sa|ses)\b"
)


def _understood(raw: str, hostname: str) -> ServerQuestion | None:
    reading = read(raw)
    if not reading.words or len(reading.words) > LONGEST_QUESTION or is_beyond(reading, hostname):
        return None
    program = asked_program(reading)
    topics = _topics(reading, program)
    if not topics or _is_strange(reading, program, hostname):
        return None
    if is_about_the_past(reading) and not set(topics) & {"uptime", "logs"}:
        return None
    # Of all the facts here only these happened at a time; any other "when" looks ahead.
    if _WHEN.search(reading.text) and not set(topics) & {"uptime", "logs", "time"}:
        return None
    only_errors = "logs" in topics and reading.has("error")
    return ServerQuestion(topics, program, _lines(reading, only_errors), only_errors)


_WHEN = re.compile(r"\b(?:when|wann|cuando|quand)\b")


def _topics(reading: Reading, program: str | None) -> tuple[str, ...]:
    readings = [reading, *_listed(reading)]
    found = [topic for topic, is_asked in _RULES.items() if any(is_asked(one) for one in readings)]
    if program is not None:
        # "How much memory does nginx use?" asks about the program, not about the whole server.
        kept = [topic for topic in found if topic not in ("uptime", "processes")]
        return ("processes", *(kept if _asks_for_more(reading) else []))
    if not found and _asks_how_it_is(reading):
        return ("uptime", "load", "memory", "disk")
    return tuple(found)


def _listed(reading: Reading) -> list[Reading]:
    """The parts of a list such as "time, load and users", each read as a question of its own."""
    parts = re.split(r"\s*(?:,|;|&|\+|/|\b(?:and|und|y|e|et|plus|sowie)\b)\s*", plain(reading.raw))
    return [read(part) for part in parts if len(parts) > 1 and 0 < len(part.split()) <= 3]


def _asks_for_more(reading: Reading) -> bool:
    return bool(re.search(r"\b(?:and|und|y|et|also)\b", reading.text))


_SERVER_OR_IT = r"(?:server|box|machine|host|system|computer|vps|it|this|that|thing|everything|we|you|things|rechner|maschine|kiste|servidor|maquina|sistema|equipo|serveur|systeme|vm|instance)"


def _disk(reading: Reading) -> bool:
    if reading.has("disk"):
        return True
    if re.search(r"(?<!\S)/[\w/-]*(?=[\s?!]|$)", reading.raw) and reading.has("full", "free", "used", "space"):
        return True
    if re.search(r"\b(?:put|store|save|fit|squeeze)\b", reading.text) and reading.has("drive", "disk", "space"):
        return True
    if reading.has("drive") and reading.has("full", "free", "used", "much", "space"):
        return True
    if reading.has("memory", "swap", "speicher"):
        return reading.has("speicher") and reading.has("free", "full", "much", "space")
    if reading.has("space"):
        return reading.has("free", "full", "used", "much", "server") or bool(
            re.search(
                r"\bout of\b|^\W*space$|\b(?:is there|still|hay|gibt es|noch|y a) .*\b(?:room|space|platz|espacio|sitio|place)\b",
                reading.text,
            )
        )
    return reading.has("full") and reading.has("server")


def _memory(reading: Reading) -> bool:
    if not reading.has("memory", "speicher"):
        return False
    # "Swap memory" and "memoria de intercambio" are swap, not memory.
    rest = re.sub(
        r"\b(?:swap|intercambio|echange)\s+(?:memory|memoria|memoire|speicher)\b"
        r"|\b(?:memoria|memoire|memory)\s+(?:(?:de|d|del|of)\s+)?(?:swap|intercambio|echange)\b",
        " ",
        reading.text,
    )
    return read(rest).has("memory", "speicher")


def _swap(reading: Reading) -> bool:
    return reading.has("swap") or "fichier d echange" in reading.text


def _cpu(reading: Reading) -> bool:
    return reading.has("cpu") or (reading.has("busy") and _about_server(reading) and not reading.has("disk", "memory"))


def _load(reading: Reading) -> bool:
    text = reading.text
    if re.search(
        r"\b(?:load|loadavg|sysload|auslastung|systemlast|serverlast|systemauslastung|serverauslastung|loaded|workload)\b",
        text,
    ):
        return not re.search(r"\bload(?:ed|ing)? (?:time|the|my|this|a|an|balancer|of|up|in|into)\b", text) and not (
            "auslastung" in text.split() and reading.has("disk", "memory", "speicher", "swap")
        )
    if re.search(r"\b(?:carga|charge)\b", text):
        return True
    if re.search(r"\b(?:die|der|hohe|aktuelle|cpu|wie hoch ist die) last\b", text) and re.search(
        r"\b(?:wie|ist|die)\b", text
    ):
        return True
    return (reading.has("busy") and _about_server(reading)) or bool(
        re.search(
            r"\bworking (?:too )?hard\b|\bhard\b.*\bwork\w*\b|\bunder (?:pressure|stress|strain)\b|\bbreathing\b|\bheadroom\b",
            text,
        )
    )


def _about_server(reading: Reading) -> bool:
    return bool(re.search(rf"\b{_SERVER_OR_IT}\b", reading.text)) or len(reading.words) <= 2


_UP_SINCE = re.compile(
    r"""\b(?:
    up\ how\ long | (?:up|running|on)\ (?:for\ how\ long|since\ when) | (?:allume\w*|tourne|demarre)\ depuis | (?:lauft|laeuft)\b.*\bseit
    | (?:encendido|corriendo)\ desde | how\ long\b.*\b(?:up|running|on|online|alive|been|boot\w*|reboot\w*|restart\w*|awake) | since\ when | been\ (?:alive|awake|online) | up\ since | days\ without\ (?:a\ )?(?:reboot|restart) | (?:go|went|gone|been|go)\ (?:down|offline) | been\ (?:up|running|on)
    | (?:last|latest|recent\w*|previous)\ (?:\w+\ )?(?:boot\w*|reboot\w*|restart\w*) | boot\ time
    | (?:when|has|have|did|was|were|ever|since)\b.*\b(?:boot\w*|reboot\w*|restart\w*) | (?:boot|reboot|restart)\w*\ (?:recently|lately|today|yesterday|last|overnight|again)
    | (?:seit\ wann|wie\ lange?|seit\ wieviel)\b.*\b(?:lauft|laeuft|an|online|oben|hochgefahren|aktiv|up|gestartet|eingeschaltet|server|rechner)
    | (?:letzte\w*|wann|zuletzt)\b.*\b(?:neustart|reboot\w*|boot\w*|gestartet|hochgefahren|neugestartet|gebootet)
    | (?:cuanto\ (?:tiempo|lleva|hace)|desde\ cuando|cuanto\ tiempo)\b.*\b(?:lleva|encendid\w|corriendo|funcionando|activo|arriba|marcha|servidor|arranc\w+|reinici\w+|maquina|levantado)
    | dias\b.*\b(?:sin|encendid\w|activ[oa]|funcionando) | (?:ultimo|ultima|cuando)\b.*\b(?:reinicio|reiniciado|reinicie|arranque|arranco|encendio|inicio)
    | (?:depuis\ (?:combien|quand)|combien\ de\ temps)\b.*\b(?:tourne|allume\w*|fonctionne|marche|actif|serveur|machine|demarre|redemarre|ligne)
    | (?:dernier|derniere|quand)\b.*\b(?:redemarrage|demarrage|redemarre|demarre|reboot|boot)
    )\b""",
    re.X,
)
_IS_UP = re.compile(
    rf"\b{_SERVER_OR_IT}\s+(?:\w+\s+)?(?:up|alive|online|down|dead|running|awake|lauft|erreichbar)\b$|^(?:up|alive|you there|still up)$"
)


def _uptime(reading: Reading) -> bool:
    text = reading.text
    return (
        reading.has("uptime") or bool(_UP_SINCE.search(text)) or (bool(_IS_UP.search(text)) and "what is" not in text)
    )


_RUNNING_WHAT = re.compile(
    r"""\b(?:what|which|was|welche\w*|que|quels?|quelles?|qui)\b.*\b(?:running|runs|lauft|laufen|laeuft|corriendo|corre|ejecutando\w*|ejecucion|tourne|tournent)
    | \bwhat\b.*\bdoing\b.*\b(?:now|moment|currently) | \bwhat\ is\ \w+\ \w+\ doing$ | ^(?:running|processes|(?:show|run|give|open)?\ ?(?:me\ )?(?:top|htop|ps))$""",
    re.X,
)


def _processes(reading: Reading) -> bool:
    text = reading.text
    if re.search(
        r"\b(?:process|processes|proc|procs|daemons?|prozess\w*|procesos?|processus|programs?|programm\w*|programas?|programmes?|ps|htop|apps?|services|dienste|servicios)\b",
        text,
    ):
        return True
    if _RUNNING_WHAT.search(text):
        return not re.search(r"\b(?:linux|kernel|os|distro|version|betriebssystem)\b", text)
    hungry = reading.has("hog") or (reading.has("top") and reading.has("used"))
    return (
        hungry
        and reading.has("cpu", "memory", "speicher", "load", "server")
        and bool(
            re.search(
                r"\b(?:what|who|which|anything|something|was|wer|que|quien|qui|quoi|top|most|biggest|largest|heaviest|hogs?)\b",
                text,
            )
        )
    )


def _logs(reading: Reading) -> bool:
    text = reading.text
    if re.search(r"\b(?:log|logging) (?:in|on|into|out|off|me|onto)\b", text):
        return False
    if reading.has("log"):
        return True
    return reading.has("error") and bool(
        re.search(
            r"\b(?:any|recent\w*|latest|last|server|system|new|lately|today|happened|show|see|letzte\w*|gab|gibt|hay|ultimos|derniers|dernieres|recents|recientes|a t il|errors|fehler|errores|erreurs)\b",
            text,
        )
    )


_CLOCK = re.compile(
    r"""\b(?:what|which)\ (?:is\ )?(?:the\ )?(?:exact\ |current\ |local\ |server\ |system\ |actual\ )*(?:time|date|day|weekday|year)\b(?!\ (?:does|do|did|are|will|should|was|of|for|to|is\ (?!it\b)|were|can|must|zone))
    | \b(?:current|local|server|system|exact|todays|actual)\ (?:time|date|day|clock) | \btime\ (?:is\ it|now|rn|it\ is|right\ now|there|here|of\ day)
    | \b(?:date|day)\ (?:is\ it|today|now|it\ is) | ^(?:the\ )?(?:time|date|clock|day|uhrzeit|datum|hora|fecha|heure|date|now)(?:\ (?:and|und|y|et|please|pls|bitte)\ ?(?:the\ )?(?:time|date|uhrzeit|datum|hora|fecha|heure)?)?$
    | \b(?:tell|give|show|got|have)\ (?:me\ |you\ )?(?:the\ |got\ )?(?:current\ )?(?:time|date) | \btime\ and\ date | \bdate\ and\ time | \bclock\b
    | \b(?:wie\ spat|wieviel\ uhr|wie\ viel\ uhr|uhrzeit|serverzeit|systemzeit|welche\w*\ (?:datum|tag|wochentag)|was\ fur\ ein\ tag|der\ wievielte|datum)\b
    | \b(?:que\ hora|la\ hora|hora\ (?:es|actual|tiene|del)|que\ (?:dia|fecha)|la\ fecha|fecha\ (?:actual|de\ hoy|es|del))\b
    | \b(?:quelle\ heure|l\ heure|il\ est\ quelle|heure\ (?:est|actuelle|qu)|quel\ jour|quelle\ (?:est\ la\ )?date|la\ date|date\ (?:du\ jour|actuelle|d\ aujourd))\b
    | \bwhat\ is\ today\b | \b(?:welches\ jahr|que\ ano|quelle\ annee)\b""",
    re.X,
)


def _time(reading: Reading) -> bool:
    if reading.has("zone") and reading.words != ("horaire",):
        return True
    if re.search(r"\b(?:time|clock|date|hora|heure|uhr|fecha|datum)\b", reading.text) and len(reading.words) <= 7:
        if reading.has("server") and not reading.has("long", "boot", "uptime", "load", "alive", "log", "process"):
            return True
    return bool(_CLOCK.search(reading.text)) and not reading.has("log", "process")


def _os(reading: Reading) -> bool:
    if reading.has("hostname"):
        return True
    text = reading.text
    if re.search(r"\b(?:name|called|nombre|llama|nom|appelle|heisst|nennt)\b", text) and reading.has("server"):
        return not reading.has("user", "who", "process")
    if re.search(r"\boperating (?:system|sys)|sistema operativo|systeme d exploitation\b", text):
        return True
    if re.search(
        r"\b(?:what|which|welche\w*|que|quel) (?:system|sistema|systeme)\b|\b(?:32|64) bits?\b|\bwhat are you running(?: on)?$",
        text,
    ):
        return True
    return (
        reading.has("os")
        and not reading.has("who")
        and not reading.has("release")
        and not re.search(r"\brelease (?:of|the|notes|date)\b", text)
    )


def _network(reading: Reading) -> bool:
    text = reading.text
    if reading.has("ip") or (reading.has("network") and not re.search(r"\b(?:neural|social|computer) network", text)):
        return True
    return reading.has("address") and reading.has("server", "network")


def _users(reading: Reading) -> bool:
    text = reading.text
    if text in ("who", "w", "who is here") or re.search(r"\bsharing\b|^qui est (?:sur|la|dessus|ici)\b", text):
        return True
    if re.search(
        r"\b(?:who|wer|quien|quienes|qui|anyone|anybody|someone|somebody|jemand|alguien|quelqu|people|leute|gente|gens|users?|nutzer|benutzer|usuarios?|utilisateurs?)\b",
        text,
    ):
        if reading.has("login"):
            return True
        if re.search(
            r"\b(?:who|wer|quien|quienes|anyone|anybody|someone|somebody|jemand|alguien|quelqu|else)\b.*\b(?:on|in|here|auf|hier|there|drauf|dran|en|aqui|sur|ici|online|around|using|connected|active)\b",
            text,
        ):
            return reading.has("server") or bool(
                re.search(r"\b(?:here|hier|aqui|ici|online|else|active|connected|there)\b", text)
            )
        return bool(re.search(r"\b(?:users?|nutzer|benutzer|usuarios?|utilisateurs?)\b", text)) and (
            reading.has("server", "alive", "who")
            or bool(re.search(r"\b(?:active|current\w*|on|connected|here|now)\b", text))
            or len(reading.words) <= 2
        )
    return reading.has("login") and bool(
        re.search(r"\b(?:logged in|logins|sessions?|sitzungen|sesiones|eingeloggt|angemeldet)\b", text)
    )


_RULES: dict[str, Callable[[Reading], bool]] = {
    "uptime": _uptime,
    "load": _load,
    "cpu": _cpu,
    "disk": _disk,
    "memory": _memory,
    "swap": _swap,
    "processes": _processes,
    "logs": _logs,
    "time": _time,
    "os": _os,
    "network": _network,
    "users": _users,
}

_HOW_IS_IT = re.compile(
    rf"""\b(?:how|wie|como|comment|is|are|ist|esta|va|everything|all|alles|todo|tout|any|anything)\b.*\b{_SERVER_OR_IT}\b
    | \b{_SERVER_OR_IT}\b.*\b(?:ok|okay|alright|fine|healthy|status|health|well|doing|gut|bien|estado|etat|sante|zustand)\b
    | \b(?:status|health|overview|summary|vitals|lowdown|rundown|scoop|estado|etat|zustand|state)\b.*\b(?:server|box|machine|system|host|check|report|servidor|serveur|rechner|servers|vps)\b
    | ^(?:status|health|overview|vitals|health\ check|status\ report|state|estado|zustand|etat|report|sitrep|quick\ status|status\ please)$
    | ^(?:everything|all|alles|todo|tout)\ (?:\w+\ )?(?:ok|okay|fine|good|well|alright|gut|bien)""",
    re.X,
)


_HOW_GOES_IT = re.compile(
    r"^(?:so )?(?:how (?:is|are)|wie (?:geht|gehts|steht|laufts)|como (?:esta|va|anda|sigue)|comment (?:va|ca va|se porte))\b.*"
    r"\b(?:server|box|machine|host|vps|rechner|kiste|maschine|servidor|maquina|serveur|system|sistema)\b"
)


def _asks_how_it_is(reading: Reading) -> bool:
    """True for questions about the server's health as a whole."""
    asked = _HOW_GOES_IT.search(reading.text)
    return bool(asked) or (reading.has("health") and bool(_HOW_IS_IT.search(reading.text)))


_PREPOSITION = re.compile(
    r"\b(?:on|of|for|at|from|in|about|to|with|by|does|do|did|auf|von|vom|bei|fur|mit|uber|im|sur|du|pour|chez|del|en|de|sobre|con|para|dans|avec"
    r"|a|an|my|our|the|der|die|das|dem|den|mein\w*|el|la|los|las|mi|le|les|un|une|una|ein|eine)\s+(?:(?:the|my|dem|der|el|la|le|new|old|big|latest|other|own|whole|first|last|same)\s+)?$"
)


def _is_strange(reading: Reading, program: str | None, hostname: str) -> bool:
    """True if words are left over that could change what the question is about."""
    own = {program, hostname.lower(), hostname.lower().split(".")[0]}
    sure = reading.has("server") or len(reading.concepts - _WEAK) >= 2
    left = [word for word in reading.unknown if word not in own and not _only_describes(reading, word, sure)]
    if not left:
        return False
    if any(_is_a_name(reading, word) for word in left):
        return True
    spare = 1 + (len(reading.words) >= 10) if sure else 0
    return len(left) > spare or any(_changes_the_subject(reading, word) for word in left)


# Concepts that say little about what is asked for.
_WEAK = frozenset({"long", "top", "health", "who", "user", "date", "clock"})
_GERMAN = re.compile(r"\b(?:ist|wie|der|das|und|ein|eine|auf|dem|den|noch|wer|welche\w*|zeig\w*|mir|im|gibt)\b")


def _is_a_name(reading: Reading, word: str) -> bool:
    """True for a capital letter inside the sentence; in German every noun has one, so there it tells nothing."""
    return not _GERMAN.search(reading.text) and any(
        match.group(1)[0].isupper() for match in re.finditer(rf"\S\s+({re.escape(word)})\b", reading.raw, re.I)
    )


_PARTICIPLE = re.compile(r"\w{3,}(?:ed|ad[oa]s?|id[oa]s?)|(?:ge|be|ver|uber|aus)\w{3,}(?:t|en)")


def _only_describes(reading: Reading, word: str, sure: bool) -> bool:
    """True for adverbs and for the adjective in "anything strange in the logs"."""
    before = reading.words[max(0, reading.words.index(word) - 1)]
    anything = {"anything", "something", "nothing", "etwas", "irgendwas", "algo", "nada", "rien"}
    if word.endswith(("ly", "ing", "ish")) or before in anything:
        return True
    return sure and _PARTICIPLE.fullmatch(word) is not None


def _changes_the_subject(reading: Reading, word: str) -> bool:
    """True if the word stands where a thing's or an owner's name stands: `on atlas`, `nasa's server`."""
    at = reading.words.index(word)
    before, after = " ".join(reading.words[:at]) + " ", reading.words[at + 1 :]
    return bool(_PREPOSITION.search(before)) or after[:1] == ("s",) or read(" ".join(after[:1])).has("server")


def _without_asides(raw: str) -> str:
    """The question without a greeting or a name before its first comma, or after its last."""
    pieces = re.split(r"(?<=[,;:!.?–])\s+|\s+[–-]\s+|\n+", raw.strip())
    kept = [piece for piece in pieces if not _is_aside(piece)]
    return " ".join(kept) if kept else raw


def _is_aside(piece: str) -> bool:
    words = re.findall(r"[\w'-]+", plain(piece))
    reading = read(piece)
    return (
        len(words) <= 2 + 2 * bool(_GREETING.match(plain(piece)))
        and not is_beyond(reading, "")
        and not piece.rstrip().endswith("?")
        and not (reading.concepts - {"health", "long", "much", "user"})
        and not any(word in _MATTERS for word in words)
        and (any(not is_known(word) for word in words) or bool(_GREETING.match(plain(piece))))
    )


_MATTERS = frozenset("why warum pourquoi will tomorrow should if when not then and or".split())
_GREETING = re.compile(
    r"^\W*(?:hi|hey|hello|hallo|hola|bonjour|salut|moin|servus|yo|good (?:morning|evening|afternoon|day)|guten (?:morgen|tag|abend)"
    r"|buenos dias|buenas (?:tardes|noches)|bonsoir|thanks?|thank you|thx|danke|gracias|merci|ok|okay|cool|great|super|perfect)\b"
)


def _lines(reading: Reading, only_errors: bool) -> int:
    asked = re.search(
        r"\b(\d{1,3})\b(?=(?:\s+\w+){0,3}\s+(?:lines?|entries|zeilen|lineas|lignes|logs?|log|eintrage|entradas))",
        reading.text,
    )
    counted = int(asked.group(1)) if asked else None
    if counted:
        return max(1, min(counted, LINES_TO_SEARCH))
    return LINES_TO_SEARCH if only_errors else DEFAULT_LINES
