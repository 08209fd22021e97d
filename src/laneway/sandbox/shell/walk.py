"""Walking a command as the shell would run it: statements in order, pipes joined, both ways of every branch."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from tree_sitter import Node

from laneway.sandbox.shell.bounds import DEEPEST, MOST_EXPANDED, MOST_STEPS, TooMuch
from laneway.sandbox.shell.expand import Expander
from laneway.sandbox.shell.grammar import read, review
from laneway.sandbox.shell.holes import has_hole, holes, without_holes
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.loops import endless_findings, rounds
from laneway.sandbox.shell.redirects import Redirects, gather
from laneway.sandbox.shell.rules import Finding
from laneway.sandbox.shell.scope import Scope
from laneway.sandbox.shell.steering import may_compute_code
from laneway.sandbox.shell.streams import NOTHING, UNKNOWN, Stream, merged, text

Invoke = Callable[["Walk", Invocation], Stream]
_LONGEST_ERROR = 300
"""Characters of a text that does not parse and may still be plainly harmless."""
_BODIES = {
    "program", "compound_statement", "do_group", "list", "else_clause", "elif_clause", "if_statement", "ERROR",
    "negated_command", "then_clause", "case_item",
}  # fmt: skip
_STATEMENTS = _BODIES | {
    "command", "pipeline", "redirected_statement", "subshell", "variable_assignment", "variable_assignments",
    "declaration_command", "function_definition", "for_statement", "while_statement", "c_style_for_statement",
    "case_statement", "test_command", "unset_command",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Frame:
    """What a statement runs in: whose text it is, the shell's state, its input, and whether somebody reads on."""

    here: Expander
    scope: Scope
    stdin: Stream = NOTHING
    piped: bool = False

    def subshell(self) -> Frame:
        """The same in a shell of its own."""
        return replace(self, scope=self.scope.copy())


