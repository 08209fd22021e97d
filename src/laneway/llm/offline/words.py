"""The words the offline model knows, in English, German, Spanish and French, written without accents.

`MEANINGS` maps a concept to its words. `PLAIN` words carry no concept but are understood, so they do not make a
question strange. `NOT_TYPOS` are real words that look like one of ours and must never be "corrected" into it.
"""

from __future__ import annotations

MEANINGS: dict[str, str] = {
    "disk": """disk disks disc hdd ssd harddisk harddrive storage filesystem filesystems partition partitions df du
        lsblk fs rootfs festplatte festplatten platte platten speicherplatz plattenplatz festplattenplatz
        festplattenspeicher dateisystem disco discos almacenamiento particion particiones disque disques stockage
        partitionen volumes datentrager""",
    "drive": "drive drives volume mount mounts mounted",
    "space": "space room espacio sitio espace place platz gb gig gigs gigabyte gigabytes gigas giga",
    "memory": "memory ram mem memoria memoire arbeitsspeicher hauptspeicher vmstat meminfo rams",
    "speicher": "speicher speicherauslastung speicherbelegung speicherverbrauch",
    "swap": """swap swapping swapfile swapped swapspace auslagerungsdatei auslagerungsspeicher intercambio pagefile
        swapspeicher""",
    "cpu": """cpu cpus processor processors prozessor prozessoren procesador procesadores processeur processeurs core
        cores kerne kern nucleos nucleo coeurs coeur prozessorauslastung prozessorlast cpuauslastung""",
    "load": """load loadavg sysload auslastung systemlast serverlast systemauslastung serverauslastung rechnerlast carga charge
        workload loaded""",
    "uptime": "uptime betriebszeit laufzeit betriebsdauer",
    "boot": """boot booted boots reboot rebooted reboots restart restarted restarts neustart neugestartet gebootet
        rebootet hochgefahren gestartet reiniciado reiniciada reinicio reinicios arranque arranco arrancado encendido
        encendida prendido demarre demarrage redemarre redemarrage allume allumee""",
    "process": """process processes proc procs program programs daemon daemons ps htop prozess prozesse prozessen
        programm programme programmen proceso procesos programa programas processus programmes app apps service services
        dienst dienste servicio servicios jobs prozessliste""",
    "log": """log logs syslog logfile logfiles journal journalctl dmesg logging protokoll protokolle logdatei
        logdateien systemprotokoll registro registros bitacora journaux logeintrage logzeilen""",
    "clock": "time clock uhrzeit uhr hora heure zeit serverzeit systemzeit spat horas",
    "date": "date datum fecha day weekday year jahr annee tag wochentag dia jour",
    "zone": "timezone timezones tz zeitzone horaria horaire fuseau huso",
    "os": """os noyau distro distribution kernel linux ubuntu debian fedora centos alpine unix betriebssystem uname kernels
        distribucion exploitation operativo architecture arch betriebssysteme release linuxversion kernelversion""",
    "hostname": "hostname hostnames rechnername servername hostnamen",
    "ip": """ip ips ipv4 ipv6 ipaddress ifconfig interface interfaces nic nics netzwerkkarte netzwerkschnittstellen
        netzwerkschnittstelle netzwerkadresse ipadresse interfaz interfaces ipadressen ethernet""",
    "network": "network networks netzwerk red reseau networking",
    "address": "address addresses addr adresse adressen direccion direcciones adresses",
    "user": """user users benutzer nutzer anwender usuario usuarios utilisateur utilisateurs somebody someone anybody
        anyone jemand alguien quelqu people person leute gente gens personas""",
    "who": "who w wer quien quienes whoami",
    "login": """login logins logged connected verbunden angemeldet eingeloggt anmeldungen conectado conectada conectados logueado
        logueados connecte connectes connectee sessions session sitzung sitzungen sesion sesiones ssh-sessions""",
    "server": """server servers box machine host system computer vps instance rechner maschine servidor maquina sistema
        serveur ordenador equipo ordinateur kiste systeme serverchen vm""",
    "hog": """eating eats hogging hogs hog consuming consumes chewing gobbling burning taking devouring sucking draining
        frisst fressen verbraucht belegt consume consumiendo come comiendo comiendose consomme bouffe mange bouffent
        consomment gastando gasta killing consumers consumer eaters eater guzzling guzzler consumen verbrauchen verbraten
        ocupando ocupa ocupan""",
    "top": """top most biggest largest heaviest hungriest highest busiest meiste meisten grosste grossten mas mayor
        mayores plus gros gourmands gourmand gourmandes""",
    "busy": """busy slow sluggish lagging laggy struggling stressed overloaded overworked sweating choking idle hammered
        pegged maxed swamped stress strain idling bottleneck bottlenecked bottlenecks taxed strained burdened sollicitee sollicite
        belastet belastung estresado ausgelastet uberlastet langsam beschaftigt ocupado ocupada lento lenta sobrecargado
        saturado saturada charge chargee cargado cargada occupe lent lente lents surcharge surchargee sature lahm trage rame""",
    "health": """health healthy status state okay ok alright fine well good doing holding vitals overview summary
        condition zustand gesund estado salud bien sante etat gut geht va vas wrong sitrep lowdown rundown scoop""",
    "alive": """running runs alive up online down active started dead lauft laeuft laufen laufende aktiv lebt corriendo
        corre funcionando funciona activo activa activos vivo arriba marcha ejecutando ejecutandose ejecucion levantado
        caido tourne tournent fonctionne actif active actifs lance lancee vivant demarree off working funktioniert
        erreichbar fallen died die dies stopped stirbt gestorben muerto murio mort morte marchent fonctionnent
        marchando awake kicking""",
    "error": """error errors warning warnings failure failures oom fehler warnungen fehlermeldungen errores avisos erreur
        erreurs avertissements fehlermeldung""",
    "complaint": """problem problems issue issues complaint complaints complaining complain trouble troubles probleme
        problemas problemes""",
    "free": """free left remaining available spare unused frei freier freies freien ubrig verfugbar libre libres
        disponible disponibles queda quedan reste restant restante vacio restent leer""",
    "full": """full fuller fullest filled fill fills filling packed crammed voll lleno llena llenos plein pleine plena remplit remplie saturated""",
    "used": """taken use used uses using usage utilization utilisation consumption percent percentage occupied verbrauch
        verwendet benutzt genutzt belegung nutzung prozent uso usado usada usados utilizado usando utilise utilisee
        utilisees occupes pourcentage porcentaje ocupada belegten consumo consommation verwendung benutzung nutzt benutzen verwenden genutzten""",
    "much": """much many lot lots viel viele wieviel wieviele cuanto cuanta cuantos cuantas combien enough genug
        suficiente assez total gesamt amount quantity""",
    "long": "long lange tiempo temps longtemps seit since depuis desde lang",
}

