"""Redirections: where input comes from, which files output goes to, and what that overwrites."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from tree_sitter import Node

from laneway.sandbox.shell.expand import Expander
from laneway.sandbox.shell.holes import holes, shown, unshield
from laneway.sandbox.shell.place_names import PROCESS_MEMORY
from laneway.sandbox.shell.places import Place, is_secret, place_of
from laneway.sandbox.shell.programs.hosts import is_here
from laneway.sandbox.shell.programs.losing import writes
from laneway.sandbox.shell.programs.network import sent
from laneway.sandbox.shell.programs.secrets import secret_file
from laneway.sandbox.shell.rules import Finding
from laneway.sandbox.shell.scope import Scope
from laneway.sandbox.shell.streams import ENDLESS, FILE, NETWORK, SECRET, Stream, merged, text

_SOCKET = re.compile(r"/dev/(?:tcp|udp)/([^/]+)/")
_RAW_READERS = re.compile(
    r"\s*(cat|sort|uniq|grep|egrep|sed|awk|gawk|jq|yq|head|tail|tr|cut|iconv|tac|xmllint|prettier|envsubst|rev|column|nl|fold)\b"
)
_WORDS = {
    "word", "string", "raw_string", "concatenation", "number", "simple_expansion",
}  # fmt: skip
_SHELLS = re.compile(r"\b(bash|sh|zsh|dash|ksh|exec|python\d?|perl|ruby)\b")


@dataclass(frozen=True, slots=True)
class Out:
    """One file that output goes to."""

    word: str
    appends: bool
    is_output: bool
    """Whether it takes the standard output, not only errors."""


@dataclass(slots=True)
class Redirects:
    stdin: Stream | None = None
    outs: list[Out] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    """Words that the grammar takes for more destinations but the shell for arguments."""
    pipeline: list[Node] = field(default_factory=list)
    right: list[Node] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @property
    def hides_output(self) -> bool:
        return any(out.is_output for out in self.outs)

    def settle(self, printed: Stream, scope: Scope, said: str) -> tuple[list[Finding], bool]:
        """What the redirections overwrite, now that it is known what is printed; and whether anything changes."""
        found: list[Finding] = []
        changes = self.stdin is not None and NETWORK in self.stdin.origins
        for out in self.outs:
            socket = _SOCKET.match(out.word)
            if socket:
                found += _to_socket(socket[1], printed, said)
                changes = True
                continue
            place, path = place_of(out.word, scope), scope.path(out.word)
            changes = changes or place is not Place.HARMLESS
            if ENDLESS in printed.origins and out.is_output and place is not Place.HARMLESS:
                found.append(Finding("exhaust", "It writes without end until the disk is full."))
            blank = printed.text is not None and not printed.text.strip()
            empties = blank and out.is_output and not out.appends
            itself = not out.appends and _RAW_READERS.match(said) is not None and out.word in said.split()
            if re.search(rf"git\s+(show|cat-file)\s.*:\S*{re.escape(out.word)}$", said):
                found.append(Finding("git-discard", f"It overwrites {shown(out.word)} with its committed version."))
            found += writes(out.word, scope, empties=empties or itself, appends=out.appends)
            if path is not None and out.is_output and place is not Place.HARMLESS:
                before = scope.written.get(path)
                scope.written[path] = merged(before, printed) if out.appends and before else printed
        return found, changes


def _to_socket(host: str, printed: Stream, said: str) -> list[Finding]:
    if _SHELLS.search(said):
        return [Finding("reverse-shell", "It gives a shell to another host.")]
    if is_here(host):
        return []
    origins = set(printed.origins) | set(holes(printed.text or ""))
    return list(sent(origins, "local files or findings", shown(host)))


def gather(nodes: Iterable[Node], here: Expander, scope: Scope) -> Redirects:
    """The redirections of one statement."""
    found = Redirects()
    for node in nodes:
        match node.type:
            case "file_redirect":
                _file(node, here, scope, found)
            case "herestring_redirect":
                content = "".join(
                    here.value(child, scope) for child in node.named_children if child.type != "file_descriptor"
                )
                found.stdin = text(content + "\n")
            case "heredoc_redirect":
                _heredoc(node, here, scope, found)
    return found


def _file(node: Node, here: Expander, scope: Scope, found: Redirects) -> None:
    operator = next((child.type for child in node.children if not child.is_named), ">")
    descriptor = node.child_by_field_name("descriptor")
    number = here.raw(descriptor) if descriptor is not None else ""
    targets = node.children_by_field_name("destination")
    words = [here.words(child, scope) for child in targets]
    first = words[0][0] if words and words[0] else ""
    found.extra += [word for more in words[1:] for word in more]
    if operator in (">&", "<&", ">&-", "<&-") and (re.fullmatch(r"\d+-?|-", first) or not first):
        return
    if operator in ("<", "<>"):
        # What another descriptor reads is the input of nobody yet, but read it is.
        opened = found if number in ("", "0", "<") else Redirects()
        _input(first, scope, opened)
        found.findings += opened.findings if opened is not found else []
    if operator in ("<", "<&", "<&-"):
        return
    if first:
        is_output = number in ("", "1") or operator.startswith("&")
        found.outs.append(Out(first, operator.endswith(">>") or operator == "<>", is_output))


def _input(word: str, scope: Scope, found: Redirects) -> None:
    path = scope.path(word)
    if path is not None and path in scope.written:
        found.stdin = scope.written[path]
    elif _SOCKET.match(word):
        found.stdin = Stream(None, (), frozenset({NETWORK}))
    elif path is not None and (is_secret(path) or PROCESS_MEMORY.search(path)):
        found.findings += secret_file(word, scope)
        found.stdin = Stream(None, (), frozenset({SECRET}))
    elif path == "/dev/null":
        found.stdin = text("")
    else:
        found.stdin = Stream(None, (), frozenset({FILE}), file=word)


def _heredoc(node: Node, here: Expander, scope: Scope, found: Redirects) -> None:
    quoted = False
    for child in node.named_children:
        if child.type == "heredoc_start":
            quoted = bool(re.search(r"['\"\\]", here.raw(child)))
        elif child.type == "heredoc_body":
            if quoted:
                content = here.raw(child)
            else:
                content = unshield(here.span(child, child.start_byte, child.end_byte, scope, quoted=True))
            found.stdin = text(content)
        elif child.type == "file_redirect":
            _file(child, here, scope, found)
        elif child.type == "herestring_redirect":
            found.stdin = text("".join(here.value(part, scope) for part in child.named_children) + "\n")
        elif child.type == "pipeline":
            found.pipeline.append(child)
        elif child.type not in ("heredoc_end", "file_descriptor", "comment"):
            fields = [node.field_name_for_child(place) for place, one in enumerate(node.children) if one == child]
            if "argument" in fields or child.type in _WORDS:
                found.extra += here.words(child, scope)
            else:
                found.right.append(child)