class Walk:
    """One judgement: what was found so far, and how much of the text was read."""

    def __init__(self, invoke: Invoke, risky: Callable[[str], bool]) -> None:
        self.findings: list[Finding] = []
        self.changes = False
        self.traps: list[tuple[str, Scope]] = []
        """What is to run when the shell ends, and the shell it would run in."""
        self._invoke = invoke
        self._risky = risky
        self._depth = self._steps = self._expanded = self._nested = 0

    def found(self, findings: Iterable[Finding]) -> None:
        self.findings.extend(findings)

    def shell(self, source: str, scope: Scope, stdin: Stream = NOTHING, *, piped: bool = False) -> Stream:
        """Shell text is walked in a scope; what it prints comes back."""
        bare = source.strip()
        if not bare:
            return text("")
        if not without_holes(bare).strip():
            self.found([_opaque(bare)])
            self.changes = True
            return Stream(None)
        if self._depth >= DEEPEST:
            raise TooMuch
        self._depth += 1
        self.changes = self.changes or may_compute_code(source)
        root, encoded = read(source)
        frame = Frame(Expander(encoded, self._substitute, self._spend), scope, stdin, piped)
        before = len(self.findings)
        printed = self.statement(root, frame)
        again = review(root, encoded)
        for node in again.substitutions:
            if node.start_byte not in frame.here.visited:
                self._substitute(node, scope.copy(), frame.here)
        harmless = len(source) <= _LONGEST_ERROR and not self._risky(source)
        self.changes = self.changes or root.has_error or again.lost
        if (root.has_error or again.lost) and len(self.findings) == before and not harmless:
            self.found([Finding("unparsed", "The text is not understood as shell, and may do harm.")])
        self._depth -= 1
        return printed

    def ended(self) -> None:
        """What was left to run at the end is walked, with the variables as they are then."""
        for place in range(20):
            if place < len(self.traps):
                source, scope = self.traps[place]
                self.shell(source, scope.copy())
        if len(self.traps) > 20:
            raise TooMuch

    def run(
        self, argv: list[str], scope: Scope, stdin: Stream = NOTHING, *, piped: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> Stream:  # fmt: skip
        """One command line, already in words, is judged; what it prints comes back."""
        self._step()
        if not argv:
            return text("")
        self._nested += 1
        if self._nested > DEEPEST:
            raise TooMuch
        printed = self._invoke(self, Invocation(argv[0], argv[1:], scope, stdin, piped, environment or {}))
        self._nested -= 1
        return printed

    def _spend(self, characters: int) -> None:
        self._expanded += characters
        if self._expanded > MOST_EXPANDED:
            raise TooMuch

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise TooMuch

    def _substitute(self, node: Node, scope: Scope, here: Expander) -> Stream:
        """What the statements inside `$(…)`, backticks or `<(…)` print."""
        here.visited.add(node.start_byte)
        fed = node.type == "process_substitution" and here.raw(node).startswith(">")
        frame = Frame(here, scope.copy(), UNKNOWN if fed else NOTHING, piped=True)
        printed: Stream = text("")
        for child in node.named_children:
            if child.type == "file_redirect":
                printed = merged(printed, gather([child], here, scope).stdin or NOTHING)
            else:
                printed = merged(printed, self.statement(child, frame))
        return printed

    def statement(self, node: Node, frame: Frame) -> Stream:
        """What one statement prints, its findings collected."""
        self._step()
        self._depth += 1
        if self._depth > 5 * DEEPEST:
            raise TooMuch
        printed = self._statement(node, frame)
        self._depth -= 1
        return printed

    def _statement(self, node: Node, frame: Frame) -> Stream:
        match node.type:
            case "command":
                return self._command(node, frame, [])
            case "pipeline":
                return self._pipeline(node.named_children, frame)
            case "redirected_statement":
                return self._redirected(node, frame)
            case "subshell":
                return self._body(node.named_children, frame.subshell())
            case "variable_assignment":
                self._assign(node, frame)
            case "variable_assignments" | "declaration_command" | "unset_command":
                return self._declare(node, frame)
            case "function_definition":
                self._define(node, frame)
            case "for_statement":
                return self._for(node, frame)
            case "while_statement" | "c_style_for_statement":
                self.found(endless_findings(frame.here.raw(node)))
                return self._body(node.named_children, frame)
            case "case_statement":
                return self._body([child for child in node.named_children if child.type == "case_item"], frame)
            case kind if kind in _BODIES:
                return self._body(node.named_children, frame)
        return text("")

    def _body(self, nodes: Iterable[Node], frame: Frame) -> Stream:
        printed: Stream = text("")
        for child in nodes:
            if child.type in _STATEMENTS:
                printed = merged(printed, self.statement(child, frame))
        return printed

    def _pipeline(self, nodes: list[Node], frame: Frame) -> Stream:
        flowing = frame.stdin
        for place, child in enumerate(nodes):
            onward = frame.piped or place < len(nodes) - 1
            flowing = self.statement(child, replace(frame.subshell(), stdin=flowing, piped=onward))
        return flowing

    def _redirected(self, node: Node, frame: Frame) -> Stream:
        body = node.child_by_field_name("body")
        while body is not None and body.type == "list":
            # The grammar hangs a redirection on the whole list, the shell on its last command.
            *earlier, body = body.named_children
            self._body(earlier, frame)
        redirects = gather(
            [child for child in node.named_children if "redirect" in child.type], frame.here, frame.scope
        )
        redirects.extra += frame.here.between(node, body)
        self.found(redirects.findings)
        onward = frame.piped or bool(redirects.pipeline) or redirects.hides_output
        printed = self._redirected_body(
            body, replace(frame, stdin=redirects.stdin or frame.stdin, piped=onward), redirects
        )
        printed = self._into_files(redirects, printed, frame, body)
        for following in redirects.pipeline:
            printed = self._pipeline(following.named_children, replace(frame, stdin=printed))
        for following in redirects.right:
            printed = merged(printed, self.statement(following, frame))
        return printed

    def _redirected_body(self, body: Node | None, frame: Frame, redirects: Redirects) -> Stream:
        if body is None:
            return frame.stdin if frame.stdin.given else text("")
        if body.type == "command":
            return self._command(body, frame, redirects.extra)
        if body.type == "pipeline" and redirects.stdin is not None:
            # A here-document or a file at the end of a pipeline feeds its last command.
            self._pipeline(body.named_children, replace(frame, stdin=NOTHING))
            return self.statement(body.named_children[-1], frame.subshell())
        return self.statement(body, frame)

    def _into_files(self, redirects: Redirects, printed: Stream, frame: Frame, body: Node | None) -> Stream:
        said = frame.here.raw(body) if body is not None else ""
        findings, changes = redirects.settle(printed, frame.scope, said)
        self.found(findings)
        self.changes = self.changes or changes
        return text("") if redirects.hides_output else printed

    def _command(self, node: Node, frame: Frame, extra: list[str]) -> Stream:
        argv: list[str] = []
        environment: dict[str, str] = {}
        inner = [child for child in node.named_children if child.type.endswith("_redirect")]
        for child in node.children:
            if child.type == "variable_assignment":
                name, value = self._assigned(child, frame)
                environment[name] = " ".join(value)
            elif not child.type.endswith("_redirect") and child.type != "comment":
                argv += frame.here.words(child, frame.scope)
        redirects = gather(inner, frame.here, frame.scope)
        self.found(redirects.findings)
        onward = frame.piped or redirects.hides_output
        inside = replace(frame, stdin=redirects.stdin or frame.stdin, piped=onward)
        printed = self._named([*argv, *redirects.extra, *extra], inside, environment)
        return self._into_files(redirects, printed, frame, node) if inner else printed

    def _named(self, argv: list[str], frame: Frame, environment: dict[str, str]) -> Stream:
        if argv and has_hole(argv[0]) and not without_holes(argv[0]).strip("/"):
            self.found([_opaque(argv[0])])
            self.changes = True
            return Stream(None, (), frame.stdin.origins)
        return self.run(argv, frame.scope, frame.stdin, piped=frame.piped, environment=environment)

    def _assigned(self, node: Node, frame: Frame) -> tuple[str, list[str]]:
        here, scope = frame.here, frame.scope
        name_node, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        name = re.sub(r"\[.*", "", here.raw(name_node)) if name_node else ""
        if value is not None and value.type == "array":
            return name, [word for child in value.named_children for word in here.words(child, scope)]
        given = here.value(value, scope)
        adds = b"+=" in here.source[node.start_byte : (value.start_byte if value else node.end_byte)]
        return name, [(scope.variables.get(name) or [""])[0] + given if adds else given]

    def _assign(self, node: Node, frame: Frame) -> str:
        name, value = self._assigned(node, frame)
        frame.scope.variables[name] = value
        return f"{name}={' '.join(value)}"

    def _declare(self, node: Node, frame: Frame) -> Stream:
        words = [frame.here.raw(node).split(None, 1)[0]]
        for child in node.named_children:
            if child.type == "variable_assignment":
                words.append(self._assign(child, frame))
            else:
                words += frame.here.words(child, frame.scope)
        if node.type != "variable_assignments":
            return self.run(words, frame.scope, piped=frame.piped)
        return text("")

    def _define(self, node: Node, frame: Frame) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            frame.scope.functions[frame.here.raw(name)] = (body, frame.here.source)

    def call(self, run: Invocation) -> Stream:
        """A function defined in this command is called."""
        name, scope = run.program, run.scope
        body, source = scope.functions[name]
        said = source[body.start_byte : body.end_byte]
        if name in scope.calling:
            if b"|" in said or b"&" in said:
                self.found([Finding("exhaust", f"{name} starts itself over and over.")])
            return Stream(None)
        outer, calling = scope.positional, scope.calling
        scope.positional, scope.calling = run.args, (*calling, name)
        here = Expander(source, self._substitute, self._spend)
        printed = self.statement(body, Frame(here, scope, run.stdin, run.piped))
        scope.positional, scope.calling = outer, calling
        return printed

    def _for(self, node: Node, frame: Frame) -> Stream:
        variable, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        if variable is None or body is None:
            return text("")
        given = node.children_by_field_name("value")
        values = [word for child in given for word in frame.here.words(child, frame.scope)]
        printed: Stream = text("")
        for value in rounds(values if given else [*(frame.scope.positional or [])]):
            frame.scope.variables[frame.here.raw(variable)] = [value]
            printed = merged(printed, self.statement(body, frame))
        return printed


def _opaque(word: str) -> Finding:
    labels = set(holes(word))
    if "net" in labels:
        return Finding("network-code", "It runs code that comes from the network.")
    if labels & {"decoded", "secret", "file"}:
        return Finding("opaque-code", "It runs code that the text does not show.")
    return Finding("unknown-program", "It runs something whose name the text does not tell.")
