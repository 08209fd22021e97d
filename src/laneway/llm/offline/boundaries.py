"""What the offline model must not answer, because an answer would be invented.

The future, causes, advice, orders, other machines, measurements nobody takes here, knowledge of the world. Each
border is a table of phrases over a question read by `reading.read`; crossing one means a model key is needed.
"""

from __future__ import annotations

import re

from laneway.llm.offline.reading import Reading, plain
from laneway.llm.offline.words import PROGRAMS

_FUTURE = r"""
    will(?!\ you\b) | wont | gonna | going\ to | about\ to\ (?:die|crash|explode) | tomorrow
    | next\ (?:week|month|year|day|days|hour|hours|time|\w+day|few) | forecast\w* | predict\w* | project(?:ed|ion) | expect\w*
    | future | eventually | until | how\ soon | by\ (?:tonight|the\ end|end|\w+day|christmas|next) | in\ \d+\ \w+
    | would(?!\ (?:you|like|show|say|print|list|tell|report)\b) | what\ if | happens?\ if | likely | trend\w* | growth | grow\w*
    | (?:wird|werden)\b.*\b(?:sein|voll|reichen|haben|geben|ausgehen|laufen|bleiben) | morgen | nachste\w*
    | bald | vorher(?:sag|seh)\w* | prognose | manana | proxim[oa]s? | seran? | habra | estara\w* | tendra | durara
    | va(?:n|mos)?\ a\b | pronostic\w+ | futuro | llenara
    | demain | prochaine?s? | sera | seront | aura | (?:va|vont)\ (?:etre|se|il|manquer|tomber|durer|tenir)
    | previsions? | bientot | predire | prevoir
    """
_CAUSE = r"""
    why | how\ come | warum | wieso | weshalb | weswegen | por\ que | pourquoi | caus(?:e|ed|es|ing) | reasons? | grund
    | ursache | causa | razon | motivo | raison | what\ made | went\ wrong | (?:what|whats)\ is\ wrong | whats\ wrong
    | who\ (?:killed|restarted|rebooted|deleted|stopped|did|broke|crashed|changed|installed|started|made|owns|wrote)
    | diagnos\w+ | troubleshoot\w* | debug\w* | investigat\w+ | explain\w* | erklar\w* | explica\w* | expliqu\w*
    | crash\w* | absturz\w* | abgesturzt | plante | culprit | responsible | schuld | culpa | fault | blame
    """
_ADVICE = r"""
    should\w* | shall | ought | recommend\w* | suggest\w* | advi[sc]\w* | tips? | best | better | worth | optimi[sz]\w*
    | tun(?:e|ing) | improv\w+ | reduc\w+ | prevent\w* | avoid\w* | upgrad\w+ | fix\w* | repair\w* | speed\ up | solv\w+
    | how\ (?:to|(?:do|can|could|would|should|might)\ (?:i|we|you|one|people|someone)) | what\ (?:can|do|could)\ (?:i|we)
    | need(?:ed|s)?\ (?:to(?!\ (?:know|see|check|find|understand))|for|more) | (?:do|does)\ \w+(?:\ \w+)?\ need(?!\ to\ know)
    | is\ it\ (?:safe|ok|okay|fine|good|bad|possible|wise|normal|a\ good\ idea|time)\ (?:to|for|if|that)
    | enough\b.*\b(?:to|for) | suitable | ideal | soll | sollte\w* | sollen | empf\w+ | rat | ratschlag | wie\ (?:kann|konnen|konnte|mache|bekomme|kriege|lose)
    | was\ (?:kann|konnen|mache)\ (?:ich|wir) | brauch(?:t|en) | brauche\ (?:ich|wir|mehr) | debo | deb(?:eria|emos|eriamos) | recomiend\w* | recomend\w* | consej\w*
    | como\ (?:puedo|podemos|se\ puede|(?:lo\ |la\ )?\w{3,}(?:o|ar|er|ir)) | wie\ (?!viele?\b|haben|stehen)\w+\ (?:ich|man|wir) | que\ (?:puedo|hago) | conviene | necesita(?:mos|n)?
    | mejor\w* | comment\ (?:puis|peut|peux|pouvons|on|je|\w{3,}er|\w{3,}re) | dois | devrai\w+ | faut
    | faudrait | conseil\w* | recommand\w* | meilleure?s? | besoin(?!\ de\ (?:savoir|connaitre|voir)) | opinion | do\ you\ think\ (?:about|of|i|we) | thoughts | prefer
    | can\ (?:this|the|my|our|a)\ \w+\ (?:handle|support|take|run|cope) | how\ many\ \w+\ can | (?<!know\ )(?<!see\ )(?<!check\ )(?<!me\ )if\ (?:i|we) | que\ pasa\ si
    | is\ \d+(?:\ percent|\ gb)? | can\ (?:we|i|it)\ (?!see|get|check|have|know|look|find|ask|please|you|still|put|store|save|fit|squeeze)\w+ | what\ now | now\ what | necesit\w+\ (?!saber|ver|conocer|la\b|el\b)\w+ | para\ que\ sirve
    """
