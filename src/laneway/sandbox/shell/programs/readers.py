"""Programs that provably leave everything as it was; whatever is not listed here counts as changing something."""

from __future__ import annotations

import re
from collections.abc import Callable

from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.options import options
from laneway.sandbox.shell.programs import git as git_rules
from laneway.sandbox.shell.programs import machine
from laneway.sandbox.shell.programs.network import CURL, WGET

ALWAYS = frozenset(
    ": [ [[ acpi apropos apt-cache apt-file arch arp awk-version b2sum base32 base64 basename bat batcat bc blkid break cal cat cd cksum "
    "cloc cmp column comm compgen continue cut date-read declare df dig dir dirname dirs du dumpe2fs echo egrep eza exa exit expand expr factor "
    "false fc-list fgrep file findmnt finger fmt fold free fzf getconf getent getopt getopts glances grep groups hash head "
    "hexdump host hostid htop iconv id identify infocmp iostat ipcs jobs jless join jq "
    "last lastlog ldd less let lldpctl ll local locale locate logname look ls lsattr lsb_release lsblk lscpu lsmem lsmod lsns lsof lspci "
    "lsusb lvs man md5sum mktemp-dry more mpstat mtr ncal neofetch netstat nl nm nproc nslookup numfmt objdump od od "
    "paste path pathchk pgrep pidof pidstat ping ping6 popd pr printenv printf pstree ptree pushd pwd pwdx pygmentize rev rg ag ack readelf "
    "readlink realpath return sar screenfetch scc seq sha1sum sha224sum sha256sum sha384sum sha512sum shasum shift shopt size "
    "sleep sort-read ss stat strings sum tac tail test time tldr tload tokei top tput tr traceroute tracepath tree true tsort tty type "
    "uname unexpand uniq units uptime users vdir vmstat w wait wc whatis whereis which who whoami whois xxd-read yq-read zcat zgrep zless "
    "vmmap sw_vers system_profiler xclip-read xfs_info quota fold nettop ifstat iftop ip-read getfacl getcap lsipc pmap hostname arch "
    "choose dust duf procs delta difft diff diff3 sdiff colordiff jc gron htmlq fd-read csvcut csvlook csvstat mlr-read actionlint hadolint "
    "yamllint shellcheck ulimit umask-read set-read alias-read unset export-read read mapfile readarray trap-read".split()
)

