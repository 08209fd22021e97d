"""Programs that provably leave everything as it was; whatever is not listed here counts as changing something."""

from __future__ import annotations

import re
from collections.abc import Callable

from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.options import options
from laneway.sandbox.shell.programs import disks, machine, packages
from laneway.sandbox.shell.programs import git as git_rules
from laneway.sandbox.shell.programs.naming import Rule
from laneway.sandbox.shell.programs.network import CURL, WGET
from laneway.sandbox.shell.tables import VALUED, table

_TABLE = table("programs/readers")
ALWAYS = frozenset(_TABLE["always"].split())
_GIT = frozenset(_TABLE["git"].split())
_GIT_NEXT: dict[str, list[str]] = _TABLE["git_next"]
_WORDS = {name: re.compile(rf"(?:{pattern})(?:\s|$)") for name, pattern in _TABLE["words"].items()}
_SQL_READS = re.compile(
    r"(?is)\s*(select\b(?!.*\b(into|for\s+update|nextval|setval|pg_(terminate|cancel|reload|rotate)\w*)\b)|show\b|describe\b|desc\b|explain\b(?!\s*\(?\s*analyze)|\\[dlzconit?]|pragma\s+\w+\s*(\(\w+\))?$|\.(tables|schema|indexes|databases|dump|headers|mode)|table\s+\w+|$)"
)


def only_reads(run: Invocation) -> bool:
    """Whether this program, so called, leaves everything as it was."""
    if run.args and all(
        word in ("--help", "--version", "-V", "-version", "-v", "help", "version") for word in run.args
    ):
        return run.program not in ("bash", "sh", "yes", "cat-v")
    if run.args[-1:] == ["--help"] and run.program in _WORDS:
        return True
    check = _CHECKS.get(run.program)
    if check is not None:
        return check(run)
    pattern = _WORDS.get(run.program)
    if pattern is not None:
        return pattern.match(_words(run)) is not None
    return run.program in ALWAYS


def _words(run: Invocation) -> str:
    if run.program in _WITH_OPTIONS:
        return " ".join(run.args)
    return " ".join(run.options(_VALUED).operands)


_WITH_OPTIONS = {"smartctl", "screen", "redis-cli", "make", "tmux", "crontab", "rpm", "dpkg", "mount"}
"""Programs whose options belong to the pattern."""
_VALUED = "-n --namespace --context -o --output --region --profile -l --selector -f --filter -H --repo -R"


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
        listing = call.has(*_TABLE["git_listing"].split())
        return (listing and not call.has("-d", "-D", "-m", "-M", "-f")) or not call.rest
    if call.name == "config":
        return (
            call.has("--get", "--list", "-l", "--get-all", "--get-regexp")
            or len(call.operands) == 1
            or first in ("list", "get")
        )
    if call.name in ("push", "clean", "add", "rm", "mv", "commit", "fetch", "prune"):
        return call.has("--dry-run") or (call.name != "commit" and call.has("-n", valued="-e"))
    return call.name in _GIT or first in _GIT_NEXT.get(call.name, ()) or call.name == ""


def _find(run: Invocation) -> bool:
    """What it runs is judged apart."""
    return {"-delete", "-fprint", "-fprintf", "-fls"}.isdisjoint(run.args)


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


def _asks(rule: Rule) -> Callable[[Invocation], bool]:
    """Programs whose rule finds nothing exactly when they only ask."""
    return lambda run: not list(rule(run))


def _sort(run: Invocation) -> bool:
    return not run.options("-k -t -S -T -o --output").has("-o", "--output")


def _nothing_after(flags: str) -> Callable[[Invocation], bool]:
    return lambda run: not options(run.args).has(*flags.split())


def _first_is(*words: str) -> Callable[[Invocation], bool]:
    return lambda run: bool(run.args) and run.args[0] in words


def _without(*signs: str) -> Callable[[Invocation], bool]:
    return lambda run: not any(sign in word for word in run.args for sign in signs)


def _http(run: Invocation) -> bool:
    sends = {"POST", "PUT", "DELETE", "PATCH"} & {word.upper() for word in run.args}
    return not sends and not any("=" in word for word in run.args)


def _openssl(run: Invocation) -> bool:
    return _first_is("x509", "version", "s_client", "dgst", "verify")(run) and "-out" not in run.args


def _gh(run: Invocation) -> bool:
    if run.args[:1] == ["api"]:
        return {"-X", "--method", "-f", "-F", "--field", "--raw-field", "--input"}.isdisjoint(run.args)
    return _WORDS["gh"].match(_words(run)) is not None


def _tar(run: Invocation) -> bool:
    return bool(run.args) and re.fullmatch(r"-?t\w*|--list", run.args[0]) is not None


_CHECKS: dict[str, Callable[[Invocation], bool]] = {
    **dict.fromkeys(machine.ASKING, _asks(machine.host)), **dict.fromkeys(disks.ASKING, _asks(disks.disk)),
    **dict.fromkeys(packages.ASKING, _asks(packages.system)),
    **dict.fromkeys(("psql", "mysql", "mariadb", "sqlite3", "duckdb", "clickhouse-client"), _sql),
    **dict.fromkeys(("find", "fd", "fdfind"), _find), **dict.fromkeys(("awk", "gawk", "mawk"), _awk),
    "git": _git, "sed": _sed, "gsed": _sed, "curl": _curl, "wget": _wget, "sort": _sort, "http": _http, "tar": _tar,
    "xxd": _nothing_after("-r"), "yq": _nothing_after("-i --inplace"), "mlr": _nothing_after("-I"),
    "tree": _nothing_after("-o"), "ps": lambda run: True, "env": lambda run: True, "openssl": _openssl,
    "service": lambda run: "status" in run.args, "nginx": _first_is("-t", "-T", "-v", "-V"),
    "nc": lambda run: any(re.fullmatch(r"-\w*z\w*", word) for word in run.args), "history": _without("-c", "-d", "-w"),
    "unzip": _first_is("-l", "-v", "-t", "-Z"), "fdisk": lambda run: "-l" in run.args,
    "kill": _first_is("-0", "-l", "-L"), "fuser": _without("k"),
    "rsync": lambda run: run.options(VALUED["rsync"]).has("-n", "--dry-run", "--list-only"), "gh": _gh,
    "passwd": _first_is("-S"), "command": _first_is("-v", "-V"), "sudo": _first_is("-l", "-V"),
    "gpg": lambda run: any(re.match(r"--list|-k$|-K$|--verify", word) for word in run.args),
}  # fmt: skip