_ORDER_VERBS = r"""
    delete | remove | erase | wipe | purge | kill | stop | start | restart | reboot | shut | shutdown | poweroff | power
    | halt | format | drop | truncate | clear | clean | cleanup | empty | install | uninstall | update | deploy | enable
    | disable | configure | setup | change | modify | edit | create | make(?!\ sure) | write | draft | compose | add | insert
    | unmount | resize | extend | increase | decrease | block | ban | unban | move | copy | rename | execute | backup
    | restore | send | email | mail | text | sms | call | notify | alert | warn | post | tweet | publish | schedule
    | remind | book | order | buy | pay | translate | summari[sz]e | analy[sz]e | compare | calculate | compute | convert
    | generate | build | design | plan | merge | commit | push | monitor | watch | keep | track | plot | graph | chart
    | teach | sing | imagine | pretend | ignore | forget | rotate | drain | destroy | abort | cancel | terminate | end | dont | do\ not | slow\ down | archive | compress | upload | download | fetch
    | connect | ping | scan | hack | mount | allocate | assign | set | turn | switch | flush | dump | kick | log\ (?:me|out|off)
    | free\ up | tell\ (?!me\b|us\b)\w+ | inform | say | swap\ (?:the|these|those|my|out|two|them|it|places) | load\ (?:the|this|my|a|an|up|it|all|data|these)
    | process\ (?:the|this|my|these|a|an|all|our|it) | time\ (?:the|this|my|how) | log\ (?:this|that|my|it|the\ fact)
    | losche\w* | loesche | entfern\w* | starte | stoppe?\b | beende | fahre? | schalte | installier\w* | formatier\w*
    | leere | raume? | erstell\w* | schreibe?\b | andere\b | setze?\b | kopiere? | verschieb\w* | aktualisier\w* | fuhre?
    | tote | schick\w* | ubersetz\w* | sende | bestelle? | borra\w* | elimina\w* | quita | reinicia | deten | para | mata
    | apaga | instala | formatea | limpia | crea | escrib\w+ | cambia | actualiza | mueve | copia | ejecuta | libera
    | vacia | envia\w* | traduce | resume | supprime\w* | efface\w* | enleve | redemarre | arrete\w* | tue | installe
    | formate | vide | nettoie | cree | ecris | change | deplace | copie | lance | execute | libere | envoie | traduis
    """
# Words that are an order wherever they stand.
_ALWAYS_ORDERS = r"""
    rm | sudo | mkfs\S* | dd | chmod | chown | poweroff | deleting | delete | uninstall | wipe | erase | neu\ starten | neustarten
    | herunterfahren | loschen | loeschen | entfernen | beenden | installieren | formatieren | aufraumen | ausschalten
    | abschalten | herunter | borrar | eliminar | reiniciar | apagar | instalar | formatear | limpiar | detener | liberar
    | supprimer | effacer | redemarrer | arreter | installer | formater | nettoyer | vider | liberer | eteindre
    | let\ me\ know\ (?:when|once|as) | (?:whenever|every\ time|as\ soon\ as) | every\ (?:day|hour|minute|morning|week)
    | write\ (?:a|an|me|some|the) | drop\ table | kill\ (?:the|all|process|pid|it|that|every|\d+) | keep\ an\ eye
    """
