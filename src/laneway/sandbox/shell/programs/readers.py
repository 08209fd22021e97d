"""Programs that provably leave everything as it was; whatever is not listed here counts as changing something."""

from __future__ import annotations

import re
from collections.abc import Callable

from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.options import options
from laneway.sandbox.shell.programs import git as git_rules
from laneway.sandbox.shell.programs import machine
from laneway.sandbox.shell.programs.network import CURL, WGET
from laneway.sandbox.shell.tables import table

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


_WITH_OPTIONS = {"redis-cli", "make", "tmux", "crontab", "rpm", "dpkg", "mount"}
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
    return call.name in _GIT or first in _GIT_NEXT.get(call.name, ()) or call.name == ""


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
    **dict.fromkeys(machine.ASKING, _asks), "sort": _sort, "xxd": _nothing_after("-r"), "yq": _nothing_after("-i --inplace"),
    "mlr": _nothing_after("-I"), "tree": _nothing_after("-o"), "ps": lambda run: True, "env": lambda run: True,
    "service": lambda run: "status" in run.args, "nginx": lambda run: run.args[:1] in (["-t"], ["-T"], ["-v"], ["-V"]),
    "nc": lambda run: "-z" in run.args or any("z" in word for word in run.args if word.startswith("-")), "history": lambda run: "-c" not in run.args,
    "set": lambda run: not run.args, "alias": lambda run: not any("=" in word for word in run.args), "export": lambda run: not run.args or run.args == ["-p"],
    "umask": lambda run: not run.args, "tar": lambda run: bool(run.args) and re.fullmatch(r"-?t\w*|--list", run.args[0]) is not None, "unzip": lambda run: run.args[:1] in (["-l"], ["-v"], ["-t"], ["-Z"]),
    "fdisk": lambda run: "-l" in run.args, "passwd": lambda run: run.args[:1] == ["-S"], "gpg": lambda run: any(word.startswith("--list") or word in ("-k", "-K") for word in run.args),
    "http": lambda run: not any("=" in word for word in run.args) and not any(word.upper() in ("POST", "PUT", "DELETE", "PATCH") for word in run.args),
    "command": lambda run: run.args[:1] in (["-v"], ["-V"]), "sudo": lambda run: run.args[:1] in (["-l"], ["-V"]), "openssl": lambda run: run.args[:1] in (["x509"], ["version"], ["s_client"], ["dgst"], ["verify"]) and "-out" not in run.args,
}  # fmt: skip