_GIT = frozenset(
    "status log diff show blame annotate rev-parse ls-files ls-tree cat-file describe shortlog grep for-each-ref merge-base name-rev "
    "rev-list count-objects check-ignore check-attr check-ref-format var whatchanged show-ref show-branch ls-remote version help diff-tree "
    "diff-files diff-index cherry range-diff verify-commit verify-tag get-tar-commit-id patch-id fsck difftool-read blame stripspace".split()
)
_GIT_SUB = {
    "stash": {"list", "show"}, "remote": {"", "-v", "show", "get-url", "--verbose"}, "worktree": {"list"}, "reflog": {"", "show", "exists"},
    "submodule": {"status", "summary"}, "bisect": {"log", "view", "visualize"}, "notes": {"list", "show"}, "lfs": {"ls-files", "status", "env"},
    "sparse-checkout": {"list"}, "bundle": {"verify", "list-heads"},
}  # fmt: skip
_SUB: dict[str, str] = {
    "docker": r"ps|images|logs|inspect|stats|top|version|info|port|diff|history|search|(image|container|volume|network|context|compose|system|buildx) (ls|list|inspect|ps|logs|config|df|show|images|top|version|history)|events",
    "podman": r"ps|images|logs|inspect|stats|top|version|info|port", "docker-compose": r"ps|logs|config|images|top|version|port",
    "kubectl": r"get|describe|logs|top|explain|version|cluster-info|api-resources|api-versions|diff|config (view|get-contexts|current-context)|auth can-i|rollout (status|history)|events|wait",
    "helm": r"list|ls|status|get|history|show|search|template|lint|version|env", "terraform": r"(plan|validate|show|output|version|graph|providers|state (list|show)|workspace (list|show)|fmt -check)",
    "npm": r"ls|list|ll|view|info|show|outdated|audit|search|whoami|config (get|list)|root|prefix|bin|explain|why|fund|ping|help|doctor|version$",
    "yarn": r"list|info|why|outdated|audit|config (get|list)|version$", "pnpm": r"ls|list|why|outdated|audit",
    "pip": r"list|show|freeze|check|search|index|config (list|get)|debug|cache (dir|info|list)", "pip3": r"list|show|freeze|check|index",
    "cargo": r"tree|metadata|search|--list|version|pkgid|locate-project|read-manifest", "go": r"version|env$|list|doc|vet",
    "brew": r"list|ls|info|search|outdated|deps|config|doctor|leaves", "apt": r"list|show|search|policy|depends|rdepends", "dpkg": r"-l|-L|-s|-S|--list|--listfiles|--status",
    "rpm": r"-q\w*|--query", "dnf": r"list|info|search|repolist|provides|history|check-update", "systemctl": "|".join(sorted(machine._STATUS)),
    "gh": r"(pr|issue|run|repo|release|workflow|gist|label|cache|ruleset) (list|view|status|diff|checks|watch)|auth status|status|search|browse|version",
    "aws": r"\S+ (describe|list|get|head|lookup|search|scan|query|filter|batch-get|ls)[\w-]*|s3 ls|sts get-caller-identity|--version|configure list", "az": r"(\S+ )+(list|show)[\w-]*|version|account (show|list)",
    "gcloud": r"(\S+ )+(list|describe)|(config|auth) list|info|version", "poetry": r"show|check|env (list|info)|version$|config --list", "uv": r"tree|version|pip (list|show|freeze|tree|check)|python list",
    "conda": r"list|info|env list|search|config --show", "rustup": r"show|--version|which|toolchain list", "nvm": r"ls|list|current|version|which|ls-remote",
    "pm2": r"ls|list|status|logs|show|describe|info|jlist", "supervisorctl": r"status|tail|avail|pid", "launchctl": r"list|print|blame",
    "redis-cli": r"(-\w \S+ )*(?i:get|mget|keys|scan|ttl|pttl|type|exists|info|ping|dbsize|llen|lrange|hgetall|hget|hkeys|hlen|smembers|scard|zrange|zcard|strlen|client list|config get|memory|slowlog get|time|--scan|--stat|--bigkeys|--latency|monitor)\b.*",
    "laneway": r"messages|threads|why|ledger|jobs|logs|doctor|version|approvals|outbox|guard|config (show|get|list)", "bundle": r"list|show|info|outdated|check", "gem": r"list|search|info|environment|which", "composer": r"show|outdated|why|validate|licenses",
    "make": r"-n|--dry-run|--just-print|-qp|-pn|--version", "tmux": r"ls|list-\w+|display|capture-pane|show\w*", "screen": r"-ls|-list", "crontab": r"-l", "openssl": r"x509|version|s_client|dgst|verify|crl|ciphers|asn1parse", "sqlite3": r"$^", "mount": r"", "xargs": r"$^",
}  # fmt: skip
_SQL_READS = re.compile(
    r"(?is)\s*(select\b(?!.*\b(into|for\s+update|nextval|setval|pg_(terminate|cancel|reload|rotate)\w*)\b)|show\b|describe\b|desc\b|explain\b(?!\s*\(?\s*analyze)|\\[dlzconit?]|pragma\s+\w+\s*(\(\w+\))?$|\.(tables|schema|indexes|databases|dump|headers|mode)|table\s+\w+|$)"
)


def only_reads(run: Invocation) -> bool:
    """Whether this program, so called, leaves everything as it was."""
    if run.args and all(
        word in ("--help", "--version", "-V", "-version", "-v", "help", "version") for word in run.args
    ):
        return run.program not in ("bash", "sh", "yes", "cat-v")
    check = _CHECKS.get(run.program)
    if check is not None:
        return check(run)
    pattern = _SUB.get(run.program)
    if pattern is not None:
        words = (
            " ".join(run.args)
            if run.program in ("redis-cli", "make", "tmux", "crontab", "rpm", "dpkg")
            else " ".join(
                run.options(
                    "-n --namespace --context -o --output --region --profile -l --selector -f --filter -H --repo -R"
                ).operands
            )
        )
        return re.match(rf"(?:{pattern})(?:\s|$)", words) is not None or (pattern == "" and not words)
    return run.program in ALWAYS


def _git(run: Invocation) -> bool:
    call = git_rules.parts(run.args, run.scope)
    if (
        any(
            word.startswith(("--output", "-O", "--open-files-in-pager", "--ext-diff", "--textconv"))
            for word in call.rest
        )
        or call.settings
    ):
        return False
    first = next((word for word in call.rest if not word.startswith("-")), call.rest[0] if call.rest else "")
    if call.name in ("branch", "tag"):
        listing = call.has(
            "-l",
            "--list",
            "-a",
            "-r",
            "-v",
            "-vv",
            "--show-current",
            "--merged",
            "--no-merged",
            "--contains",
            "--all",
            "--sort",
            "-n",
            "--points-at",
        )
        return (listing and not call.has("-d", "-D", "-m", "-M", "-f")) or not call.rest
    if call.name == "config":
        return (
            call.has("--get", "--list", "-l", "--get-all", "--get-regexp")
            or len(call.operands) == 1
            or first in ("list", "get")
        )
    if call.name in ("push", "clean", "add", "rm", "mv", "commit", "fetch", "prune"):
        return call.has("--dry-run") or (call.name != "commit" and call.has("-n", valued="-e"))
    return call.name in _GIT or first in _GIT_SUB.get(call.name, ()) or call.name == ""