_KNOWLEDGE = r"""
    your\ mind | (?:tell|talk)\ (?:me|us)\ about\ \w+$ | (?:latest|newest|available|supported)\ versions?
    | mean | means | meaning | bedeut\w+ | signific\w+ | significa\w* | signifie\w* | defin\w+ | differen\w+ | unterschied
    | diferencia | history | invent\w+ | versus | vs | compared | example | beispiel | ejemplo | exemple | tutorial
    | joke | poem | story | haiku | song | recipe | code | script | function | regex | sql | formula | equation
    | (?:what|was|who)\ (?:is|are|ist)\ (?:a|an|ein|eine|eine[nmr])\ \w+
    | que\ es\ (?:el|la|un|una)\ (?!hora|fecha|dia)\w+ | qu\ est\ ce\ que\ (?:le|la|l|un|une|c\ est)\b
    | (?:tell\ me\ )?about\ (?:the\ )?(?:history|future) | how\ (?:does|do)\ (?:a|an|swap|memory|ram|cpu|cpus|linux|virtual|the\ kernel)\b.*\bworks?
    """
_UNMEASURED = r"""
    speed | fast | faster | fastest | latency | iops | throughput | bandwidth | temperature | temp | (?<!running\ )(?<!runs\ )(?<!getting\ )hot | warm
    | fan | fans | cost | costs | price | expensive | cheap | cheaper | money | watts? | power | energy | old
    | age | brand | vendor | warranty | located | location | country | city | where\ (?:is|are(?!\ we)|has|have|did|can|does|should) | secure | security | safe | hacked
    | virus | malware | attack\w* | password\w* | passwort | contrasena | firewall | ports? | puertos? | ping | certificat\w* | ssl
    | tls | dns | backups? | snapshot\w* | sign(?:ed)?\ up | signups? | registered | containers? | pods? | cluster | database | databases | tables? | quer(?:y|ies) | website
    | site | page | domain | customers? | clients? | kunden | orders? | invoices? | emails? | mails? | tickets? | meetings?
    | appointments? | weather | wetter | tiempo\ hace | meteo | temperatur\w* | heiss | heisse\w* | caliente | chaude?s? | wie\ schnell | schneller | balancer
    | balanc\w+ | smart | raid | failing | encrypt\w* | complexity | leaks? | folders? | director(?:y|ies) | ordner | carpetas? | dossiers? | stolen | leaked | gpus?
    | geschwindigkeit | velocidad | vitesse | kostet\w* | cuesta | coute | gb\ of\ data | bigger | smaller | limits?\ (?:of|for) | rate\ limit\w* | log\ (?:of|base) | natural\ log
    """
_ELSEWHERE = r"""
    (?:other|another|second|third|next|backup|staging|stage|production|prod|testing|dev|remote|mail|db|database|web|build
        |old|new|first|neighbour|andere\w*|zweite\w*|otr[oa]s?|segundo|autres?|deuxieme|second)\ (?:server|host|box|machine
        |computer|system|node|instance|vps|rechner|servidor|maquina|serveur|vm)
    | (?:server|servidor|serveur|host|node|box|machine|rechner)\ (?:[a-z]|\d+|one|two|three|zwei|dos|deux)$
    | file\ server | servers | servidores | serveurs | hosts | nodes | boxes | machines | maschinen | maquinas | fleet | instances
    | (?:my|your|his|her|our|their|the|mein\w*|mi|mon)\ (?:laptop|phone|handy|iphone|ipad|tablet|router|nas|car|auto|tv|watch|printer
        |drucker|macbook|house|telefono|telephone|portable|raspberry|pi|notebook|desktop|movil)
    | laptop | phone | smartphone | iphone | macbook | router | wifi | wlan | bluetooth | car | staging | production | prod | cloud | aws | azure | gcp | kubernetes | k8s
    """