PROGRAMS = frozenset(
    """nginx apache apache2 httpd caddy traefik haproxy postgres postgresql mysql mysqld mariadb redis redis-server
    valkey mongo mongod mongodb elasticsearch opensearch rabbitmq kafka zookeeper docker dockerd containerd kubelet
    ssh sshd cron crond systemd systemd-resolved python python3 node nodejs java php php-fpm gunicorn uvicorn celery
    prometheus grafana jenkins gitlab minio memcached dnsmasq postfix dovecot exim fail2ban openvpn wireguard
    tailscaled chrome firefox tmux bash ollama laneway supervisord pm2 samba smbd rsync rsyslogd rsyslog telegraf
    loki vault consul etcd tomcat varnish squid sqlite clickhouse influxdb node_exporter named ntpd chronyd vim""".split()
)

PLAIN = frozenset(
    """a about again all also am an and any anything are around as at be been being bit both but by can cause check
    checked checking could course currently current curious cuz did display do does done dude each either else even
    ever every everything exactly far few find for from gb get gimme give go going gonna got great had has have having
    he hell heck here hey hi high hello how i id im in info information into is it its just kind know last lately let
    like line lines list little live local look looking low machines mate may maybe me mb moment more much must my name
    named called need newest no not now number numbers of often oh on one only onto or our out over part peek per please
    pls plz pretty print pull quick quickly quite ram rather read real really recent recently report right rn roughly
    run running say see seem seems set several shall she show showing size sized so some something soon sort specs
    still sure take tell than thank thanks that the their them then there these they thing things this those thx till to
    today todays together too u understand us value version very wanna want was way we were what whats whatever when
    where whether which while whose why will wit with within wonder wondering would wouldnt x ya yeah yep yes yet yo you
    your yours buddy friend pal man folks guys team boss sir maam bro bot damn bloody freaking frigging actual actually
    average averages basically briefly capacity day days hour hours minute minutes second seconds week weeks month
    months percent entries entry file files tail head latest fresh happening happened happens happen kinda sorta ok
    physical logical virtual built installed private public internal lan wan assigned bound own count counts total
    utc gmt root main home var tmp data zero three two five ten twenty fifty hundred close anywhere near beefy big
    heavy heavily hard light strong model kinds type names whats hows whos wheres theres thats lets itself yourself
    there's open opened output present presently point short shortly simple single start starts stop stay staying stand
    standing such term terms trouble worry worried worrying concerned able afford ahead almost already always amongst
    remotely via through directly basically literally honestly roughly approx approximately exact precise precisely
    chance hw wat wht wut ur r da wanna whatcha hit hitting reach reached reaching breathing pressure heat headroom spin spinning crank work worked
    works working hosting hosted host's based powered sits sitting tight tiny bytes mib gib tb terabytes
    if whether ages another save squeeze store fit put put enough oom freshly beast thing's brag colleague according accordingly zombie zombies orphan defunct nasty ugly scary fishy alarming concerning funny juicy complain wants want about true told flavour flavor spit asleep shape rough throw hand fetch peep poking risk config configuration configured settings bits resources resource risk think avg play verify confirm ensure app messages message footprint zona limit situation glance idea guess stuff deal picture figure figures stat stats wise getting gone gotten kept sharing
    share mind remember forgot weird odd strange unusual suspicious interesting notable important new shape feeling
    feels feel looks sound sounds hold coping cope surviving survive over purring humming happy sick tired without before
    after during plenty loads bunch whole entire overall general rough instant realtime immediate kindly might appreciate
    grateful sec favour favor question questions ask asking knowing learn hear heard update brief briefing readout reading
    readings metric metrics detail details breakdown stands come came comes bring put switched powered plugged woke
    launched went goes hungry greedy others myself alone shell terminal console tty exist exists absent wide level levels
    rate portion fraction ratio under above below because off good morning evening afternoon night nice cheers hiya howdy
    thankyou ta lol hmm hm um uh er anyway btw fyi asap urgent urgently dear welcome possibly perhaps probably
    apparently keep keeps makes made mostly fully completely entirely nearly mainly usually
    normally normal usual regular decent ton tons heaps handful couple minor major max min maximum minimum
    sixteen thirty forty sixty dozen double quarter half stuck hung hanging frozen
    responsive responding respond responds reachable accessible offline unavailable somewhere anytime
        """.split()
    + """aber alle alles als am an auch auf aus bei beim bin bis bitte da dann das dass dein deine deinem deiner dem den
    denn der des dessen die dies diese diesem diesen dieser dieses dir doch du ein eine einem einen einer eines er es
    etwas euch euer fur fuer gab ganze gerade gesamt gib gibt gibts grad gross habe haben hab hallo hast hat hatte heute
    hier hoch hohe hoher ich ihr im in insgesamt ist ja jetzt kann kannst kein keine klein konnen konnte konntest kurz
    letzte letzten letzter letztes mal man mehr mein meine meinem meiner mich mir mit momentan nach nachsehen nachschauen
    name namens noch nun nur oder of sag sage sagen schau schon sehen sein seine sich sie sind so sollte steht stehts
    trotzdem uns unser unsere unserem unseren unter viel von vom vor wann war warst was welche welchem welchen welcher
    welches wem wen wenn werden wie wieder wir wird wirklich wo wohl worauf wurde wurden zeig zeige zeigen zeigst zeilen
    ziemlich zu zum zur zuletzt zurzeit zwei drei online eigentlich eben aktuell aktuelle aktuellen aktueller derzeit
    derzeitige insgesamt ob verrate verraten wissen weiss moechte mochte will anzeigen angezeigt liste auflisten eintrage
    meldungen neuesten neueste version nummer denn bereits sonst sowie und los gehts lautet heisst nennt maschinen tage
    wochentag haben wieviel angeschaltet eingeschaltet installiert drauf darauf daran dran knapp eng genau ungefahr
    stark reicht reichen ohne sagt sagen gehts siehts sieht eingeschaltet laufts hats ists ansehen schaut schauts stand lage bescheid kurze kurzer frage fragen gern gerne wusste weisst mittlerweile
    inzwischen bisher macht machen machst tut tun grade uberhaupt fast beinahe wenig weniger maximal ausreichend genugend
    zeigs gebe geben nenne nennen liefere checke prufe pruf prufen uberprufe guck gucken schaue kuck anschauen vorhanden
    existiert hangt haengt hakt antwortet brummt jungste jungsten aktuellste ab rum drin welch woran anzahl restlicher
    danke dank super okay guten abend moin servus gruss irgendwas irgendwelche irgendjemand nichts niemand
    letztens kurzlich neulich mach hol hole klar mensch bloss konntet wurdest stimmt lasst lassen freie
        """.split()
    + """a acaba actual actualmente ahora al algo algun alguna algunos ano aqui asi aun bastante buenas buenos cada como
    con cual cuales cuando de decir decirme dame del dentro desde despues di dime donde dos el ella en encendido entre
    era es esa ese eso esta estado estamos estan estas este esto estos estoy ha hace hacia han hasta hay haya hola hoy
    kernel la las le les lineas llama lleva llevamos lo los maquina me mi mira mis momento mostrar mostrarme muestra
    muestrame mucha mucho muy necesito ninguna no nos nuestra nuestro o os otra para pero podrias poco por favor
    pregunta puede puedes pues que quiero quisiera recientes reciente resumen se sea segun ser si sido sigue siguen
    sin sobre solo son su sus tal tambien tan tanto te tenemos tener tengo tiene tienen tienes toda todas todo todos
    trabajando tu tus ultima ultimas ultimo ultimos un una unas uno usa usan ver version vez y ya yo lista listar ensename
    saber tres cinco diez veinte entradas cuyo porcentaje nombre gracias oye dias minutos segundos alto alta
    alli ahi ambos
    fue eran estuvo estaba tuvo anda andan van quedo tenia tenido hecho haciendo pasa pasando revisa revisar revisame comprueba comprobar verifica
    verificar consulta consultar checa echa echar vistazo ojo dice digo sabes conocer ensena listame dar das dan porfa
    porfavor tardes noches cargado cargada baja poca pocos suficientes quedamos quedando ahorita mismo hd vive
    informacion datos nivel cantidad hubo habido alguno nadie ninguno cosa cosas rapido buen puedo conoces
    mostrame pasame decime podes tenes sobra sobran falta faltan cierto verdad bueno vale quisieramos
    queremos quieres interesa segundo rato ultimamente iniciada iniciado iniciadas abierta abiertas""".split()
    + """a affiche affichez afficher ai ainsi alors apres as au aussi autre aux avec avez avons beaucoup bien bon bonjour
    c ca car ce cela celui ces cet cette ceux chaque chez ci comme comment d dans de des dernier derniere dernieres
    derniers deux dis dire dites donc donne donnez du elle elles en encore entre es est et etait ete etes etre eux
    fait faire fais fois il ils j je jusqu l la le les leur leurs ligne lignes lui m ma machine mais maintenant mes moi
    moins moment mon montre montrez montrer n ne ni niveau nom non nos notre nous on ont ou par pas peu peut peux plait
    pour pourrais pourriez pouvez pres qu quand que quel quelle quelles quels quelque qui quoi recents recentes regarde
    s sa salut sans savoir se ses si son sont sous stp suis sur svp t ta te tel tes toi ton toujours tous tout toute
    toutes tres trop tu un une va veux vers voir vois voila vos votre vous voudrais vraiment vive y actuel actuelle
    actuellement actuels aujourd hui cours trois cinq dix vingt entrees haut haute appelle version jours heures minutes
    dispo liste lister merci lance dur dure duro
    eu lieu avait avais etaient aurait regarder verifie verifier verifiez controle sais savez saurais connaitre jette oeil coup rapide occupee utilisent
    prend prennent prendre dit rempli rester taux pourrait bonsoir tient tenu tenir recemment dernierement instant
    installe quantite infos valeur puis souhaite souhaiterais aimerais arrive passe chose choses
    rien personne aucun aucune quelques certains afin dessus dedans ici dispos bonne journee
    semaine mois seconde secondes marche lenteur rapidement simplement juste ouvert ouvertes""".split()
)

