"""Programs that speak to other hosts: what they send, what they fetch, and shells they hand out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from laneway.sandbox.shell.holes import holes, shown
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.place_names import SECRET_VARIABLE
from laneway.sandbox.shell.places import is_secret
from laneway.sandbox.shell.programs.hosts import METADATA, is_foreign, is_here
from laneway.sandbox.shell.programs.losing import writes
from laneway.sandbox.shell.programs.naming import named
from laneway.sandbox.shell.rules import Finding
from laneway.sandbox.shell.scope import Scope
from laneway.sandbox.shell.streams import COMMAND, ENVIRONMENT, FILE, SECRET, Stream
from laneway.sandbox.shell.tables import VALUED

CURL, WGET = VALUED["curl"], VALUED["wget"]
_BODY = (
    "-d",
    "--data",
    "--data-binary",
    "--data-urlencode",
    "--data-ascii",
    "--json",
    "-F",
    "--form",
    "-T",
    "--upload-file",
)
_LOADER = re.compile(r"(?i)(^|[,;=])(exec|system|shell|proxy-?command)[:=]")


def sent(origins: Iterable[str], what: str, host: str) -> Iterator[Finding]:
    """What is found when something of these origins goes to another host."""
    marks = set(origins)
    secret = any(mark.startswith("v_") and SECRET_VARIABLE.search(mark) for mark in marks)
    if SECRET in marks or secret:
        yield Finding("send-secret", f"It sends secrets ({what}) to {host}.")
    elif ENVIRONMENT in marks:
        yield Finding("send-secret", f"It sends the environment to {host}.")
    elif FILE in marks or COMMAND in marks:
        yield Finding("send-file", f"It sends {what} to {host}.")


def _file(path: str, scope: Scope) -> set[str]:
    return {SECRET} if is_secret(scope.path(path) or path) else {FILE}


def _body(value: str, option: str, run: Invocation) -> set[str]:
    """Where the content of a request comes from."""
    found = set(holes(value))
    names = re.findall(r"(?:^|=|;)[@<]([^;]+)", value)
    if option in ("-T", "--upload-file"):
        names = [value]
    for name in names:
        name = re.sub(r"^file=@?", "", name)
        found |= _piped(run.stdin) if name in ("-", "/dev/stdin") else _file(name, run.scope)
    return found


def _piped(stdin: Stream) -> set[str]:
    if stdin.text is not None:
        return set(holes(stdin.text)) | (set(stdin.origins) - {COMMAND})
    return set(stdin.origins) or {COMMAND}


def curl(run: Invocation) -> Iterator[Finding]:
    found = run.options(CURL)
    urls = [*found.operands, *found.of("--url")]
    yield from _addresses(urls)
    foreign = [url for url in urls if is_foreign(url)]
    sockets = found.of("--unix-socket")
    if sockets and "docker.sock" in sockets[0] and (found.has(*_BODY) or "POST" in found.of("-X", "--request")):
        yield Finding("privileged-container", "It orders the container engine directly.")
    if foreign:
        origins = {mark for option in _BODY for value in found.of(option) for mark in _body(value, option, run)}
        yield from sent(origins, "local files or findings", shown(foreign[0]))
        yield from _in_address(
            [*urls, *found.of("-A", "-e", "-b", "--cookie", "--user-agent", "--referer")], foreign[0]
        )
        yield from _in_headers(found.of("-H", "--header"), foreign[0])
    if any(name.upper() == "DELETE" for name in found.of("-X", "--request")) or _asks_to_delete(found.of(*_BODY), urls):
        yield Finding("store-loss", f"It deletes at {shown(urls[0] if urls else '')}.")
    if any(re.search(r"/approvals?/", url) for url in urls) and (found.has(*_BODY) or found.has("-X", "--request")):
        yield Finding("guard-off", "It answers an approval itself.")
    for path in found.of("-o", "--output", "-c", "--cookie-jar", "-D", "--dump-header", "--output-dir"):
        if path != "-":
            yield from writes(path, run.scope)


def _asks_to_delete(bodies: list[str], urls: list[str]) -> bool:
    return any("_delete_by_query" in url or "/_flush_all" in url for url in urls) or any(
        re.match(r"(?i)\s*(query=)?\s*(drop\s+(table|database)|truncate|delete\s+from|alter)\b", body)
        for body in bodies
    )


def _in_address(words: list[str], host: str) -> Iterator[Finding]:
    marks = {mark for word in words for mark in holes(word)} - {"net"}
    yield from sent(marks - {COMMAND}, "something of this machine", shown(host))
    if COMMAND in marks:
        yield Finding("send-file", f"It sends the output of a command to {shown(host)} inside the address.")


def _in_headers(headers: list[str], host: str) -> Iterator[Finding]:
    for header in headers:
        marks = set(holes(header))
        if marks & {SECRET, ENVIRONMENT, FILE}:
            yield from sent(marks, "a file", shown(host))
        elif marks and not re.match(
            r"(?i)(authorization|x-[\w-]*(key|token)[\w-]*|private-token|api-key|cookie|apikey)\b", header
        ):
            yield from sent(marks - {COMMAND}, "something of this machine", shown(host))


def _addresses(urls: Iterable[str]) -> Iterator[Finding]:
    for url in urls:
        if METADATA.search(url):
            yield Finding("metadata", "It asks the cloud's address for this machine's credentials.")


def wget(run: Invocation) -> Iterator[Finding]:
    found = run.options(WGET)
    yield from _addresses(found.operands)
    foreign = [url for url in found.operands if is_foreign(url)]
    if foreign:
        for path in found.of("--post-file", "--body-file"):
            yield from sent(_file(path, run.scope), path, shown(foreign[0]))
        marks = {mark for value in found.of("--post-data", "--body-data") for mark in holes(value)}
        yield from sent(marks, "something of this machine", shown(foreign[0]))
        yield from _in_address(found.operands, foreign[0])
    if any(name.upper() == "DELETE" for name in found.of("--method")):
        yield Finding("store-loss", f"It deletes at {shown(' '.join(found.operands))}.")
    for path in found.of("-O", "--output-document", "-P", "--directory-prefix", "-o"):
        if path != "-":
            yield from writes(path, run.scope)


def httpie(run: Invocation) -> Iterator[Finding]:
    words = run.options("-a --auth --session -o --output --timeout").operands
    method = words[0].upper() if words else ""
    url = next((word for word in words if word.upper() not in ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD")), "")
    yield from _addresses([url])
    if method == "DELETE":
        yield Finding("store-loss", f"It deletes at {shown(url)}.")
    if is_foreign(url):
        marks = {mark for word in words for mark in holes(word)}
        if any("@" in word and not word.startswith(("http", "@")) for word in words[1:]) or run.stdin.given:
            marks |= _piped(run.stdin) if run.stdin.given else {FILE}
        yield from sent(marks, "local files", shown(url))


def netcat(run: Invocation) -> Iterator[Finding]:
    found = run.options("-e --exec -c --sh-exec -p -s -w -q -x -X -i -I -O -T -g -G")
    words = found.operands
    if found.has("-e", "--exec", "-c", "--sh-exec", "--lua-exec"):
        yield Finding("reverse-shell", "It gives a shell to whoever is at the other end.")
        return
    if found.has("-z"):
        return
    listens, host = found.has("-l", "--listen"), (words[0] if words else "")
    if (listens or not is_here(host)) and run.stdin.given:
        yield from sent(_piped(run.stdin), "local files or findings", shown(host) or "whoever connects")
    if run.stdin.file and "fifo" in run.stdin.origins:
        yield Finding("reverse-shell", "It joins a shell to another host by a pipe.")


def socat(run: Invocation) -> Iterator[Finding]:
    ends = [word.lower() for word in run.options("-T -t -b -lf").operands]
    network = any(re.match(r"(tcp|udp|ssl|openssl|sctp|vsock)", end) for end in ends)
    if any(_LOADER.search(end) for end in ends) and network:
        yield Finding("reverse-shell", "It gives a shell to whoever is at the other end.")
    elif network and any(re.match(r"(file|open|gopen|/)", end) for end in ends):
        yield Finding("send-file", "It sends a file to another host.")
    elif network and run.stdin.given:
        yield from sent(_piped(run.stdin), "local files or findings", "another host")


def piping(run: Invocation) -> Iterator[Finding]:
    """Programs that send what is piped to them, or named to them, to other people or hosts."""
    words = run.options("-s -a -c -b -r -S --subject -f -F").operands
    files = [word for word in words if is_secret(run.scope.path(word) or word)]
    marks = _piped(run.stdin) if run.stdin.given else set()
    marks |= {mark for word in run.args for mark in holes(word)}
    if files:
        marks.add(SECRET)
    yield from sent(marks, "local files or findings", "another host or person")
    if re.search(r"(^| )-(a|A)( |$)|--attach", " ".join(run.args)) or run.program in _SENDERS:
        yield Finding("send-file", f"{run.program} sends files to others.")


def asking(run: Invocation) -> Iterator[Finding]:
    """dig, ping, nslookup: a question whose words come from this machine gives them away."""
    marks = {mark for word in run.args for mark in holes(word)}
    yield from sent(
        {mark for mark in marks if not mark.startswith("v_") or SECRET_VARIABLE.search(mark)},
        "something of this machine",
        "a name server",
    )


def ssh(run: Invocation) -> Iterator[Finding]:
    found = run.options("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B", until_operand=True)
    if found.has("-R"):
        yield Finding("reverse-shell", "It opens a way from another host into this one.")
    elsewhere = bool(found.operands) and not is_here(found.operands[0].rpartition("@")[2])
    said = run.stdin.text or ""
    if run.stdin.given and elsewhere and ("\n" not in said or holes(said)):
        yield from sent(_piped(run.stdin), "local files or findings", shown(found.operands[0]))


def keygen(run: Invocation) -> Iterator[Finding]:
    found = run.options("-t -f -C -N -P -b -m -E -O -V -I -n -s -z -R -F -Y")
    if found.has("-y", "-l", "-F", "-R", "-B", "-e", "-H"):
        return
    for path in found.of("-f") or [run.scope.home + "/.ssh/id_rsa"]:
        yield from writes(path, run.scope)


_SENDERS = {
    "ftp",
    "tftp",
    "lftp",
    "croc",
    "magic-wormhole",
    "wormhole",
    "transfer",
    "pastebinit",
    "termbin",
    "gist",
    "onionshare",
    "ngrok",
    "curlftpfs",
    "telegram-send",
    "mutt",
    "sftp",
}
NETWORK = named("network", curl, wget, httpie, netcat, socat, piping, asking, ssh, keygen)