def _find(run: Invocation) -> bool:
    return not any(
        word
        in (
            "-delete",
            "-exec",
            "-execdir",
            "-ok",
            "-okdir",
            "-fprint",
            "-fprintf",
            "-fls",
            "-x",
            "-X",
            "--exec",
            "--exec-batch",
        )
        for word in run.args
    )


def _sed(run: Invocation) -> bool:
    return not any(re.match(r"-[nErsuz]*i|--in-place", word) for word in run.args) and not any(
        re.search(r"(^|[;/}\s])[we]\s", word) for word in run.args
    )


def _awk(run: Invocation) -> bool:
    return not any(re.search(r"system\s*\(|>|\|\s*\"|-i\s*inplace|inplace", word) for word in run.args)


def _curl(run: Invocation) -> bool:
    found = run.options(CURL)
    methods = {name.upper() for name in found.of("-X", "--request")}
    sends = any(
        option.startswith(("--data", "--form", "--json", "--upload")) or option in ("-d", "-F", "-T")
        for option in found.values
    )
    files = [
        path
        for path in found.of("-o", "--output", "-c", "--cookie-jar", "-D", "--dump-header")
        if path not in ("-", "/dev/null")
    ]
    return (
        methods <= {"GET", "HEAD", "OPTIONS"}
        and not sends
        and not files
        and not found.has("-O", "--remote-name", "-K", "--config")
    )


def _wget(run: Invocation) -> bool:
    found = run.options(WGET)
    return (
        "--spider" in found.flags or found.of("-O", "--output-document") in (["-"], ["/dev/null"])
    ) and not found.has("--post-data", "--post-file", "--method")


def _sql(run: Invocation) -> bool:
    found = run.options("-c --command -e --execute -d --dbname -h --host -p --port -U -u -P -D --query -q")
    texts = found.of("-c", "--command", "-e", "--execute", "--query", "-q")
    if run.program in ("sqlite3", "duckdb"):
        texts = run.options("-cmd -separator").operands[1:]
    if not texts and run.stdin.text and run.stdin.given:
        texts = [run.stdin.text]
    listing = run.program == "psql" and found.has("-l", "--list")
    return listing or (bool(texts) and all(_SQL_READS.match(part) for text in texts for part in text.split(";")))


def _asks(run: Invocation) -> bool:
    return not list(machine.host(run))


def _sort(run: Invocation) -> bool:
    return not run.options("-k -t -S -T -o --output").has("-o", "--output")


def _nothing_after(flags: str) -> Callable[[Invocation], bool]:
    return lambda run: not options(run.args).has(*flags.split())


_CHECKS: dict[str, Callable[[Invocation], bool]] = {
    "git": _git, "find": _find, "fd": _find, "fdfind": _find, "sed": _sed, "gsed": _sed, "awk": _awk, "gawk": _awk, "mawk": _awk,
    "curl": _curl, "wget": _wget, "psql": _sql, "mysql": _sql, "mariadb": _sql, "sqlite3": _sql, "duckdb": _sql, "clickhouse-client": _sql,
    **dict.fromkeys(machine._READING_NETWORK, _asks), "sort": _sort, "xxd": _nothing_after("-r"), "yq": _nothing_after("-i --inplace"),
    "mlr": _nothing_after("-I"), "tree": _nothing_after("-o"), "ps": lambda run: True, "env": lambda run: True,
    "service": lambda run: "status" in run.args, "nginx": lambda run: run.args[:1] in (["-t"], ["-T"], ["-v"], ["-V"]),
    "nc": lambda run: "-z" in run.args or any("z" in word for word in run.args if word.startswith("-")), "history": lambda run: "-c" not in run.args,
    "set": lambda run: not run.args, "alias": lambda run: not any("=" in word for word in run.args), "export": lambda run: not run.args or run.args == ["-p"],
    "umask": lambda run: not run.args, "tar": lambda run: bool(run.args) and re.fullmatch(r"-?t\w*|--list", run.args[0]) is not None, "unzip": lambda run: run.args[:1] in (["-l"], ["-v"], ["-t"], ["-Z"]),
    "fdisk": lambda run: "-l" in run.args, "passwd": lambda run: run.args[:1] == ["-S"], "gpg": lambda run: any(word.startswith("--list") or word in ("-k", "-K") for word in run.args),
    "http": lambda run: not any("=" in word for word in run.args) and not any(word.upper() in ("POST", "PUT", "DELETE", "PATCH") for word in run.args),
    "command": lambda run: run.args[:1] in (["-v"], ["-V"]), "sudo": lambda run: run.args[:1] in (["-l"], ["-V"]), "openssl": lambda run: run.args[:1] in (["x509"], ["version"], ["s_client"], ["dgst"], ["verify"]) and "-out" not in run.args,
}  # fmt: skip