# The words worth guessing behind a typing error, the likeliest first.
KEY_WORDS = tuple(
    """disk disks space memory swap load average uptime server processes process processor processors cores logs log syslog
    time timezone date users user logged system network interface interfaces address hostname kernel usage status running
    reboot rebooted restart restarted available storage partition filesystem utilization utilisation nginx postgres
    postgresql redis mysql docker apache mariadb mongodb free full left used journal errors error machine busy alive
    festplatte speicherplatz speicher arbeitsspeicher auslastung prozesse prozessor betriebssystem laufzeit neustart
    uhrzeit zeitzone benutzer memoria espacio servidor procesos procesador registros usuarios memoire espace serveur
    processus processeur utilisateurs disque""".split()
)

# Words of another language that are English words too, and the words that give English away.
NOT_ENGLISH = frozenset(
    "charge red place come mange lance mort plus last platte platten consume rame trage lent gros".split()
)
ENGLISH = frozenset(
    """the is are was a an my your our i you we it this that what how who which do does did has have there here on of for
    with and any much many show tell give please can could""".split()
)

NOT_TYPOS = frozenset(
    """desk desks dish dusk risk risks disco disks dist loan loans loud lord lead leads lad road toad goad tie tim times
    tide tile tiles lime dime mime tame tome dated gate late rate mate data dare hate fate usher lets legs dogs lots
    bogs swan swab soap snap swaps swamp wrap strap cost post lost most hose cast hosts hostel colonel memories memo
    princess progress profess prospect care more cure bore score scores cord corn corner server serve serves served
    severe serving kernels clocks block blocks flock cluck mock lock locks docs dock book look cook took system
    systems list lust mist upset uptown boat boats boost boo foot root roots reset report reports remote restaurant
    started stared starter smart sport spot user's fussy dusty bury bust bus race raw rap rat run fan van can pan nan
    man spare space spice spade pace grace place places plane plate planet plans plant room rooms broom groom doom zoom
    loop log leg lag fog dog jog logic slogan login letter later better utter water ladder reader leader loader
    recipe receipt process procession food good mood wood full fuel fall fell fill pull bull dull free tree three fred
    freeze fried friend fee feel heal health wealth heath stats status statue statute taste stake steak late plate
    service services serviced drive drives dive river driver drivers diver network artwork net bet get set yet jet
    what hat chat that than then when where there whale while white write writer hot hit hut hat time term team seam
    marry mary merry berry cherry very every worry story glory mercury memorial mentor member members remember
    hour hours four your sour pour house mouse day date dates dates form forms shop shops snow shot shoe wish thai beef beer bees
    bean tire tires timer timers uber change changes changed chance charger charges charged lies lived likes loft lift
    loss loaf loin lion dave alice macy witch thus resident amounts adds dressed memorize mature seating heating relating
    distance insurance stage storing sport airport errand terror mirror mere professor professors protests valley alley
    ceres chores diesel dark frog hare hale processed restored restores servings activate cup cups cap cop cut cpr gpu gpus ramp rum ray
    """.split()
)
