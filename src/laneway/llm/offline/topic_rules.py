"""The rules that recognise each topic of `server_info` in a question, in four languages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from laneway.llm.offline.reading import Reading, read

SERVER = (
    "(?:server|box|machine|host|system|computer|vps|vm|instance|rechner|maschine|kiste|servidor|maquina|sistema|equipo"
    "|ordenador|serveur|systeme|ordinateur)"
)
_SERVER_OR_IT = f"(?:{SERVER}|it|this|thing|everything|all|we)"


def _phrases(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.X)
    return lambda text: compiled.search(text) is not None


_up_since = _phrases(
    rf"""\b(?:
    up\ how\ long | how\ long\ (?!does|do|did|will|can|should|to|before|until|would|is\ (?:a|the|this))(?:\w+\ )*?(?:up|running|on|online|awake|since)
    | how\ long\b.*\b{SERVER}\b.*\b(?:been|alive|up) | (?:up|running|on)\ (?:for\ how\ long|since\ when) | since\ when
    | {SERVER}\ (?:\w+\ )?been\ (?:\w+\ )?(?:alive|awake|online|up|on|running) | been\ (?:up|running|on)\b | up\ since
    | (?:days|hours|weeks)\b.*\b(?:without|been|up|since) | (?:go|went|gone|been|going)\ (?:down|offline)
    | (?:last|latest|recent\w*|previous|fresh\w*)\ (?:\w+\ )?(?:boot\w*|reboot\w*|restart\w*) | boot\ time
    | (?:when|has|have|did|was|were|ever|since|is|how\ often)\b.*\b(?:boot\w*|reboot\w*|restart\w*)
    | (?:boot|reboot|restart)\w*\ (?:recently|lately|today|yesterday|last|overnight|again)
    | (?:turned|switched|powered)\ (?:off|on)
    | (?:seit\ wann|wie\ lange?|seit\ wieviel|wie\ viele?\ tage)\b.*\b(?:lauft|laeuft|an|online|oben|hochgefahren|aktiv|up|gestartet
        |eingeschaltet|server|rechner|kiste|system|neustart) | (?:lauft|laeuft)\b.*\bseit
    | (?:letzte\w*|wann|zuletzt)\b.*\b(?:neustart|reboot\w*|boot\w*|gestartet|hochgefahren|neugestartet|gebootet)
    | (?:cuanto\ (?:tiempo|lleva|hace)|desde\ cuando|cuantos\ dias)\b.*\b(?:lleva|encendid\w|corriendo|funcionando|activ[oa]|arriba
        |marcha|servidor|arranc\w+|reinici\w+|maquina|levantado|sin) | (?:encendid[oa]|corriendo)\ desde
    | (?:ultim[oa]|cuando)\b.*\b(?:reinicio|reiniciado|arranque|arranco|encendio|inicio)
    | (?:depuis\ (?:combien|quand)|combien\ de\ (?:temps|jours))\b.*\b(?:tourne|allume\w*|fonctionne|marche|actif|serveur|machine
        |demarre|redemarre|ligne) | (?:allume\w*|tourne|demarre)\ depuis
    | (?:dernier|derniere|quand)\b.*\b(?:redemarrage|demarrage|redemarre|demarre|reboot|boot)
    )\b"""
)
_is_up = _phrases(
    rf"\b(?:{_SERVER_OR_IT})\ (?:\w+\ )?(?:up|alive|online|down|dead|running|awake|lauft|laeuft|erreichbar)$|^(?:up|still\ up|you\ up)$"
    r"|^are\ you\ (?:still\ )?(?:up|alive|online|running|awake|there)$|^(?:is|are)\ (?:\w+\ )?you\ (?:up|down)$"
)


def _uptime(reading: Reading) -> bool:
    text = reading.text
    if reading.has("uptime") or (_is_up(text) and not text.startswith(("what", "which"))):
        return True
    return _up_since(text) and not re.search(r"\btop up\b|\byou been (?:alive|here|around|working|doing)\b", text)


_load_words = _phrases(
    r"\b(?:load|loadavg|sysload|loaded|workload|systemlast|serverlast|systemauslastung|serverauslastung|rechnerlast)\b"
    r"|\b(?:die|der|hohe|aktuelle|cpu)\ last\b(?!.*\b(?:the|is|was)\b)"
)
_load_verb = _phrases(r"\bload(?:ed|ing)?\ (?:time|times|the|my|this|a|an|of|up|in|into|it)\b")
_under_load = _phrases(
    r"\bworking\ (?:too\ )?hard\b|\bhow\ hard\b.*\bwork\w*\b|\bunder\ (?:\w+\ ){0,4}(?:pressure|stress|strain|load)\b|\bbreathing\b|\bheadroom\b"
    r"|\bsocks\ off\b|\bsous\ pression\b"
)


def _load(reading: Reading) -> bool:
    text = reading.text
    if _load_words(text):
        return not _load_verb(text)
    if reading.has("load"):
        return not reading.has("disk", "memory", "speicher", "swap")
    return _is_busy(reading) or (_under_load(text) and bool(re.search(rf"\b{_SERVER_OR_IT}\b", text)))


def _is_busy(reading: Reading) -> bool:
    """True if something that can only be this server is said to be busy or slow."""
    if not reading.has("busy") or reading.has("disk", "memory", "network", "swap", "speicher"):
        return False
    subject = re.search(rf"\b{SERVER}\b|\b(?:is|are|how busy|feels|runs)\b.*\b(?:it|this|everything|we)\b", reading.text)
    return bool(subject) or len(reading.words) <= 2


def _cpu(reading: Reading) -> bool:
    return reading.has("cpu") or _is_busy(reading)


_space_asked = _phrases(
    r"\bout\ of\b|^space$|\b(?:is\ there|any|still|hay|gibt\ es|noch|y\ a|reste|low\ on|short\ on|short\ of)\b.*\b(?:room|space|platz|espacio|sitio|place)\b"
)
_mount_point = _phrases(r"(?<!\S)/[\w/-]*(?=[\s?!]|$)")


def _disk(reading: Reading) -> bool:
    if reading.has("disk"):
        return True
    if reading.has("drive") or _mount_point(reading.raw):
        return reading.has("full", "free", "used", "space") or bool(re.search(r"\b(?:mounted|still)\b", reading.text))
    if reading.has("memory", "swap", "speicher"):
        return reading.has("speicher") and reading.has("free", "full", "much", "space")
    if reading.has("space"):
        return reading.has("free", "full", "used") or _space_asked(reading.text)
    return reading.has("full") and reading.has("server")


def _memory(reading: Reading) -> bool:
    # "Swap memory" and "memoria de intercambio" are swap, not memory.
    rest = re.sub(
        r"\b(?:swap|intercambio|echange) (?:memory|memoria|memoire|speicher)\b"
        r"|\b(?:memoria|memoire|memory) (?:(?:de|d|del|of) )?(?:swap|intercambio|echange)\b",
        " ",
        reading.text,
    )
    return read(rest).has("memory", "speicher")


def _swap(reading: Reading) -> bool:
    return reading.has("swap") or "fichier d echange" in reading.text


_process_words = _phrases(
    r"\b(?:process|processes|procs?|daemons?|prozess|prozesse|prozessen|prozessliste|procesos?|processus|ps|htop)\b(?!\ (?:for|of|to|behind|server)\b)"
)
_program_words = _phrases(r"\b(?:programs?|programm|programme|programmen|programas?|programmes|apps?|services|dienste|servicios)\b")
_running_what = _phrases(
    r"""\b(?:what|which|was|welche\w*|que|quels?|quelles?|qui)\b.*\b(?:running|runs|lauft|laufen|laeuft|corriendo|corre|ejecutando\w*
        |ejecucion|tourne|tournent)\b
    | \bwhat\b.*\bdoing\b.*\b(?:now|moment|currently) | ^(?:running|(?:show|run|give|open)?\ ?(?:me\ )?top)$"""
)
_which_one = _phrases(
    r"\b(?:what|who|which|anything|something|someone|was|wer|que|quien|qui|quoi|top|most|biggest|largest|heaviest|hogs?|list)\b"
)


def _processes(reading: Reading) -> bool:
    text = reading.text
    if _process_words(text):
        return True
    if _program_words(text) and reading.has("alive", "top", "hog", "used", "server", "memory", "cpu"):
        return True
    if _running_what(text) and not re.search(r"\b(?:low|out|late|since)\b", text):
        return not reading.has("os", "uptime") and "version" not in text
    hungry = reading.has("hog") or (reading.has("top") and reading.has("used"))
    return hungry and reading.has("cpu", "memory", "speicher", "load", "server") and _which_one(text)


_log_verb = _phrases(r"\b(?:log|logging)\ (?:in|on|into|out|off|me|onto|my|it)\b")
_errors_asked = _phrases(
    r"""\b(?:any|recent\w*|latest|last|server|system|lately|today|happened|show|see|letzte\w*|gab|gibt|hay|ultimos|derniers|dernieres
    |recents|recentes|recientes|kernel)\b|^errors?$|^(?:fehler|errores|erreurs)$"""
)


def _logs(reading: Reading) -> bool:
    text = reading.text
    if _log_verb(text):
        return False
    if reading.has("log") or (reading.has("complaint") and "kernel" in text):
        return True
    return reading.has("error") and _errors_asked(text)


_clock = _phrases(
    r"""\b(?:what|which)\ (?:is\ )?(?:the\ )?(?:(?:exact|current|local|server|system|actual)\ )*(?:time|date|day|weekday|year)\b
        (?!\ (?:does|do|did|are|will|should|was|of|for|to|is\ (?!it\b)|were|can|must|left|until|before|i|my))
    | \b(?:current|local|server|system|exact|actual)\ (?:time|date|clock)\b(?!\ (?:for|in)\b) | \btodays\ date\b | \btoday\ s\ date\b
    | \btime\ (?:is\ it|now|rn|it\ is|right\ now|of\ day)\b | \b(?:date|day)\ (?:is\ it|today|now|it\ is)\b
    | ^(?:the\ )?(?:time|date|clock|uhrzeit|datum|hora|fecha|heure)(?:\ (?:please|pls|plz|now|bitte))?$
    | \b(?:tell|give|show|got|have)\ (?:me\ |you\ )?(?:the\ |got\ )?(?:current\ )?(?:time|date)\b(?!\ (?:left|of|to|for|until|when|i))
    | \btime\ and\ date\b | \bdate\ and\ time\b | \bwhat\ is\ today$
    | \b(?:wie\ spat|wieviel\ uhr|wie\ viel\ uhr|uhrzeit|serverzeit|systemzeit|welche\w*\ (?:datum|tag|wochentag)|was\ fur\ ein\ tag
        |der\ wievielte|datum|welches\ jahr)\b
    | \b(?:que\ hora|la\ hora|hora\ (?:es|actual|tiene|del)|que\ (?:dia|fecha|ano)|la\ fecha|fecha\ (?:actual|de\ hoy|es|del))\b
    | \b(?:quelle\ heure|l\ heure|il\ est\ quelle|heure\ (?:est|actuelle|qu)|quel\ jour|quelle\ (?:est\ la\ )?date|la\ date
        |date\ (?:du\ jour|actuelle|d\ aujourd)|quelle\ annee)\b"""
)


def _time(reading: Reading) -> bool:
    if reading.has("zone") or _clock(reading.text):
        return not reading.has("log", "process", "boot")
    told = re.search(r"\b(?:time|clock|date|day|hora|heure|uhr|fecha|datum)\b", reading.text)
    other = reading.has("long", "boot", "uptime", "load", "alive", "log", "process", "busy", "hog")
    return bool(told) and reading.has("server") and not other


_os_words = _phrases(
    r"""\boperating\ (?:system|sys)\b | \bsistema\ operativo\b | \bsysteme\ d\ exploitation\b | \b(?:32|64)\ bits?\b
    | \b(?:what|which|welche\w*|que|quel)\ (?:system|sistema|systeme)\b | \bwhat\ are\ you\ running(?:\ on)?$"""
)
_named = _phrases(r"\b(?:name|called|nombre|llama|nom|appelle|heisst|nennt)\b")


def _os(reading: Reading) -> bool:
    text = reading.text
    if reading.has("hostname") or _os_words(text):
        return True
    if _named(text) and reading.has("server") and not reading.has("user", "who", "process"):
        return "my name" not in text
    return reading.has("os") and not reading.has("who", "log", "complaint") and "release" not in text


def _network(reading: Reading) -> bool:
    if reading.has("ip"):
        return True
    if reading.has("network"):
        return not re.search(r"\b(?:neural|social|computer) network", reading.text)
    return reading.has("address") and reading.has("server")


_somebody = r"(?:who|wer|quien|quienes|anyone|anybody|someone|somebody|jemand|alguien|quelqu|else)"
_somebody_here = _phrases(
    rf"""\b{_somebody}\b.*\b(?:on|in|here|auf|hier|drauf|dran|en|aqui|sur|ici|online|around|using|connected|active|at)\b
    | ^qui\ est\ (?:sur|la|dessus|ici)\b | \bsharing\b | ^(?:who|w|who\ is\ (?:on|here))$"""
)
_users_words = _phrases(r"\b(?:users?|nutzer|benutzer|usuarios?|utilisateurs?|people|leute|gente|gens|personas)\b")
_here = _phrases(r"\b(?:here|hier|aqui|ici|online|connected|on|active|currently|now)\b")


def _users(reading: Reading) -> bool:
    text = reading.text
    if reading.has("login"):
        return reading.has("user", "who") or bool(re.search(r"\blogged (?:in|on)\b|\b(?:logins|sessions?|sitzungen|sesiones)\b", text))
    if _somebody_here(text):
        return reading.has("server", "login") or bool(re.search(r"\b(?:here|hier|aqui|ici|online|else|w)\b|^who$", text))
    if not _users_words(text) or reading.has("process"):
        return False
    return len(reading.words) <= 2 or (reading.has("server") and _here(text)) or bool(re.search(r"\bonline\b", text))


RULES: Mapping[str, Callable[[Reading], bool]] = {
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

_how_it_is = _phrases(
    rf"""\b(?:how|wie|como|comment|is|are|ist|esta|va|everything|alles|todo|tout|any|anything)\b.*\b{SERVER}\b
    | \b{SERVER}\b.*\b(?:ok|okay|alright|fine|healthy|status|health|well|doing|gut|bien|estado|etat|sante|zustand)\b
    | \b(?:status|health|overview|summary|vitals|lowdown|rundown|scoop|estado|etat|zustand|state)\b.*\b{SERVER}\b
    | ^(?:give\ me\ |show\ )?(?:a\ |the\ )?(?:quick\ )?(?:status|health|overview|vitals|health\ check|status\ (?:report|update)|state|estado|zustand|etat|sitrep)(?:\ please)?$
    | ^(?:is\ |ist\ )?(?:everything|all|alles|todo|tout)\ (?:\w+\ )?(?:ok|okay|fine|good|well|alright|gut|bien)$"""
)
_how_goes_it = _phrases(
    rf"^(?:so\ )?(?:how\ (?:is|are)|wie\ (?:geht|gehts|steht|laufts)|como\ (?:esta|va|anda|sigue)|comment\ (?:va|ca\ va|se\ porte))\b.*\b{SERVER}\b"
)


def asks_how_it_is(reading: Reading) -> bool:
    """True for questions about the server's health as a whole."""
    return _how_goes_it(reading.text) or (reading.has("health") and _how_it_is(reading.text))