_PAST = r"""
    yesterday | last\ (?:week|month|night|year|hour|hours|weekend|\w+day|\d+\ (?:days|hours|weeks|months)) | ago | earlier
    | this\ morning | gestern | vorgestern | letzte\w*\ (?:woche|nacht|monat|jahr|stunde\w*) | ayer | anoche | pasad[oa]s?
    | semaine\ derniere | mois\ dernier | avant\ hier | (?:what|how\ \w+)\ (?:was|were) | used\ to | historical\w* | noon
    | midnight | o\ clock | overnight | peak\w* | maximum | average\ (?:over|for|of)
    """


def _table(phrases: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{phrases})\b", re.X)


_FUTURE_TIMES, _CAUSES, _ADVICES = _table(_FUTURE), _table(_CAUSE), _table(_ADVICE)
_ORDERS_ANYWHERE, _ELSEWHERES, _PAST_TIMES = _table(_ALWAYS_ORDERS), _table(_ELSEWHERE), _table(_PAST)
_BORDERS = (
    *(_FUTURE_TIMES, _CAUSES, _ADVICES, _ORDERS_ANYWHERE, _ELSEWHERES),
    *(_table(_KNOWLEDGE), _table(_UNMEASURED)),
)
_FILLERS = r"(?:please|pls|plz|hey|hi|hello|ok|okay|now|just|then|and|also|so|yo|bitte|por\ favor|stp|svp|mal|et|y|und)"
_ORDER = re.compile(
    rf"""(?:^|\b(?:to|please|and|then|(?<!did\ )you|lets|now|must|want|und|dann|bitte|y|luego|et|puis|tu|du)\ )
    (?:{_FILLERS}\ )*(?:{_ORDER_VERBS})\b""",
    re.X,
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
    r"^(?:ipv?[46]|x86|x64|i386|utf8|sd[a-z]\d*|nvme\w+|eth\d|ens\d+|wlan\d|cpu\d|md\d|vd[a-z]\d?|enp\w+|top\d+|last\d+)$"
)


def is_beyond(reading: Reading, hostname: str) -> bool:
    """True if answering would mean inventing, whatever the topic."""
    text = reading.text
    # Both as written and as understood: a typing error neither hides a border nor makes one.
    if any(border.search(said) for said in (text, reading.written) for border in (*_BORDERS, _ORDER)):
        return True
    if _CONCEPT.search(reading.raw.lower()):
        return True
    return _is_conditional(text) or names_another_host(reading.raw, hostname)


def is_more_than_a_remark(reading: Reading, hostname: str) -> bool:
    """True if these words order, ask why, look ahead or name another machine, so what follows depends on them."""
    borders = (_FUTURE_TIMES, _CAUSES, _ADVICES, _ORDERS_ANYWHERE, _ELSEWHERES, _ORDER)
    return any(border.search(reading.written) for border in borders) or names_another_host(reading.raw, hostname)


def is_about_the_past(reading: Reading) -> bool:
    """True if the question asks about an earlier time, which only logs and the last boot can tell."""
    return bool(_PAST_TIMES.search(reading.text))


def names_another_host(raw: str, hostname: str) -> bool:
    """True if a machine other than this one is named: an address, a domain, or a name like `web2`."""
    text = plain(raw)
    own = {hostname.lower(), hostname.lower().split(".")[0], "localhost", "127.0.0.1"}
    named = [*_ADDRESS.findall(text), *_DOMAIN.findall(text)]
    numbered = [name for name in _NUMBERED.findall(text) if not _NOT_A_HOST.match(name) and name not in PROGRAMS]
    return any(name not in own for name in [*named, *numbered])


def _is_conditional(text: str) -> bool:
    return bool(_CONDITION.search(_ASKED_WHETHER.sub(" ", _NO_CONDITION.sub(" ", text))))
